"""What a page gives as a file: released values as CSV, Parquet or Excel, and the statement of just that file."""

import io
import json
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from fastapi import Path as InPath
from starlette.exceptions import HTTPException

from utmost.doors.service.api import Served, Version
from utmost.doors.service.asked_levels import read_level
from utmost.doors.service.held_releases import View
from utmost.doors.service.page_session import Viewer
from utmost.doors.service.page_tables import csv_of
from utmost.doors.service.response_models import columns, statement_of
from utmost.publish.releases import WorkloadRelease
from utmost.publish.releases.workload_statements import workload_table_statement
from utmost.publish.tables import files, table_formats

downloads = APIRouter(include_in_schema=False)

Name = Annotated[str, Query(max_length=400)]
Ending = Literal["csv", "parquet", "xlsx"]

_KINDS = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
}
_WORDS = {"csv": ("CSV", None), "parquet": ("Parquet", "pyarrow"), "xlsx": ("Excel", "xlsxwriter")}


@lru_cache
def endings() -> tuple[tuple[str, str], ...]:
    """The formats that this machine writes: the ending, and what people call it."""
    return tuple((ending, word) for ending, (word, needs) in _WORDS.items() if needs is None or find_spec(needs))


def stored_view(service: Served, viewer: Viewer, name: Name, at: Name, version: Version = None) -> View:
    """A level that is there: to look at a page never makes a new one."""
    release, wanted = service.releases.release(viewer, name, version), read_level(at)
    if wanted not in service.releases.levels(viewer, release):
        raise HTTPException(404, "There is no such level of this release, or the token is not for it.")
    return service.releases.view(viewer, name, wanted, release.version)


Seen = Annotated[View, Depends(stored_view)]


@downloads.get("/release/table.{ending}")
def table_file(seen: Seen, ending: Annotated[Ending, InPath()], family: Name = "") -> Response:
    """The released values as a file, which the statement is about; of sums one family."""
    return _download(_content(seen, ending, family), ending, f"released.{ending}")


@downloads.get("/release/release.json")
def release_file(seen: Seen) -> Response:
    """The whole release of sums: statement and noisy values, from which every other sum is answered."""
    if not seen.release.noise.needs_counted:
        raise HTTPException(404, "Only sums are one document.")
    return _download(json.dumps(seen.table.facts()).encode(), "json", "release.json")


@downloads.get("/release/statement.json")
def statement_file(seen: Seen, of: Annotated[Ending, Query()] = "csv", family: Name = "") -> Response:
    """What is promised of the released values, as a file that anyone can check."""
    said = _statement(seen, family, {"of": "file", "sha256": sha256(_content(seen, of, family)).hexdigest()})
    return _download(json.dumps(said, indent=1, ensure_ascii=False).encode(), "json", f"released.{of}.json")


def _statement(seen: View, family: str, digest: dict[str, str]) -> dict[str, Any]:
    if seen.release.noise.needs_counted:
        return workload_table_statement(seen.table, _family(seen.table, family), digest)
    return statement_of(seen, digest)


def _family(release: WorkloadRelease, family: str) -> str:
    """A family by its name, as it is written: that of the cells where none is named.

    Raises:
        NotDetermined, OutOfRange: for one that the release does not have.
    """
    return release.table_name(release.domain.finest) if family == "" else family


def _content(seen: View, ending: str, family: str) -> bytes:
    """The released values in a format: the same bytes each time, for the statement has their digest."""
    is_sums = seen.release.noise.needs_counted
    cells = table_formats.as_columns(seen.table[_family(seen.table, family)]) if is_sums else columns(seen.table)
    if ending == "csv":
        return csv_of(cells)
    said = {fact: words for fact, words in _statement(seen, family, {}).items() if fact not in ("table", "release")}
    file = io.BytesIO()
    files.write(cells, file, Path(f"released.{ending}"), statement=said)
    return file.getvalue()


def _download(content: bytes, ending: str, name: str) -> Response:
    return Response(
        content, media_type=_KINDS[ending], headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
