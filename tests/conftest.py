"""What all tests share: the same cases in the same order each time, new ones on demand, and a quick check."""

import atexit
import contextlib
import gc
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

import repeated_bits
from memory_disk import in_memory

# Workers share the processors: threads of their own would spin while they wait for a turn.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

ROOT = Path(__file__).parents[1]
ORDER = 2009
"""The seed of the order of the tests, and of what they draw from numpy without a seed of their own."""

PAGE = "tests/docs/test_pages.py::test_the_code_of_a_page_does_what_the_page_shows"
TUTORIALS = sorted(page.name for page in (ROOT / "docs/tutorial").glob("*.md"))
QUICK = [
    f"{PAGE}[README.md]", *(f"{PAGE}[docs/tutorial/{name}]" for name in TUTORIALS), "src/utmost",
    "tests/docs/test_readme.py", "tests/release/test_table.py", "tests/sampling", "tests/test_import.py",
]  # fmt: skip
"""What `pytest --quick` runs: every public function once, by its own example; the draws; and the README as written."""

DEPENDENCIES = [
    f"{PAGE}[README.md]", "tests/test_import.py", "tests/programs", "tests/geometry/test_kernels.py",
    "tests/figures/test_plots.py", "tests/ledger/test_key.py", "tests/ledger/test_many_writers.py",
    "tests/ledger/test_opening.py", "tests/ledger/test_postgres_store.py", "tests/tables/test_dataframes.py",
    "tests/tables/test_engine_ledger.py", "tests/tables/test_engines.py", "tests/tables/test_kinds.py",
    "tests/tables/test_one_table_by_every_door.py", "tests/tables/test_parquet.py", "tests/tables/test_spreadsheets.py",
    "tests/service/test_http.py", "tests/service/test_pages.py", "tests/service/test_work_is_bounded.py",
    "tests/service/test_workers_channel.py", "tests/cli/test_cli.py", "tests/cli/test_doctor_command.py",
    "tests/cli/test_noisy_libraries.py",
]  # fmt: skip
"""What `pytest --dependencies` runs, since versions of libraries break it: solver, numba, pictures, stores,
tables and engines, the service and its workers, and every command once."""

# A busy machine is no failure of a theorem, and ten cases of each keep the suite quick: of the faults drawn for it
# none was found by the next five or fifteen alone. They are the same for everybody, so
# that the suite passes for everybody or for nobody; `pytest --explore` tries others, and more of them.
_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeated", **_PATIENT, max_examples=10, derandomize=True)
settings.register_profile("exploring", **_PATIENT, max_examples=400, derandomize=False, print_blob=True)

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MEANWHILE = re.compile(r'^(\{"note": ")?(Compiling this search|Designing: round).*\n', re.M)
"""What is said where machine code is made first, or where ten seconds pass: chance, on a machine that others use."""


def pytest_addoption(parser):
    group = parser.getgroup("utmost")
    group.addoption("--explore", action="store_true", help="new cases of every property, in a new order")
    group.addoption("--bits", help="the seed of all random bits that tests draw, or: system")
    group.addoption("--quick", action="store_true", help="check an installation in half a minute")
    group.addoption("--dependencies", action="store_true", help="check what touches dependencies, in some minutes")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    if config.getoption("--quick") and config.getoption("numprocesses", None) == "auto":
        config.option.numprocesses = 0  # what is quick is over before workers have started


@pytest.hookimpl(tryfirst=True)  # before pytest-randomly reads its seed
def pytest_configure(config):
    if "not slow" in config.getoption("markexpr", ""):  # long proofs may write more than a memory holds
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(in_memory()))
    exploring = config.getoption("--explore")
    settings.load_profile("exploring" if exploring else "repeated")
    if not exploring and config.getoption("randomly_seed", None) == "default":
        config.option.randomly_seed = ORDER
    if config.getoption("--bits") is None:
        config.option.bits = str(int.from_bytes(os.urandom(4)) if exploring else ORDER)
    repeated_bits.install()
    for option, paths in (("--quick", QUICK), ("--dependencies", DEPENDENCIES)):
        if config.getoption(option) and config.args_source is not config.ArgsSource.ARGS:
            config.args[:] = [str(ROOT / path) for path in paths]


