"""Declare options, flags and arguments in annotations, and make the parameters of click from them."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import click

GROUP = "title"
"""Name of the attribute with the title of an option's group in the help."""

SHARED = "Options of many commands"
"""Title of options that `utmost --help` explains, and the help of a command only names."""


@dataclass(frozen=True, slots=True)
class Declared:
    """An option, a flag or an argument as a function declares it in ``Annotated``."""

    # `names` are spellings that differ from the parameter's name; "--demo/--no-demo" has an opposite. `parser` reads
    # the text; `exists`, `file_okay` and `dir_okay` check a path; `min` and `max` bound a number. `show_default` is the
    # default in words. `envvar` names an environment variable, which the help shows if `show_envvar`. `first` is called
    # with the value before any other option is read.

    metavar: str | None
    help: str
    names: tuple[str, ...] = ()
    is_argument: bool = False
    parser: Callable[[str], Any] | None = None
    exists: bool = False
    file_okay: bool = True
    dir_okay: bool = True
    min: Any = None
    max: Any = None
    show_default: str | None = None
    envvar: str | None = None
    show_envvar: bool = True
    first: Callable[[click.Context, Any], None] | None = None

    def spelled(self, name: str) -> str:
        """Return an option as it is typed: its first name, or the name of its parameter with hyphens."""
        return self.names[0] if self.names else f"--{name.replace('_', '-')}"

    def parameter(self, name: str, annotation: Any, default: Any, title: str | None) -> click.Parameter:
        """Return the parameter of click for this declaration; the help shows it under `title`."""
        # A parameter without a default has `inspect.Parameter.empty`.
        kind = annotation
        if get_origin(kind) in (UnionType, Union):  # a union with a Literal is a typing.Union
            kind = next(each for each in get_args(kind) if each is not type(None))
        several = get_origin(kind) is list
        kind = get_args(kind)[0] if several else kind
        known: dict[str, Any] = {"metavar": self.metavar, "help": self.help, "type": click.STRING}
        if self.parser is not None:
            known["type"] = _Read(self.parser)
        elif kind is Path:
            known["type"] = click.Path(self.exists, self.file_okay, self.dir_okay, path_type=Path)
        elif kind in (int, float):
            known["type"] = _Number(kind, self.min, self.max)
        elif get_origin(kind) is Literal:
            known["type"] = click.Choice(get_args(kind))
        known["required"] = default is inspect.Parameter.empty
        if default is not None and default is not inspect.Parameter.empty:
            known["default"] = default
        if self.is_argument:
            return _Argument([name], nargs=-1 if several else 1, **known)
        if kind is bool:
            known = {"help": self.help, "default": default, "is_flag": True}
        if self.first is not None:
            known |= {"is_eager": True, "callback": self._called_first}
        shown = default not in (False, "") if self.show_default is None else self.show_default
        option = _Option(
            [name, self.spelled(name)],
            multiple=several,
            show_default=shown,
            envvar=self.envvar,
            show_envvar=self.show_envvar,
            **known,
        )
        setattr(option, GROUP, title)
        return option

    def _called_first(self, context: click.Context, _: click.Parameter, value: Any) -> Any:
        if value is not None and self.first is not None and not context.resilient_parsing:
            self.first(context, value)
        return value


class _Read(click.ParamType[Any]):
    """A type of click: a function reads the value from text, and its errors are not changed."""

    name = "file"

    def __init__(self, parser: Callable[[str], Any]) -> None:
        self._parser = parser

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return self._parser(value) if type(value) is str else value


class _Number(click.FloatRange):
    """A type of click: an integer or float within bounds; refuses "1_0" and digits other than 0 to 9."""

    def __init__(self, kind: type[int] | type[float], least: Any, most: Any) -> None:
        super().__init__(least, most)
        self.name, self._number_class = "integer" if kind is int else "number", kind

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if type(value) is str and ("_" in value or not value.isascii()):
            raise click.BadParameter(f"{value!r} is not a valid {self.name}.", ctx=ctx, param=param)
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            remedy = (
                "" if param is None else f" Write, for example, {param.opts[-1]} {1 if self.min is None else self.min}."
            )
            raise click.BadParameter(error.message + remedy, ctx=ctx, param=param) from None

    def _describe_range(self) -> str:
        return "" if self.min is self.max is None else super()._describe_range()


def _listed(several: bool, value: Any) -> Any:
    return (list(value) or None) if several and value is not None else value


class _Option(click.Option):
    """An option of click, or a key of a recipe; several values are a list, and a missing value is None."""

    def get_error_hint(self, ctx: Any) -> str:
        """Return the place of a wrong value: the option, or the key of a recipe."""
        is_key = ctx is not None and self not in ctx.command.params
        return f"{self.opts[-1].lstrip('-')!r} in the recipe" if is_key else super().get_error_hint(ctx)

    def process_value(self, ctx: Any, value: Any) -> Any:
        return _listed(self.multiple, super().process_value(ctx, value))


class _Argument(click.Argument):
    """An argument of click; several values are a list. The usage shows an optional argument in brackets."""

    def get_usage_pieces(self, ctx: Any) -> list[str]:
        return [self.human_readable_name if self.required else f"[{self.human_readable_name}]"]

    def process_value(self, ctx: Any, value: Any) -> Any:
        return _listed(self.nargs == -1, super().process_value(ctx, value))


def option(metavar: str | None, help: str, *names: str, **more: Any) -> Any:
    """Declare an option with a value; it has the name of its parameter unless `names` has others."""
    return Declared(metavar, help, names, **more)


def flag(help: str, *names: str) -> Any:
    """Declare an option without a value; it has no opposite unless a name such as "--demo/--no-demo" declares one."""
    return Declared(None, help, names)


def argument(metavar: str, help: str, **more: Any) -> Any:
    return Declared(metavar, help, is_argument=True, **more)
