"""The kinds of noise and of statements that there are, by the public schemas of their documents."""

from typing import get_args

from utmost.statements import DocumentKind, schema

_WITHOUT_STATEMENT = {"any", "clean-table"}  # a clean table has none without its release


def noise_kinds() -> set[str]:
    """Every kind of noise that a promise or a statement may name."""
    parts = schema("promise")["$defs"].items()
    return {part["properties"]["kind"]["const"] for name, part in parts if name.startswith("noise_")}


def statement_kinds() -> set[str]:
    """Every kind of statement that is read by itself."""
    named = get_args(DocumentKind)
    statements = set(named[: named.index("promise")]) - _WITHOUT_STATEMENT
    return {schema(kind)["properties"]["kind"]["const"] for kind in statements}
