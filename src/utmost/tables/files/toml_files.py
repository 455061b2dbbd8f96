"""TOML files, read as strictly as JSON files, and written from the values that reading returns."""

import json
import tomllib
from collections.abc import Mapping
from datetime import date, time
from math import inf, isinf, isnan
from pathlib import Path
from typing import Any

from utmost.errors import BadTable, OutOfRange


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Read a TOML file. Dates become ISO text, and infinite numbers become None. Messages begin with ``what``, such as
    "a recipe must".
    """
    try:
        with path.open("rb") as file:
            text = file.read().decode("utf-8-sig")
    except OSError as error:
        raise BadTable(f"{what} be a file that can be read", came=error.strerror, where=str(path)) from None
    except UnicodeDecodeError:
        raise BadTable(f"{what} be TOML", came="bytes that are no text in UTF-8", where=str(path)) from None
    try:
        read: dict[str, Any] = _as_json(tomllib.loads(text.replace("\r\n", "\n")))
    except tomllib.TOMLDecodeError as error:
        place = str(error).rpartition("(at ")[2].rstrip(")") or "its end"
        raise BadTable(f"{what} be TOML", came=f"other text, at {place}", where=str(path)) from None
    except RecursionError:
        raise BadTable(f"{what} be TOML", came="brackets nested too deep to read", where=str(path)) from None
    except ValueError as error:
        raise BadTable(f"{what} be TOML", came=str(error), where=str(path)) from None
    return read


def _as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_json(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_as_json(member) for member in value]
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and isnan(value):
        raise ValueError("nan, which is no number")
    return None if isinstance(value, float) and isinf(value) else value


def toml_value(value: Any) -> str:
    """Write a value as TOML on one line; None is written as an infinite number."""
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{toml_key(name)} = {toml_value(member)}" for name, member in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        members = [toml_value(member) for member in value]
        if value and value[0] is None:
            members[0] = "-inf"
        return f"[{', '.join(members)}]"
    if value is None:
        return toml_value(inf)
    if isinstance(value, bool):
        return "true" if value else "false"
    return _text(value) if isinstance(value, str) else str(value)


def toml_key(name: str) -> str:
    """Write a name as a key of TOML, in quotes unless it is plain."""
    is_plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if is_plain else _text(name)


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise OutOfRange("text in a TOML file must be Unicode", came="a lone surrogate") from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
