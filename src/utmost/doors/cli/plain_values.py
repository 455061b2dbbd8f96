"""Words of the command line that need no reading: texts, digits, paths and what was left out.

Typer reads every parameter by an adapter of pydantic, whose loading takes a fifth of the time of a release. What is
not plain, and paths of which something is demanded, typer reads as before, and says what is wrong with it.
"""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, get_origin

import typer

_INTEGER = re.compile("-?[0-9]{1,18}")
_NUMBERS = {int: "integer", float: "float"}


class PlainValue:
    """What `typer` asks a parameter for: the value of its words."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self._read = read

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value, plain where it can be, and as typer reads it elsewhere."""
        kind, facts = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if type(value) is kind and kind in (bool, int) and facts.min is facts.max is None:
            return value
        if facts.parser is not None:
            with suppress(ValueError):  # typer says what a parser does not take
                several = get_origin(kind) is list and isinstance(value, tuple | list)
                return [facts.parser(word) for word in value] if several else facts.parser(value)
        elif kind is str and type(value) is str:
            return value
        elif kind == list[str] and isinstance(value, tuple | list) and all(type(word) is str for word in value):
            return list(value)
        elif kind is int and type(value) is str and _INTEGER.fullmatch(value) and facts.min is facts.max is None:
            return int(value)
        elif kind in (int, float) and type(value) is str and "_" in value:
            # Python reads "1_0" as ten, and typer with it; see `spelled`.
            raise typer.BadParameter(f"{value!r} is not a valid {_NUMBERS[kind]}.", ctx=ctx, param=param)
        elif kind is Path and type(value) is str and _demands_nothing(facts) and _is_readable(value):
            return Path(value)
        return self._read().coerce(value, param=param, ctx=ctx)


def read_plainly(parameters: list[Any]) -> list[Any]:
    """The parameters of a command, which read plain words themselves."""
    for parameter in parameters:
        if "get_runtime_param" not in vars(parameter):
            value = PlainValue(parameter.get_runtime_param)
            parameter.get_runtime_param = lambda value=value: value
    return parameters


def _demands_nothing(facts: Any) -> bool:
    demands = (facts.exists, facts.writable, facts.resolve_path, facts.path_type, facts.allow_dash)
    return not any(demands) and bool(facts.file_okay and facts.dir_okay)


def _is_readable(path: str) -> bool:
    """Whether typer would have nothing to say: there is no such file, or it can be read."""
    try:
        return os.access(path, os.R_OK) or not os.path.lexists(path)
    except ValueError:
        return False
