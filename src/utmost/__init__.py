"""Provably optimal differential privacy: the least noise a level allows, drawn exactly, with the evidence."""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

from utmost.provided import register

__all__: list[str]


def _table() -> dict[str, str]:
    """Each public name and the module that it is imported from, as ``__init__.pyi`` lists them for people and types.

    Names are loaded when they are first asked for: see docs/decisions/0004.
    """
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    lines = (line for line in stub.body if isinstance(line, ast.ImportFrom))
    return {str(name.asname): str(line.module) for line in lines for name in line.names}


_ORIGIN = _table()
_WINGS = ("utmost", "utmost.laws", "utmost.design", "utmost.publish", "utmost.doors")
register(
    {
        "answering": "utmost.design.local.checked_mechanisms:read_mechanism",
        "check_answers": "utmost.doors.documents.answer_words:check_answers",
        "card": "utmost.doors.figures.cards:card",
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
        "packages": "utmost.doors.interop",
        "plot": "utmost.doors.figures.plots:plot",
        "polars_rows": "utmost.publish.tables.polars_engine:LazyPolars",
        "publication": "utmost.publish.statements.saved_tables",
        "save_promise": "utmost.publish.statements.promise_files:save_promise",
        "saved_design": "utmost.doors.documents.saved_designs:save_design",
        "sample": "utmost.laws.sampling.draw:sample",
        "spark_rows": "utmost.publish.tables.spark_engine:SparkRows",
        "table_adapters": "utmost.publish.tables.adapters",
        "table_files": "utmost.publish.tables.files",
        "text_records": "utmost.publish.tables.csv_table:records",
    }
)
__all__ = sorted(_ORIGIN)


def __getattr__(name: str) -> Any:
    if name not in _ORIGIN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    origin = _ORIGIN[name]
    found = import_module(f"{origin}.{name}") if origin in _WINGS else getattr(import_module(origin), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return list(__all__)
