"""`utmost doctor`: check versions, SQLite, randomness, optional packages and key files of this installation."""

import os
import platform
import sqlite3
import stat
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import click

from utmost.core.exact.progress_bar import progress_bar
from utmost.errors import EntropyFailed, OutOfRange
from utmost.interfaces.cli.ledger_place import check_no_password, is_server
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.screen import facts, grid, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.version import __version__

REQUIRED = ("numpy", "cryptography", "python-flint", "highspy", "threadpoolctl", "click")
EXTRAS = {
    "tables": ("narwhals", "pyarrow"),
    "plot": ("matplotlib",),
    "geometry": ("numba",),
    "postgres": ("psycopg",),
    "duckdb": ("duckdb",),
    "spark": ("pyspark",),
    "server": ("fastapi", "uvicorn", "jinja2", "prometheus-client", "pyjwt", "python-multipart", "httpx"),
}
OTHER_PACKAGES = ("pandas", "polars", "geopandas", "h3", "networkx", "scipy", "opendp", "dp-accounting", "qif")

_BLOCKS = 64


def doctor(
    *,
    check: Annotated[bool, flag("Also check the computations, in at most half a minute.")] = False,
    ledger: Annotated[
        str | None, option("PLACE", "Ledger whose file permissions are also checked.", envvar="UTMOST_LEDGER")
    ] = None,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    answer: options.Output,
) -> None:
    """Show the versions and extras of this installation; check them, and the permissions of ledger files.

    utmost doctor --check
    """
    versions: dict[str, str | None] = {"utmost": __version__}
    versions |= {"python": platform.python_version(), "system": platform.platform()}
    versions |= {name: _version(name) for name in REQUIRED}

    major, minor, patch = (int(part) for part in sqlite3.sqlite_version.split(".")[:3])
    affected = has_wal_reset_bug((major, minor, patch))
    note = "ledgers use a rollback journal (journal_mode=DELETE), so SQLite's WAL-reset bug does not concern them"
    if affected:
        note += "; this version of SQLite has the bug, so use WAL mode for no other database either"

    by_extra = {}
    for name, packages in EXTRAS.items():
        versions_there = {package: _version(package) for package in packages}
        missing = [package for package, version in versions_there.items() if version is None]
        by_extra[name] = {"packages": versions_there, "get": f'pip install "utmost[{name}]"' if missing else None}

    report: dict[str, Any] = {
        "versions": versions,
        "sqlite": {"version": sqlite3.sqlite_version, "wal_reset_bug": affected, "note": note},
        "randomness": _randomness(),
        "optional": by_extra,
        "other_packages": {name: _version(name) for name in OTHER_PACKAGES},
        "files": _files(ledger, key_file, witness),
    }
    if check:
        from utmost.interfaces.cli.self_check import self_check

        with progress_bar("Checking"):
            report["check"] = [
                {"name": checked.name, "problem": checked.problem, "seconds": round(checked.seconds, 3)}
                for checked in self_check()
            ]
    report["well"] = (
        all(versions.values())
        and sys.version_info >= (3, 11)
        and report["randomness"]["healthy"]
        and all(not checked["problem"] for checked in report.get("check", ()))
        and all(file["well"] for file in report["files"])
    )

    if answer.give(report):
        console = screen()
        headline = "utmost is installed correctly." if report["well"] else "Something is wrong; see below."
        console.print(ScreenText(headline, style="bold"))
        randomness, others = report["randomness"], report["other_packages"].items()
        rows = {
            "versions": ", ".join(f"{name} {each or 'missing'}" for name, each in versions.items()),
            "SQLite": f"{sqlite3.sqlite_version}; {note}",
            "randomness": f"{'healthy' if randomness['healthy'] else 'FAILED'}: {randomness['note']}",
        }
        rows |= {
            f"utmost[{name}]": "there" if each["get"] is None else f"not installed; install it with {each['get']}"
            for name, each in by_extra.items()
        }
        rows["other packages"] = ", ".join(f"{name} {each}" for name, each in others if each) or "none"
        rows |= {each["what"]: f"{each['path']}, mode {each['mode']}: {each['note']}" for each in report["files"]}
        console.print(facts(rows))
        if check:
            lines = [[each["name"], each["problem"] or "sound", f"{each['seconds']:.2f} s"] for each in report["check"]]
            console.print(grid(["self-check", "", "took"], lines, left=2))
    if not report["well"]:
        raise click.exceptions.Exit(1)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def has_wal_reset_bug(version: tuple[int, int, int]) -> bool:
    """Check whether an SQLite version has the bug that may damage a WAL-mode database with two connections."""
    # Versions 3.7.0 to 3.51.2 have it, except the corrected 3.50.7 and 3.44.6 and their successors
    # (sqlite.org/wal.html).
    mended = version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51, 0) or (3, 44, 6) <= version < (3, 45, 0)
    return version >= (3, 7, 0) and not mended


def _randomness() -> dict[str, Any]:
    """Check that the system's random bits are balanced and do not repeat; no check shows that they are secret."""
    from utmost.core.sampling.random_bits import SystemRandomness, entropy

    begun = monotonic()
    try:
        blocks = {entropy(32) for _ in range(_BLOCKS)}
        ones = sum(int(word).bit_count() for word in SystemRandomness().words(1 << 14, 64))
    except EntropyFailed as error:
        return {"healthy": False, "note": str(error), "seconds": monotonic() - begun}
    count = 64 << 14
    even = abs(ones - count // 2) < 7 * count**0.5 / 2  # false alarm once in 10^11 runs
    healthy = len(blocks) == _BLOCKS and even
    note = f"{_BLOCKS} blocks differ; {100 * ones / count:.3f} % of {count:,} bits are ones"
    return {"healthy": healthy, "note": note, "seconds": monotonic() - begun}


def _files(ledger: str | None, key_file: Path | None, witness: Path | None) -> list[dict[str, Any]]:
    """Return the files that only their owner must be able to read, with their modes; do not read their contents."""
    key = key_file or (Path(os.environ["UTMOST_LEDGER_KEY_FILE"]) if "UTMOST_LEDGER_KEY_FILE" in os.environ else None)
    named: dict[str, Path] = {}
    if ledger is not None:
        check_no_password(ledger)
        if not is_server(ledger):
            ledger_path = Path(ledger.removeprefix("sqlite:///"))
            if not ledger_path.name:
                raise OutOfRange(
                    "--ledger must name a file",
                    came=str(ledger_path),
                    remedy="Write, for example, --ledger releases.db.",
                )
            named = {"ledger": ledger_path, "witness": ledger_path.with_name(f"{ledger_path.name}.witness")}
            key = key or ledger_path.with_name(f"{ledger_path.name}.key")
    if witness is not None:
        named["witness"] = witness
    if key is not None:
        named["key"] = key
    found: list[dict[str, Any]] = []
    for what, path in named.items():
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError as error:
            note = str(error.strerror)
            found.append({"what": what, "path": str(path), "mode": None, "well": what == "witness", "note": note})
            continue
        private = os.name != "posix" or not mode & 0o077
        note = "only its owner may read it" if private else f"others may read it: run chmod 600 {path}"
        found.append({"what": what, "path": str(path), "mode": f"{mode:04o}", "well": private, "note": note})
    return found
