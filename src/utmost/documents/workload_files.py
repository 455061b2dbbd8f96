"""Workload releases as JSON files."""

from pathlib import Path

from utmost.documents import codec
from utmost.errors import BadTable
from utmost.release import WorkloadRelease
from utmost.tables.atomic import check_absent, write_together


def write_workload(release: WorkloadRelease, path: Path | str) -> None:
    """Write a workload release, statement and noisy sums, as one new JSON file, whole or not at all.

    Raises:
        Unsupported: where the file exists.
        OSError: where the disk refuses.
    """
    out = Path(path)
    check_absent(out)
    write_together({out: lambda file: codec.write(release.facts(), file)})


def read_workload(path: Path | str) -> WorkloadRelease:
    """The workload release of a file; its digest and its statement are checked.

    Raises:
        BadTable: for a file that is none, or was changed.
    """
    found = codec.read_json(Path(path), "a workload release must")
    if not isinstance(found, dict):
        raise BadTable("a workload release must be a JSON object", came=type(found).__name__, where=str(path))
    return WorkloadRelease.of_facts(found)