def pytest_report_header(config):
    """What draws are repeated by."""
    return f"random bits: --bits {config.getoption('--bits')}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """The random bits of a test are its own, the same in every run, worker and order."""
    with repeated_bits.repeated_bits(item.config.getoption("--bits"), item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    """So are those of what several tests share, whichever of them comes first."""
    if fixturedef.scope == "function":
        return (yield)
    name = f"{fixturedef.baseid} {fixturedef.argname} {getattr(request, 'param', None)!r}"
    with repeated_bits.repeated_bits(request.config.getoption("--bits"), name):
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def documents_fit_their_schemas():
    """A field that a document has and its schema does not have fails the test that wrote it."""
    import schemas_of_documents  # not before a test runs: collecting needs no schema

    with pytest.MonkeyPatch.context() as patch:
        schemas_of_documents.guard(patch)
        yield


@pytest.hookimpl(tryfirst=True)  # before workers are started
def pytest_sessionstart(session):
    config = session.config
    if sys.dont_write_bytecode and "PYTHONPYCACHEPREFIX" not in os.environ:
        compile_once(config)
    if config.args == config.getini("testpaths") and config.getoption("numprocesses", None):
        search_once(config)


_SEARCHES = """
import utmost as ut
from utmost.design.geometry import kernel_walk
from utmost.geometry import vertices
three, places = ut.PrivacyType(ut.spaces.counts(3), alpha="1/2"), ut.spaces.grid(7, 8)
listed = vertices(three)
kernel_walk.count_by_walk(listed), list(kernel_walk.walk_kernels(listed))
reader = ut.Consumer(ut.priors.uniform(56), ut.losses.distance(places))
ut.optimal_mechanism(ut.PrivacyType(places, epsilon=1), reader)
"""


def search_once(config):
    """Where no machine code is kept, it is made while workers collect: ten seconds that each of them took."""
    if next((ROOT / "src").rglob("*.nbi"), None) is None:
        command, paths = [sys.executable, "-c", _SEARCHES], {"PYTHONPATH": str(ROOT / "src")}
        helper = subprocess.Popen(command, env=os.environ | paths, stderr=subprocess.DEVNULL)
        config.add_cleanup(helper.wait)


def compile_once(config):
    """Where no bytecode may be written into the tree, workers and what they start share a folder that pytest keeps.

    A second run compiles nothing: a third of the time of collecting. The folder is of one environment, the last.
    """
    folder, undo = kept_folder(config)
    kept = os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = folder
    before, sys.dont_write_bytecode, sys.pycache_prefix = sys.pycache_prefix, False, folder

    def as_before():
        sys.dont_write_bytecode, sys.pycache_prefix = True, before
        del os.environ["PYTHONPYCACHEPREFIX"]
        if kept is not None:
            os.environ["PYTHONDONTWRITEBYTECODE"] = kept
        undo()

    config.add_cleanup(as_before)


def kept_folder(config):
    """A folder for bytecode, and what to do with it in the end: pytest's own, or where it keeps none, one to remove."""
    if getattr(config, "cache", None) is not None:
        with contextlib.suppress(OSError):
            folder = Path(config.cache.mkdir("bytecode"))
            told = folder / "environment"
            if not told.exists() or told.read_text(encoding="utf-8") != sys.prefix:
                shutil.rmtree(folder)
                folder.mkdir()
                told.write_text(sys.prefix, encoding="utf-8")
            return str(folder), lambda: None
    with contextlib.suppress(OSError, AttributeError):
        return str(own_folder()), lambda: None
    folder = tempfile.mkdtemp(prefix="utmost-bytecode-")
    return folder, lambda: shutil.rmtree(folder, ignore_errors=True)


def own_folder():
    """Where pytest keeps nothing: a folder of this user's and this environment's among the temporary ones.

    To rewrite the asserts of all tests takes as long as a tenth of the tests; it is done once, as with pytest's cache.

    Raises:
        OSError: where it is another's, or others may write into it.
        AttributeError: on a system without owners.
    """
    name = hashlib.sha256(f"{sys.prefix} {sys.version} {pytest.__version__}".encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"utmost-bytecode-{os.getuid()}-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(folder)
    return folder


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
    from running import main

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
