"""What an installed utmost must do with one extra and no other: `.ci/extras` runs this in a fresh environment.

python .ci/each_extra.py core|geometry|tables|duckdb|spark|plot|excel|postgres|server|all|test
"""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

MODULES = {
    "geometry": ("numba",),
    "tables": ("narwhals", "pyarrow"),
    "duckdb": ("duckdb", "narwhals", "pyarrow"),
    "spark": ("pyspark", "narwhals", "pyarrow", "pandas"),
    "plot": ("matplotlib",),
    "excel": ("xlsxwriter", "openpyxl"),
    "postgres": ("psycopg",),
    "server": ("fastapi", "uvicorn", "jinja2", "jwt", "multipart", "prometheus_client", "httpx"),
}
GROUPS = {"all": set(MODULES) - {"spark"}, "test": set(MODULES) - {"spark"}}
"""Extras that are several in one, as pyproject.toml has them."""
PROMISE = ["--columns", "n", "--public", "town", "--sensitivity", "1", "--cells", "1", "--epsilon", "1"]


def command(*words: str, code: int = 0) -> str:
    """What the installed command says, which has to end with this exit code."""
    done = subprocess.run(["utmost", *words], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout + done.stderr


def core() -> None:
    """A release, its check, a ledger, a design and its check, a capacity, vertices, a verdict: in the core alone."""
    import utmost

    assert Path(utmost.__file__).is_relative_to(sys.prefix), "not the installed one"
    assert utmost.__version__ in command("--version")
    Path("t.csv").write_text("town,n\nAsh,12\nElm,7\nOak,31\n", encoding="utf-8")
    command("release", "t.csv", *PROMISE, "--out", "o.csv")
    assert json.loads(Path("o.csv.json").read_text(encoding="utf-8"))["utmost"] == utmost.__version__
    command("verify", "o.csv")
    kept = ["--ledger", "l.db", "--name", "towns", "--dataset", "d"]
    command("ledger", "create", "l.db")
    command("release", "t.csv", *PROMISE, *kept, "--out", "k.csv")
    command("ledger", "verify", "--ledger", "l.db")
    command(
        "design",
        "--space",
        "counts:5",
        "--epsilon",
        "alpha=1/2",
        "--prior",
        "uniform",
        "--loss",
        "absolute",
        "--out",
        "d.json",
    )
    command("design", "--check", "d.json")
    assert "64/27" in command("research", "capacity", "--space", "hamming:3", "--epsilon", "alpha=1/2")
    assert command("research", "vertices", "--space", "line:3", "--epsilon", "alpha=1/2", "--count").strip() == "4"
    assert "1/24" in command(
        "research", "universal", "--space", "discrete:3", "--loss", "binary", "--epsilon", "alpha=1/2"
    )
    assert next(Path(sys.prefix).glob("share/man/man1/utmost.1")).read_text(encoding="ascii").startswith(".TH UTMOST 1")


def geometry() -> None:
    """The compiled walk counts the kernels of a line."""
    import utmost as ut

    assert ut.design.geometry.kernel_search.count_kernels(ut.PrivacyType(ut.spaces.counts(4), alpha="1/2")) == 187


def tables() -> None:
    """Parquet in, Parquet out."""
    from pyarrow import csv, parquet

    parquet.write_table(csv.read_csv("t.csv"), "t.parquet")
    command("release", "t.parquet", *PROMISE, "--out", "o.parquet")
    assert parquet.read_table("o.parquet").num_rows == 3


def duckdb() -> None:
    """A relation is released where it is, and comes back as a relation."""
    import duckdb as engine

    import utmost as ut

    rows = engine.connect().sql("SELECT * FROM (VALUES ('Ash', 12), ('Elm', 7)) t(town, n)")
    said = {"columns": "n", "public": "town", "id_column": "town", "unit": ut.Unit(1, 1)}
    released = ut.release(rows, ut.Promise(**said), epsilon=1, once=True).table
    assert released.columns == ["town", "n", "n_margin"], released.columns
    assert len(released.fetchall()) == 2


def spark() -> None:
    """The engine is there, and is taken for one (Java is the user's own, and none is started here)."""
    import pyspark.sql

    assert tuple(map(int, pyspark.__version__.split(".")[:2])) >= (3, 5)
    assert pyspark.sql.DataFrame


def plot() -> None:
    """A picture."""
    command("research", "compare", "--plot", "c.svg")
    assert "<svg" in Path("c.svg").read_text(encoding="utf-8")


def excel() -> None:
    """A release as a workbook, and its check."""
    Path("e.csv").write_text("town,n\nAsh,12\nElm,7\n", encoding="utf-8")
    command("release", "e.csv", *PROMISE, "--out", "e.xlsx")
    command("verify", "e.xlsx")


def postgres() -> None:
    """The driver is found: a server that is not there is an error of ours, which says so."""
    from utmost.errors import UtmostError
    from utmost.ledger import Ledger

    said = ""
    try:
        Ledger.open("postgresql://127.0.0.1:1/none", timeout=1)
    except UtmostError as error:
        said = str(error)
    assert "reachable" in said, said


def server() -> None:
    """The service is importable, and says how it is started."""
    from utmost import service

    assert all(getattr(service, name) for name in service.__all__)
    assert "--help" in command("serve", "--help")


def main() -> None:
    """Do what the extra is for; see that the others' libraries are not needed."""
    extra = sys.argv[1]
    wanted = GROUPS.get(extra, {extra} & set(MODULES))
    assert extra == "core" or wanted, f"say here what the extra {extra!r} has to do"
    core()
    for name in sorted(wanted):
        globals()[name]()
    absent = [name for name, modules in MODULES.items() if name not in wanted and not all(map(find_spec, modules))]
    missing = [name for name in wanted if not all(map(find_spec, MODULES[name]))]
    assert not missing, missing
    sys.stdout.write(f"{extra}: does what it is for; not installed: {', '.join(absent) or 'none'}\n")


if __name__ == "__main__":
    main()
