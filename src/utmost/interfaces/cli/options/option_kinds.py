"""The three kinds of words on a command line: what takes a value, a flag, an argument; as declared, and as click's."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import click

GROUP = "title"
"""The attribute of an option with its title in the help."""

SHARED = "Options of many commands"
"""The title of options that `utmost --help` explains; the help of a command only names them."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A word as it is declared, to stand in ``Annotated``.

    Attributes:
        names: Spellings, where it is not spelled as its parameter; "--demo/--no-demo" has an opposite.
        parser: Function from a text to its value. exists, file_okay, dir_okay: Conditions on a path.
        min, max: the range of a number. show_default: what holds where it is left out, if the default does not say it.
        envvar: a variable of the environment that says it, too; the help adds its name if show_envvar.
        first: a function that is called with the value before any other option is read.
    """

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
        """The word as it is typed, where its parameter has this name: its first name without an opposite."""
        return self.names[0] if self.names else f"--{name.replace('_', '-')}"

    def parameter(self, name: str, annotation: Any, default: Any, title: str | None) -> click.Parameter:
        """The word as click reads it.

        Args:
            name, annotation, default: Name, annotation and default of its parameter; `inspect.Parameter.empty` where
                it has no default.
            title: under which the help shows it.
        """
        kind, several = _kind(annotation)
        known: dict[str, Any] = {"metavar": self.metavar, "help": self.help, "type": self._type(kind)}
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

    def _type(self, kind: Any) -> click.ParamType[Any]:
        if self.parser is not None:
            return _Read(self.parser)
        if kind is Path:
            return click.Path(self.exists, self.file_okay, self.dir_okay, path_type=Path)
        if kind in (int, float):
            return _Number(kind, self.min, self.max)
        return click.Choice(get_args(kind)) if get_origin(kind) is Literal else click.STRING


class _Read(click.ParamType[Any]):
    """A value that a function makes of a text; what the function refuses, it says itself."""

    name = "file"

    def __init__(self, parser: Callable[[str], Any]) -> None:
        self._parser = parser

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return self._parser(value) if type(value) is str else value


class _Number(click.FloatRange):
    """An integer, or a number, within bounds where there are any.

    Python reads "1_0" as ten, and click with it, and digits of other scripts; no other door does, see `spelled`.
    """

    def __init__(self, kind: type[int] | type[float], least: Any, most: Any) -> None:
        super().__init__(least, most)
        self.name, self._number_class = "integer" if kind is int else "number", kind

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if type(value) is str and ("_" in value or not value.isascii()):
            raise click.BadParameter(f"{value!r} is not a valid {self.name}.", ctx=ctx, param=param)
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            remedy = "" if param is None else f" Write {param.opts[-1]} {1 if self.min is None else self.min}, say."
            raise click.BadParameter(error.message + remedy, ctx=ctx, param=param) from None

    def _describe_range(self) -> str:
        return "" if self.min is self.max is None else super()._describe_range()


def _listed(several: bool, value: Any) -> Any:
    return (list(value) or None) if several and value is not None else value


class _Option(click.Option):
    """An option, or a key of a recipe; several values are a list, and None where none came."""

    def get_error_hint(self, ctx: Any) -> str:
        """The place of a wrong value: the option, or the key where the command line has no such option."""
        is_key = ctx is not None and self not in ctx.command.params
        return f"{self.opts[-1].lstrip('-')!r} in the recipe" if is_key else super().get_error_hint(ctx)

    def process_value(self, ctx: Any, value: Any) -> Any:
        return _listed(self.multiple, super().process_value(ctx, value))


class _Argument(click.Argument):
    """An argument; several values are a list. The usage shows by brackets that it may be left out."""

    def get_usage_pieces(self, ctx: Any) -> list[str]:
        return [self.human_readable_name if self.required else f"[{self.human_readable_name}]"]

    def process_value(self, ctx: Any, value: Any) -> Any:
        return _listed(self.nargs == -1, super().process_value(ctx, value))


def _kind(annotation: Any) -> tuple[Any, bool]:
    """The kind of a value, whether or not it may be left out, and whether several are taken."""
    if get_origin(annotation) in (UnionType, Union):  # a union with a literal type is one of typing
        annotation = next(each for each in get_args(annotation) if each is not type(None))
    several = get_origin(annotation) is list
    return (get_args(annotation)[0] if several else annotation), several


def option(metavar: str | None, help: str, *names: str, **more: Any) -> Any:
    """An option that takes a value, to stand in ``Annotated``; named as its parameter unless names are given."""
    return Declared(metavar, help, names, **more)


def flag(help: str, *names: str) -> Any:
    """An option that is there or not; it has no opposite unless names say one."""
    return Declared(None, help, names)


def argument(metavar: str, help: str, **more: Any) -> Any:
    """A word by its place."""
    return Declared(metavar, help, is_argument=True, **more)
