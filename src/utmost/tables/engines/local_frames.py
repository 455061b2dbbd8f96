"""Frames of engines on this machine. This process reads the rows of a local frame, once for each result."""

from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from utmost.tables.engines.engine_frames import Batches, EngineFrame, RowsMap, write_parquet


class LocalFrame(EngineFrame, Protocol):
    """A frame whose rows this process can read, and the operations that all such engines share."""

    def passing(self) -> Generator[Any, None, None]:
        """Yield the rows in any order. Closing the generator frees the reader."""

    def check_mapped(self) -> None:
        """Do nothing, because every local frame can be mapped."""
        return None

    def written(self, folder: Path) -> None:
        write_parquet(self.batches(), self.schema(), folder)

    def added_up(self, work: RowsMap, schema: Any) -> Batches:
        """Yield the sums that ``work`` returns in one pass over the rows."""
        return work(self.passing())

    def compared(self, work: RowsMap, between: Any, then: RowsMap, schema: Any, parts: int) -> None:
        """Return None, because this machine reads all rows."""
        return None

    def added_up_by(self, column: str, work: RowsMap, schema: Any) -> Batches:
        """Yield the sums that ``work`` returns in one pass over the rows."""
        with closing(self.passing()) as batches:  # the generator is closed even if an event is refused
            yield from work(batches)
