"""Provably optimal differential privacy: the least noise a level allows, drawn exactly, with the evidence."""

from pathlib import Path

from utmost.provided import RoomNames, register

__all__: list[str]


register(
    {
        "answering": "utmost.design.local.checked_mechanisms:read_mechanism",
        "check_answers": "utmost.doors.documents.answer_words:check_answers",
        "card": "utmost.doors.figures.cards:card",
        "checked_columns": "utmost.publish.releases.table:checked_columns",
        "checked_pieces": "utmost.publish.releases.streamed:checked_pieces",
        "checked_sums": "utmost.publish.releases.noised_workloads:checked_sums",
        "command": "utmost.doors.cli.main:command_named",
        "counted_form": "utmost.publish.statements.counted_files:COUNTED_FORM",
        "dataframes": "utmost.publish.tables.dataframes",
        "drawing": "utmost.design.channels.channel_draws:Drawing",
        "duckdb_rows": "utmost.publish.tables.duckdb_engine:DuckRelation",
        "engine_ledger": "utmost.publish.ledger.engine_ledger",
        "engine_release": "utmost.publish.releases.engine_release",
        "engines": "utmost.publish.tables.engines",
        "json_file": "utmost.publish.statements.codec:read_json",
        "lake_relation": "utmost.publish.tables.duckdb_engine:lake_relation",
        "measured_sums": "utmost.publish.releases.workload_release:WorkloadRelease",
        "packages": "utmost.doors.interop",
        "plot": "utmost.doors.figures.plots:plot",
        "polars_rows": "utmost.publish.tables.polars_engine:LazyPolars",
        "publication": "utmost.publish.statements.saved_tables",
        "save_promise": "utmost.publish.statements.promise_files:save_promise",
        "saved_design": "utmost.doors.documents.saved_designs:save_design",
        "release_answers": "utmost.publish.statements.release_answers",
        "sample": "utmost.laws.sampling.draw:sample",
        "small_table": "utmost.publish.tables.small_tables:small_table",
        "spark_rows": "utmost.publish.tables.spark_engine:SparkRows",
        "table_adapters": "utmost.publish.tables.adapters",
        "table_files": "utmost.publish.tables.files",
    }
)
__getattr__ = RoomNames(__name__, str(Path(__file__).with_suffix(".pyi")))
"""Each public name, as ``__init__.pyi`` lists it for people and types."""
__all__ = sorted(__getattr__.names)


def __dir__() -> list[str]:
    return list(__all__)
