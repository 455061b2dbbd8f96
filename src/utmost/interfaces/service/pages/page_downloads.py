"""Download released values as CSV, Parquet or Excel, and the statement of exactly that file.

A file is made once for each release, level and format, by a process without the key, and stays in memory while there is
room, so that repeated and simultaneous requests get the same bytes.
"""

import json
import threading
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Path as InPath
from starlette.exceptions import HTTPException

from utmost.core.exact.arrays import plain_cells
from utmost.core.exact.written_levels import level_text
from utmost.errors import BadTable, Unsupported
from utmost.interfaces.service.api.problems import busy
from utmost.interfaces.service.api.requested_levels import read_level
from utmost.interfaces.service.api.response_models import columns, statement_of
from utmost.interfaces.service.api.routes import Served, Version
from utmost.interfaces.service.pages.page_session import Viewer
from utmost.interfaces.service.token_releases import View
from utmost.interfaces.service.workers.axis_limits import MOST_CELLS_OF_A_FILE
from utmost.interfaces.service.workers.processes import WORKERS
from utmost.publish.ledger.state import Published
from utmost.publish.releases.noisy_sums import NoisySums, SumsTable
from utmost.tables.files import table_formats

downloads = APIRouter(include_in_schema=False)

NameQuery = Annotated[str, Query(max_length=400)]
Ending = Literal["csv", "parquet", "xlsx"]

_KINDS = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
}
_WORDS = {"csv": ("CSV", None), "parquet": ("Parquet", "pyarrow"), "xlsx": ("Excel", "xlsxwriter")}

MOST_TEXT = {"csv": 32 << 20, "parquet": 4 << 20, "xlsx": 4 << 20}
"""Largest number of characters of the cells of a file as JSON, by format."""

_TOGETHER, _LONGEST = 100_000, 2 << 20  # cells and characters of one piece of a CSV file
_KEPT, _MOST_WAITING, _PATIENCE = 64 << 20, 8, 60.0


@lru_cache
def endings() -> tuple[tuple[str, str], ...]:
    """Return the formats that this machine can write: ending and name."""
    return tuple((ending, word) for ending, (word, needs) in _WORDS.items() if needs is None or find_spec(needs))


class FileCache:
    """Stores the files that were requested last; makes each file once, also for simultaneous requests."""

    # `most` is the size of all stored files in bytes; `waiting` is how many requests may wait for files that other
    # requests make.

    def __init__(self, most: int = _KEPT, waiting: int = _MOST_WAITING) -> None:
        self._most, self._waiting = most, waiting
        self._lock, self._now = threading.Lock(), 0
        self._files: OrderedDict[Any, bytes] = OrderedDict()
        self._begun: dict[Any, Future[bytes]] = {}

    def file(self, key: Any, make: Callable[[], bytes]) -> bytes:
        """Return the file of a key, and make it if it is not stored; refuse if too many requests wait for files."""
        with self._lock:
            if key in self._files:
                self._files.move_to_end(key)
                return self._files[key]
            begun = self._begun.get(key)
            if begun is None:
                self._begun[key] = Future()
            elif self._now >= self._waiting:
                raise busy(1.0)
            else:
                self._now += 1
        if begun is None:
            return self._made(key, make)
        try:
            return begun.result(_PATIENCE)
        except TimeoutError:
            raise busy(1.0) from None
        finally:
            with self._lock:
                self._now -= 1

    def _made(self, key: Any, make: Callable[[], bytes]) -> bytes:
        begun = self._begun[key]
        try:
            content = make()
        except BaseException as error:
            with self._lock:
                del self._begun[key]
            begun.set_exception(error if isinstance(error, Exception) else RuntimeError())
            raise
        with self._lock:
            del self._begun[key]
            self._files[key] = content
            while sum(map(len, self._files.values())) > self._most:
                self._files.popitem(last=False)
        begun.set_result(content)
        return content


