"""Provably optimal differential privacy: the least noise a level allows, drawn exactly, with the evidence."""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__all__: list[str]


def _table() -> dict[str, str]:
    """Each public name and the module that it is imported from, as ``__init__.pyi`` lists them for people and types.

    Names are loaded when they are first asked for: see docs/decisions/0004.
    """
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    lines = (line for line in stub.body if isinstance(line, ast.ImportFrom))
    return {str(name.asname): str(line.module) for line in lines for name in line.names}


_ORIGIN = _table()
__all__ = sorted(_ORIGIN)


def __getattr__(name: str) -> Any:
    if name not in _ORIGIN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    origin = _ORIGIN[name]
    found = import_module(f"utmost.{name}") if origin == "utmost" else getattr(import_module(origin), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return list(__all__)
