"""What is shipped says the same everywhere: pyproject.toml, the recipe, the citation, the manual page, the archives."""

import io
import re
import runpy
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from utmost.version import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
archives = runpy.run_path(str(ROOT / ".ci/archives.py"))
manual = runpy.run_path(str(ROOT / ".ci/man_page.py"))


def test_the_citation_has_this_version():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_changelog_begins_with_what_is_unreleased():
    headings = re.findall(r"^## \[?([^\]\s]+)\]?", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert headings[:1] == ["Unreleased"]


def test_the_manual_page_is_the_help_of_the_command_line():
    """Where it is not: run python .ci/man_page.py."""
    assert manual["PAGE"].read_text(encoding="ascii") == manual["page"]()


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_manual_page_is_read_without_a_warning():
    done = subprocess.run(
        ["groff", "-ww", "-man", "-Tascii", str(manual["PAGE"])], capture_output=True, text=True, check=True
    )
    assert not done.stderr
    assert "utmost release" in re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout)


def wheel(folder, names, package_file=True):
    """A wheel with these files of the package."""
    path = folder / "utmost-1-py3-none-any.whl"
    metadata = "".join(
        f"{name}: x\n"
        for name in ("Name", "Version", "Summary", "License-Expression", "Requires-Python", "Description-Content-Type")
    )
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            file.writestr(name, "")
        file.writestr("utmost-1.dist-info/METADATA", metadata)
        file.writestr("utmost-1.dist-info/entry_points.txt", "[console_scripts]\nutmost = utmost.__main__:main\n")
        for name in archives["LICENCES"]:
            file.writestr(f"utmost-1.dist-info/{name}", "")
        file.writestr("utmost-1.data/data/share/man/man1/utmost.1", "")
    return path


@pytest.fixture
def known():
    """Git's list of files; skipped where this is no checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    return archives["tracked"]()


def test_a_wheel_without_a_file_or_with_another_is_found_out(tmp_path, known):
    package = sorted(name.removeprefix("src/") for name in known if name.startswith("src/"))
    assert archives["wheel_faults"](wheel(tmp_path, package)) == []
    less = [name for name in package if name != "utmost/py.typed"]
    assert "missing in the wheel: utmost/py.typed" in archives["wheel_faults"](wheel(tmp_path, less))
    more = [*package, "utmost/secret.key", "tests/test_x.py"]
    assert archives["wheel_faults"](wheel(tmp_path, more)) == [
        "not ours in the wheel: utmost/secret.key",
        "beside the package in the wheel: tests/test_x.py",
    ]


def test_a_source_archive_without_a_file_or_with_another_is_found_out(tmp_path, known):
    wanted = [name for name in known if not name.startswith(archives["CHECKOUT_ONLY"])]
    path = tmp_path / "utmost-1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in [*wanted[1:], "PKG-INFO", "ledger.db"]:
            archive.addfile(tarfile.TarInfo(f"utmost-1/{name}"), io.BytesIO())
    assert archives["source_faults"](path) == [
        f"missing in the source archive: {wanted[0]}",
        "not ours in the source archive: ledger.db",
    ]
