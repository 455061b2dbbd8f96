"""Store the responses of releases with keyed noise in Parquet files, since their ledger stores only commitments.

A level of a release is a folder of files with a manifest that lists them. The folder is written under a temporary name,
read back, compared with the commitment, and then renamed. An interrupted folder has no final name, and is written again
with the same values, since they are a function of the key.
"""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.disk import force
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.exact.written_levels import level_text
from utmost.errors import DataChanged, LedgerDamaged, NeedsTable, Unsupported
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.item_columns import BatchCommitter, gathered_commitment
from utmost.tables.engines.engines import engine_frame
from utmost.tables.files import parquet
from utmost.tables.optional_imports import extra

if TYPE_CHECKING:  # a caller with a ledger has loaded these modules; others need not wait for them
    from utmost.publish.ledger.ledger import Ledger
    from utmost.publish.ledger.state import Published

_MANIFEST, _FORM = "manifest.json", 1
_READ = 1 << 20


def check_responses(
    ledger: "Ledger",
    name: str,
    table: Any,
    *,
    epsilon: Number | Level,
    version: int | None = None,
) -> int:
    """Check that an engine's frame, such as a table in a warehouse, has exactly the answers at a level.

    Args:
        ledger: Ledger that gave the answers.
        name, version: Name and version of the release; the newest version if ``version`` is left out.
        table: Frame with the identifiers and the released columns, in any order of the rows; other columns are ignored.
        epsilon: Level of the answers.

    Returns:
        Number of rows.

    Raises:
        WrongKind: if ``ledger`` is not a ledger.
        DataChanged: if the frame has other values.
        NotPublished: if the ledger has no such release, or no answer at this level.
        Unsupported: if the noise of the release is not keyed by identifier.

    Cost: one aggregate query of the engine and one pass over the rows, which are never collected.
    """
    from utmost.publish.ledger.engine_ledger import checked_responses, known_by_item

    if not hasattr(ledger, "items"):
        raise wrong_kind("ledger", "a ledger", ledger)
    known = known_by_item(ledger.items, name, version)
    checked_responses(ledger.items, known, table, level(epsilon))
    return known.rows


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResponseFolder:
    """A folder for the responses that a ledger does not store itself, with a subfolder of Parquet files for each level.

    With the ledger's key and these files one can compute the true values: give the files of a level only to its
    recipients, and protect the folder like the data. The folder must be on a file system of this machine with atomic
    renaming.

    Attributes:
        ledger: Ledger of the responses.
        path: Path of the folder, or its text; the folder is made when the first responses are stored.

    >>> from utmost import Unit
    >>> from tempfile import TemporaryDirectory
    >>> import polars as pl
    >>> from utmost.ledger import Ledger
    >>> from utmost.promises import Promise
    >>> table = pl.LazyFrame({"ward": ["a", "b"], "n": [601, 370]})
    >>> promise = Promise("n", public="ward", id_column="ward", unit=Unit(1, 1))
    >>> with TemporaryDirectory() as here, Ledger.open(f"{here}/releases.db", create=True) as ledger:
    ...     kept = ResponseFolder(ledger, f"{here}/responses")
    ...     _ = kept.keep("visits", ledger.publish("visits", table, promise, epsilon=1), epsilon=1)
    ...     lower = pl.scan_parquet(kept.files("visits", epsilon=1))
    ...     higher = ledger.relax("visits", lower, table_at=1, epsilon=2)
    ...     kept.missing(), kept.verify()
    ((('visits', 1, level(epsilon=2)),), 2)
    """

    ledger: "Ledger"
    path: Path

    def __post_init__(self) -> None:
        from utmost.publish.ledger.ledger import Ledger

        if not isinstance(self.ledger, Ledger):
            raise wrong_kind("ledger", "a Ledger", self.ledger)
        if not isinstance(self.path, str | Path):
            raise wrong_kind("path", "a path or its text", self.path)
        object.__setattr__(self, "path", Path(self.path))

    def keep(
        self,
        name: str,
        frame: Any,
        *,
        epsilon: Number | Level,
        version: int | None = None,
    ) -> Path:
        """Store the responses at a level; do nothing if they are stored already.

        Args:
            name, version: Name and version of the release; the newest version if ``version`` is left out.
            frame: Answer that `publish`, `relax` or `view` of the ledger returned, or the table of this answer.
            epsilon: Level of the answer.

        Returns:
            The folder with the files of the level.

        Raises:
            DataChanged: if the frame has other values or other columns; nothing is stored. Public columns are not
                checked.
            NeedsTable: if the level was not answered.
            LedgerDamaged: if the folder of the level has no manifest.
            NotPublished: if there is no such release.
            Unsupported: if the noise of the release is not keyed by identifier.
        """
        release, at = self._answered(name, level(epsilon), version)
        place = self._level_folder(release, at)
        if self._manifest(release, at) is None:
            frame = frame.table if isinstance(frame, Answer) else frame
            place.parent.mkdir(parents=True, exist_ok=True)
            aside = Path(mkdtemp(prefix=f".{place.name}.", suffix=".part", dir=place.parent))
            try:
                self._write_aside(release, at, frame, aside)
                # One rename for the whole folder: readers find all files, already checked, or none.
                os.replace(aside, place)
            except OSError as error:
                if self._manifest(release, at) is None:  # with a manifest, another writer was first, with equal values
                    if place.exists():
                        required = "the folder of a level must have a manifest"
                        remedy = "Remove the folder: keep writes the folder again, with the same values."
                        raise LedgerDamaged(required, came="none", where=str(place), remedy=remedy) from error
                    raise
            finally:
                shutil.rmtree(aside, ignore_errors=True)
            # Force the folder's new name to the disk: after a power cut the folder is complete or absent.
            force(place.parent)
        for left in place.parent.glob(f".{place.name}.*.part"):
            shutil.rmtree(left, ignore_errors=True)
        return place

    def files(
        self,
        name: str,
        *,
        epsilon: Number | Level,
        version: int | None = None,
    ) -> list[str]:
        """Return the paths of the Parquet files of a level, for an engine to read.

        Raises:
            NeedsTable: if the level is not stored here.
            LedgerDamaged: if the manifest is of another release.
        """
        release, at = self._answered(name, level(epsilon), version)
        manifest = self._manifest(release, at)
        if manifest is None:
            remedy = "Answer the level again, which gives the same values, and pass the frame to keep."
            raise NeedsTable(
                "the responses of a level must first be stored by keep", came=at, where=repr(name), remedy=remedy
            )
        return [str(self._level_folder(release, at) / file["name"]) for file in manifest["files"]]

    def missing(self) -> tuple[tuple[str, int, Level], ...]:
        """Return the answered levels that are not stored here, as (name, version, level)."""
        return tuple(
            (release.name, release.version, at) for release, at in self._levels() if self._manifest(release, at) is None
        )

    def verify(self) -> int:
        """Read every stored file in batches; check that the bytes are unchanged and the rows are the ledger's answers.

        Returns:
            Number of rows in all levels.

        Raises:
            LedgerDamaged: if a file is missing or was changed.
            DataChanged: if rows are not answers of the ledger.
        """
        rows = 0
        for release, at in self._levels():
            manifest = self._manifest(release, at)
            if manifest is not None:
                place = self._level_folder(release, at)
                for file in manifest["files"]:
                    if not (place / file["name"]).is_file() or _digest(place / file["name"]) != file["sha256"]:
                        raise LedgerDamaged("a stored file must be unchanged", came="another file", where=file["name"])
                self._check(release, at, [place / file["name"] for file in manifest["files"]])
                rows += release.rows
        return rows

    def _levels(self) -> Iterator[tuple["Published", Level]]:
        for release in self.ledger.releases:
            if release.items is not None and not release.items.is_stored:
                yield from ((release, at) for at in release.levels)

    def _answered(self, name: str, at: Level, version: int | None) -> tuple["Published", Level]:
        from utmost.publish.ledger.engine_ledger import known_by_item

        release = known_by_item(self.ledger.items, name, version)
        if release.items is None or release.items.is_stored:
            raise Unsupported(
                "the responses of this release must not be stored in the ledger",
                where=repr(name),
                remedy="Call ledger.view.",
            )
        if at not in release.responses:
            raise NeedsTable(
                "the level must be an answered level of the release",
                came=at,
                where=repr(name),
                remedy="Call relax or view first.",
            )
        return release, at

    def _level_folder(self, release: "Published", at: Level) -> Path:
        return self.path / _folder_name(release.name) / f"v{release.version}" / _folder_name(level_text(at))

    def _manifest(self, release: "Published", at: Level) -> Any:
        """Return the manifest of a level; None if the level is not stored."""
        path = self._level_folder(release, at) / _MANIFEST
        if not path.is_file():
            return None
        try:
            manifest = json.loads(path.read_bytes())
            names = [file["name"] for file in manifest["files"] if len(file["sha256"]) == 64]
            is_right = manifest["form"] == _FORM and manifest["release"] == release.bound.hex()
            is_right &= manifest["level"] == level_text(at) and len(set(names)) == len(manifest["files"])
            is_right &= all(Path(file_name).name == file_name and file_name.endswith(".parquet") for file_name in names)
        except (ValueError, KeyError, TypeError, RecursionError):
            is_right = False
        if not is_right:
            raise LedgerDamaged(
                "the manifest must belong to this release and level", came="another manifest", where=str(path)
            )
        return manifest

    def _write_aside(self, release: "Published", at: Level, frame: Any, aside: Path) -> None:
        """Write the frame and a manifest into the folder ``aside``, check the files, and force them to the disk."""
        assert release.items is not None
        written = engine_frame(frame)
        # Refuse columns that an answer does not have, since files go to recipients.
        answered = {*release.promise.id_column, *release.columns, *release.public, *_margins(release)}
        other = [name for name in written.schema().names if name not in answered]
        if other:
            raise DataChanged(
                "the frame must have only the columns of the answer",
                came=", ".join(map(repr, other)),
                where=repr(release.name),
                remedy="Pass the frame that publish, relax or view returned, or drop the other columns.",
            )
        written.written(aside)
        files = sorted(part for part in aside.glob("*.parquet") if not part.name.startswith(("_", ".")))
        self._check(release, at, files)
        listed = [{"name": file.name, "sha256": _digest(file)} for file in files]
        facts = {"form": _FORM, "name": release.name, "version": release.version, "release": release.bound.hex()}
        facts |= {"level": level_text(at), "rows": release.rows, "files": listed}
        (aside / _MANIFEST).write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="ascii")
        # Force the files to the disk before the manifest that lists them, and the folder last.
        for path in (*files, aside / _MANIFEST, aside):
            force(path)

    def _check(self, release: "Published", at: Level, files: list[Path]) -> None:
        from utmost.publish.ledger.engine_ledger import margin_of

        assert release.items is not None
        items = self.ledger.items
        key = items.commitment_key(release.name, version=release.version)
        answered = items.view(release.name, epsilon=at, version=release.version), at
        work = BatchCommitter(key, release.promise.id_column, answered)
        batches = _batches(files, [*release.promise.id_column, *release.columns])
        items.check_committed(release.name, gathered_commitment(work(batches))[0], version=release.version)
        # A column of margins has the margin of the level in every row, and so no information on the data.
        compute, margin = extra("pyarrow.compute", "tables"), margin_of(release, at)
        for path in files:
            there = [name for name in _margins(release) if name in parquet.opened(path).schema_arrow.names]
            for batch in _batches([path], there) if there else ():
                for name in there:
                    if batch.num_rows and compute.unique(batch.column(name)).to_pylist() != [margin]:
                        where = f"column {name!r}"
                        raise DataChanged(
                            "the margin of a cell must be the margin of the level", came="another margin", where=where
                        )

    def __repr__(self) -> str:
        return f"ResponseFolder({str(self.path)!r})"


def _margins(release: "Published") -> list[str]:
    return [f"{name}_margin" for name in release.columns]


def _batches(files: list[Path], columns: list[str]) -> Iterator[Any]:
    for path in files:
        file = parquet.opened(path)
        with parquet.well_formed(path):
            for group in range(
                file.num_row_groups
            ):  # one group at a time: Arrow keeps all groups of one read in memory
                yield from file.iter_batches(batch_size=_READ, row_groups=[group], columns=columns)


def _folder_name(text: str) -> str:
    """Make a folder name from a text: 40 characters, with "-" for special ones, and the digest of the text."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text)
    return f"{plain[:40]}-{sha256(text.encode()).hexdigest()[:16]}"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
