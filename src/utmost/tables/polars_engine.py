"""Polars' lazy frames, evaluated by its streaming engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from utmost.errors import Unsupported
from utmost.tables.engines import Batches, BatchMap, RowsMap, write_parquet
from utmost.tables.extra import extra

_CHUNK = 1 << 18
_LEAST = 2  # Polars 1 pushes projections through maps that are stacked, whatever they are told


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LazyPolars:
    """A lazy frame of Polars."""

    native: Any
    engine: str = "polars"
    kind: str = "dataframe:polars"

    def __post_init__(self) -> None:
        version = extra("polars", "tables").__version__
        if int(version.partition(".")[0]) < _LEAST:
            remedy = "Update Polars, or collect the frame first."
            raise Unsupported(f"lazy frames are read by Polars {_LEAST} or later", came=version, remedy=remedy)

    def schema(self) -> Any:
        """The Arrow schema of the rows."""
        return extra("polars", "tables").DataFrame(schema=self.native.collect_schema()).to_arrow().schema

    def select(self, names: Sequence[str]) -> "LazyPolars":
        """The frame with these columns alone; categories become text."""
        polars = extra("polars", "tables")
        kinds = self.native.collect_schema()
        coded = (polars.Categorical, polars.Enum)  # they are ordered by their codes
        wanted = (polars.col(name).cast(polars.String) if kinds[name] in coded else name for name in names)
        return LazyPolars(self.native.select(*wanted))

    def grouped(self, names: Sequence[str], weight: str) -> "LazyPolars":
        """The distinct rows, with their number."""
        polars = extra("polars", "tables")
        return LazyPolars(self.native.group_by(*names).agg(polars.len().alias(weight)))

    def mapped(self, work: BatchMap, schema: Any) -> Any:
        """The lazy frame of the batches that are made."""
        polars = extra("polars", "tables")
        wanted = polars.from_arrow(schema.empty_table()).schema

        def batch(frame: Any) -> Any:
            made = [polars.from_arrow(work(one)) for one in _arrow_batches(frame)]
            return polars.concat(made) if made else polars.DataFrame(schema=wanted)

        return self.native.map_batches(batch, schema=wanted, streamable=True)

    def batches(self) -> Batches:
        """The rows, in the order of the frame."""
        frames = self.native.collect_batches(chunk_size=_CHUNK, maintain_order=True, lazy=True, engine="streaming")
        return (batch for frame in frames for batch in _arrow_batches(frame))

    def written(self, folder: Path) -> None:
        """Files of the rows, in their order."""
        write_parquet(self.batches(), self.schema(), folder)

    def added_up(self, by: str | None, work: RowsMap, schema: Any) -> Batches:
        """The rows pass by, in one order where one is asked for; the sums are made on the way."""
        rows = self.native if by is None else self.native.sort(by)
        ordered = by is not None
        frames = rows.collect_batches(chunk_size=_CHUNK, maintain_order=ordered, lazy=True, engine="streaming")
        return work(batch for frame in frames for batch in _arrow_batches(frame))


def _arrow_batches(frame: Any) -> list[Any]:
    return list(frame.to_arrow().to_batches())