class StoredLevel:
    """One stored level of a release that the viewer's token includes; viewing a page never makes a new level."""

    def __init__(
        self, request: Request, service: Served, viewer: Viewer, name: NameQuery, at: NameQuery, version: Version = None
    ) -> None:
        self.release, self.level = service.releases.release(viewer, name, version), read_level(at)
        if self.level not in service.releases.levels(viewer, self.release)[0]:
            raise HTTPException(404, "This release has no such level, or your token does not include it.")
        service.releases.note_view(viewer, self.release)
        self._service, self._viewer, self._kept = service, viewer, request.app.state.files
        self._view: View | None = None

    @property
    def view(self) -> View:
        if self._view is None:
            self._view = self._service.releases.view(self._viewer, self.release.name, self.level, self.release.version)
        return self._view

    @property
    def is_sums(self) -> bool:
        """Whether the release is by a plan."""
        return self.release.noise.is_by_plan

    def content(self, ending: str, marginal: str) -> bytes:
        """Return the released values in a format, always the same bytes, because the statement has their digest."""
        # A workbook lists the stored levels up to its own: after a level between them is stored, another file is made.
        lower_levels = tuple(level_text(at) for at in self.release.levels if not at > self.level)
        of = marginal if self.is_sums else ""  # a table has no marginals, and is one file
        key = self.release.name, self.release.version, level_text(self.level), lower_levels, of, ending
        made: bytes = self._kept.file(key, lambda: self._made(ending, marginal))
        return made

    def first_file(self, marginal: str) -> tuple[Ending, bytes]:
        """Return "csv" and the CSV file of the released values; if CSV cannot contain them, "parquet" and that file."""
        try:
            return "csv", self.content("csv", marginal)
        except BadTable:
            return "parquet", self.content("parquet", marginal)

    def statement(self, marginal: str, digest: Mapping[str, str]) -> dict[str, Any]:
        """Return the statement of the values in a file."""
        if self.is_sums:
            return SumsTable(self.view.table, _marginal(self.view.table, marginal), False).statement(dict(digest))
        return statement_of(self.view, digest)

    def _made(self, ending: str, marginal: str) -> bytes:
        check_size(ending, self.release, 0)
        if self.is_sums:
            table = table_formats.as_columns(self.view.table[_marginal(self.view.table, marginal)])
            cells = {str(name): plain_cells(column) for name, column in table.items()}
        else:
            cells = columns(self.view.table)
        rows = len(next(iter(cells.values()), ()))
        check_size(ending, self.release, rows * len(cells))
        facts = self.statement(marginal, {}) if ending == "xlsx" else {}
        facts = {fact: words for fact, words in facts.items() if fact not in ("table", "release")}
        content, left = bytearray(), MOST_TEXT[ending]
        for number, piece in enumerate(_pieces(cells) if ending == "csv" else [json.dumps(cells)]):
            left -= len(piece)
            if left < 0:
                raise _too_large(ending, f"more than {MOST_TEXT[ending]} characters")
            fields = {"ending": ending, "columns": piece, "statement": json.dumps(facts), "piece": str(number)}
            # A worker process, which does not have the ledger's key, writes the piece.
            try:
                result = WORKERS.ask(f"{self._viewer.name} {self._viewer.owner}", "download", fields, is_kept=False)
            except Unsupported:
                raise _too_large(fields["ending"], "a file that takes too much time or memory") from None
            if result["problem"]:
                raise BadTable(result["problem"].rstrip("."))
            content += b64decode(result["found"]["content"])
        return bytes(content)


def check_size(ending: str, release: Published, cells: int) -> None:
    """Refuse a release whose file would have too many cells; `cells` is 0 before the values are read."""
    if not release.noise.is_by_plan:
        cells = max(cells, release.rows * (len(release.columns) + len(release.public)))
    if cells > MOST_CELLS_OF_A_FILE[ending]:
        raise _too_large(ending, f"{cells} cells")


def _too_large(ending: str, came: str) -> Unsupported:
    word, most = _WORDS[ending][0], MOST_CELLS_OF_A_FILE[ending]
    remedy = "Choose the CSV file."
    if ending == "csv":
        remedy = 'Save the release by a program: ut.connect(...).save("NAME", "released.parquet", epsilon=...).'
    required = (
        f"a {word} file on a page must have at most {most} cells, and at most {MOST_TEXT[ending] >> 20} MiB of text"
    )
    return Unsupported(required, came=came, remedy=remedy)


def _pieces(cells: Mapping[str, list[Any]]) -> Iterator[str]:
    """Return columns as JSON, in pieces for a worker process; an empty table makes one piece."""
    count, rows, start = len(next(iter(cells.values()), ())), max(1, _TOGETHER // max(len(cells), 1)), 0
    while True:
        piece = json.dumps({name: column[start : start + rows] for name, column in cells.items()})
        if len(piece) > _LONGEST and rows > 1:
            rows = max(1, rows * _LONGEST // (2 * len(piece)))
            continue
        yield piece
        start += rows
        if start >= count:
            return


Stored = Annotated[StoredLevel, Depends(StoredLevel)]


@downloads.get("/release/table.{ending}")
def table_file(seen: Stored, ending: Annotated[Ending, InPath()], marginal: NameQuery = "") -> Response:
    """Send the released values, or one marginal of sums, as the file that the statement describes."""
    return _download(seen.content(ending, marginal), ending, f"released.{ending}")


@downloads.get("/release/release.json")
def release_file(seen: Stored) -> Response:
    """Send the complete release by a plan: statement and noisy sums, from which all other sums follow."""
    if not seen.is_sums:
        raise HTTPException(404, "Only a release by a plan can be downloaded as one document.")
    return _download(json.dumps(seen.view.table.facts()).encode(), "json", "release.json")


@downloads.get("/release/statement.json")
def statement_file(seen: Stored, of: Annotated[Ending | None, Query()] = None, marginal: NameQuery = "") -> Response:
    """Send the statement of the released values, as a file that anyone can check; by default of the CSV file."""
    of, content = seen.first_file(marginal) if of is None else (of, seen.content(of, marginal))
    facts = seen.statement(marginal, {"of": "file", "sha256": sha256(content).hexdigest()})
    return _download(json.dumps(facts, indent=1, ensure_ascii=False).encode(), "json", f"released.{of}.json")


def _marginal(release: NoisySums, marginal: str) -> str:
    """Return the name of a marginal; empty text stands for the finest marginal, the cells."""
    return release.table_name(release.domain.finest) if marginal == "" else marginal


def _download(content: bytes, ending: str, name: str) -> Response:
    return Response(
        content, media_type=_KINDS[ending], headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
