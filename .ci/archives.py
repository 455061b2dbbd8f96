"""Check a wheel and a source archive: nothing missing, nothing beside, metadata that a registry shows.

python .ci/archives.py dist/

The wheel holds every file of src/utmost that git knows and no other, licence, entry point and manual page; the source
archive every file of the repository but those that only a checkout needs.
"""

import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHECKOUT_ONLY = (".github/", ".gitignore")
NEEDED = ("utmost/py.typed", "utmost/__init__.py")
MAN = "data/share/man/man1/utmost.1"
LICENCES = ("licenses/LICENSE", "licenses/src/utmost/interfaces/service/static/htmx.LICENSE.txt")


def tracked() -> set[str]:
    """The files that git knows and that are there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


def wheel_faults(path: Path) -> list[str]:
    """What is wrong with a wheel."""
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        beside = {name.partition("/")[2] for name in names if ".dist-info/" in name or ".data/" in name}
        metadata = message_from_bytes(wheel.read(next(name for name in names if name.endswith("/METADATA"))))
        (entry,) = (wheel.read(name).decode() for name in names if name.endswith("/entry_points.txt"))
    package = {name for name in names if name.startswith("utmost/")}
    wanted = {name.removeprefix("src/") for name in tracked() if name.startswith("src/")}
    found = [f"missing in the wheel: {name}" for name in sorted(wanted - package)]
    found += [f"not ours in the wheel: {name}" for name in sorted(package - wanted)]
    strangers = {name for name in names - package if ".dist-info/" not in name and not name.endswith(MAN)}
    found += [f"beside the package in the wheel: {name}" for name in sorted(strangers)]
    found += [f"missing in the wheel: {name}" for name in NEEDED if name not in names]
    found += [f"missing in the wheel: {name}" for name in (*LICENCES, MAN) if name not in beside]
    found += [] if "utmost = utmost.__main__:main" in entry else ["the wheel has no command utmost"]
    return found + metadata_faults(metadata)


def metadata_faults(metadata: object) -> list[str]:
    """What a registry would miss."""
    fields = ("Name", "Version", "Summary", "License-Expression", "Requires-Python", "Description-Content-Type")
    return [f"the metadata have no {field}" for field in fields if not metadata[field]]  # type: ignore[index]


def source_faults(path: Path) -> list[str]:
    """What is wrong with a source archive."""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames() if "/" in name}
        files = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    wanted = {name for name in tracked() if not name.startswith(CHECKOUT_ONLY)}
    found = [f"missing in the source archive: {name}" for name in sorted(wanted - names)]
    beside = files - wanted - {"PKG-INFO", ".gitignore"}
    return found + [f"not ours in the source archive: {name}" for name in sorted(beside)]


def main() -> int:
    """Say what is wrong; 1 if anything is."""
    folder = Path(sys.argv[1])
    (wheel,), (source,) = (list(folder.glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    found = wheel_faults(wheel) + source_faults(source)
    sys.stdout.write("".join(f"{fault}\n" for fault in found) or f"{wheel.name} and {source.name}: complete\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
