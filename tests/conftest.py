"""What all tests share: the same cases in the same order each time, new ones on demand, and a quick check."""

import atexit
import gc
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

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
_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeated", **_PATIENT, max_examples=40, derandomize=True)
settings.register_profile("exploring", **_PATIENT, max_examples=400, derandomize=False, print_blob=True)

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MEANWHILE = re.compile(r"^(Compiling this search|Designing: round).*\n", re.M)
"""What is said where machine code is made first, or where ten seconds pass: chance, on a machine that others use."""


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
    if sys.dont_write_bytecode and "PYTHONPYCACHEPREFIX" not in os.environ:
        compile_once(config)
    if not exploring and config.getoption("randomly_seed", None) == "default":
        config.option.randomly_seed = ORDER
    if config.getoption("--quick") and config.args_source is not config.ArgsSource.ARGS:
        config.args[:] = [str(ROOT / path) for path in QUICK]


def compile_once(config):
    """Where no bytecode may be written into the tree, the processes that tests start have it in a folder of theirs."""
    folder = tempfile.mkdtemp(prefix="utmost-bytecode-")
    kept = os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = folder

    def undo():
        del os.environ["PYTHONPYCACHEPREFIX"]
        if kept is not None:
            os.environ["PYTHONDONTWRITEBYTECODE"] = kept
        shutil.rmtree(folder, ignore_errors=True)

    config.add_cleanup(undo)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Tests show no examples in docstrings: their modules are not searched for any."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Ten thousand tests are collected without looking for garbage among them, then and ever after."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        atexit.register(gc.unfreeze)


def pytest_make_parametrize_id(val):
    """A function's name without its address, which differs from worker to worker."""
    text = repr(val)
    return _ADDRESS.sub("", text) if _ADDRESS.search(text) else None


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process: (exit code, standard output, standard error but for `_MEANWHILE`)."""
    from utmost.cli.main import main

    monkeypatch.setenv("COLUMNS", "140")

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, _MEANWHILE.sub("", err)

    return call


@pytest.fixture
def file(tmp_path):
    """Write a text file and give its path."""

    def make(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return make
