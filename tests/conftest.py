"""What all tests share: the same cases in the same order each time, new ones on demand, and a quick check."""

import re
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]
ORDER = 2009
"""The seed of the order of the tests, and of what they draw from numpy without a seed of their own."""

QUICK = [
    "README.md",
    "docs/tutorial",
    "src/utmost",
    "tests/docs/test_readme.py",
    "tests/release/test_table.py",
    "tests/sampling",
    "tests/test_import.py",
]
"""What `pytest --quick` runs: every public function once, by its own example; the draws; and the README as written."""

# A busy machine is no failure of a theorem, and forty cases of each keep the suite quick. They are the same for
# everybody, so that the suite passes for everybody or for nobody; `pytest --explore` tries others, and more of them.
settings.register_profile("repeated", deadline=None, max_examples=40, derandomize=True)
settings.register_profile("exploring", deadline=None, max_examples=400, derandomize=False, print_blob=True)

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def pytest_addoption(parser):
    group = parser.getgroup("utmost")
    group.addoption("--explore", action="store_true", help="new cases of every property, in a new order")
    group.addoption("--quick", action="store_true", help="check an installation in half a minute")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    if config.getoption("--quick") and config.getoption("numprocesses", None) == "auto":
        config.option.numprocesses = 0  # what is quick is over before workers have started


@pytest.hookimpl(tryfirst=True)  # before pytest-randomly reads its seed
def pytest_configure(config):
    exploring = config.getoption("--explore")
    settings.load_profile("exploring" if exploring else "repeated")
    if not exploring and config.getoption("randomly_seed", None) == "default":
        config.option.randomly_seed = ORDER
    if config.getoption("--quick") and config.args_source is not config.ArgsSource.ARGS:
        config.args[:] = [str(ROOT / path) for path in QUICK]


def pytest_make_parametrize_id(val):
    """A function's name without its address, which differs from worker to worker."""
    text = repr(val)
    return _ADDRESS.sub("", text) if _ADDRESS.search(text) else None


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process: (exit code, standard output, standard error)."""
    from utmost.cli.main import main

    monkeypatch.setenv("COLUMNS", "140")

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return call


@pytest.fixture
def file(tmp_path):
    """Write a text file and give its path."""

    def make(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return make
