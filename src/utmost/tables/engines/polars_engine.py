"""Polars' lazy frames, evaluated by its streaming engine."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from utmost.errors import Unsupported
from utmost.tables.engines.engine_frames import (
    Batches,
    BatchMap,
    Constants,
    WithConstants,
    check_no_pattern,
    evaluated,
)
from utmost.tables.engines.local_frames import LocalFrame
from utmost.tables.optional_imports import extra

_CHUNK = 1 << 18
_LEAST = 2  # Polars 1 wrongly pushes projections through stacked maps


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LazyPolars(LocalFrame):
    native: Any
    engine: str = "polars"
    kind: str = "dataframe:polars"
    folds_case: bool = False

    def __post_init__(self) -> None:
        version = extra("polars", "tables").__version__
        if int(version.partition(".")[0]) < _LEAST:
            remedy = "Update Polars, or collect the frame first."
            raise Unsupported(f"lazy frames need Polars {_LEAST} or later", came=version, remedy=remedy)

    def schema(self) -> Any:
        arrow, polars = extra("pyarrow", "tables"), extra("polars", "tables")
        fields = []
        for name, kind in self.native.collect_schema().items():
            try:
                fields.append(polars.DataFrame(schema={name: kind}).to_arrow().schema.field(0))
            except (arrow.ArrowException, polars.exceptions.PolarsError):
                raise Unsupported(
                    "each column must have a type that Arrow has",
                    came=str(kind),
                    where=f"column {name!r}",
                    remedy="Cast the column to Decimal(38, 0), to Int64 or to text, or leave it out.",
                ) from None
        return arrow.schema(fields)

    def select(self, names: Sequence[str]) -> "LazyPolars":
        """The frame with only these columns. Categories become text."""
        check_no_pattern(names)
        polars = extra("polars", "tables")
        kinds = self.native.collect_schema()
        coded = (polars.Categorical, polars.Enum)  # categories are sorted by code, not by text
        wanted = (polars.col(name).cast(polars.String) if kinds[name] in coded else name for name in names)
        return LazyPolars(self.native.select(*wanted))

    def mapped(self, work: BatchMap, schema: Any, constants: Constants) -> Any:
        polars = extra("polars", "tables")
        wanted = polars.from_arrow(schema.empty_table()).schema
        whole = WithConstants(work, schema, constants)

        def batch(frame: Any) -> Any:
            frames = [polars.from_arrow(whole(piece)) for piece in _arrow_batches(frame)]
            return polars.concat(frames) if frames else polars.DataFrame(schema=wanted)

        return self.native.map_batches(batch, schema=wanted, streamable=True)

    def batches(self) -> Batches:
        return self._read(in_order=True)

    def passing(self) -> Generator[Any, None, None]:
        return self._read(in_order=False)

    def _read(self, *, in_order: bool) -> Generator[Any, None, None]:
        with evaluated():
            frames = self.native.collect_batches(
                chunk_size=_CHUNK, maintain_order=in_order, lazy=True, engine="streaming"
            )
            for frame in frames:
                yield from _arrow_batches(frame)


def _arrow_batches(frame: Any) -> list[Any]:
    return list(frame.to_arrow().to_batches())
