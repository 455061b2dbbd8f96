"""The three kinds of words on a command line, as options are declared: what takes a value, a flag, an argument."""

from typing import Any

import typer


def option(metavar: str | None, help: str, *names: str, **more: Any) -> Any:
    """An option that takes a value, to stand in ``Annotated``; named as its parameter unless names are given."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def flag(help: str, *names: str) -> Any:
    """An option that is there or not; it has no opposite unless names say one."""
    return typer.Option(*names, help=help)


def argument(metavar: str, help: str, **more: Any) -> Any:
    """A word by its place."""
    return typer.Argument(metavar=metavar, help=help, **more)
