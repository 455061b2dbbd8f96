"""The command line: one small file for each command, and one way to say that something is wrong.

Exit codes: 0 done; 1 refused by the data or a promise would break; 2 misuse.
"""

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from utmost.errors import NotALevel, NotANumber, OutOfRange, Unsupported, UtmostError
from utmost.version import __version__

COMMANDS = {
    "release": "Publish a table: its cells noised, a statement beside it.",
    "verify": "Check a published table against its statement.",
    "relax": "Answer a release of a ledger again, at a larger level.",
    "view": "Show a release at any level that has been answered.",
    "ledger": "Look after a ledger: check it, budget it, copy it.",
    "noise": "Describe one cell's optimal noise, its error bars, its gain.",
    "compare": "Draw how much more Laplace noise costs, by epsilon.",
    "epsilon-for": "Find the least epsilon for a wanted error bar.",
    "read": "Turn a released count into the best answer for you.",
    "design": "Find the best private mechanism for a consumer.",
    "leakage": "Say what a channel leaks, by any measure.",
    "refine": "Say which of two channels is better for everyone.",
    "capacity": "Find the most that any mechanism of a type leaks.",
    "vertices": "List or count the extreme posteriors of a type.",
    "kernels": "List or count the mechanisms that make all others.",
    "universal": "Decide whether one mechanism is best for every prior.",
    "reproduce": "Compute a paper's figures and numbers beside its own.",
}
"""Every command and what it does, in the order in which people meet them; its file is read when it is called."""

_MISUSE = (NotALevel, NotANumber, OutOfRange, Unsupported)
_MANNER: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Commands(TyperGroup):
    """The commands by their names, each imported only when it is called: help is quick, and so is every command."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return command_named(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def command_named(name: str) -> Any:
    """The command as typer runs it, from the file of its name."""
    module = import_module(f"utmost.adapters.commands.{name.replace('-', '_')}")
    group = getattr(module, "app", None)
    if group is None:
        group = typer.Typer(**_MANNER)
        group.command(name)(getattr(module, name.replace("-", "_")))
    return typer.main.get_command(group)


app = typer.Typer(no_args_is_help=True, cls=_Commands, **_MANNER)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"utmost {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Provably optimal differential privacy: the least noise a level allows, drawn exactly."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line, and leave the process with its exit code."""
    try:
        app(args=arguments, prog_name="utmost")
    except UtmostError as error:
        _fail(str(error), 2 if isinstance(error, _MISUSE) else 1)
    except OSError as error:
        _fail(f"{error.filename or 'file'}: {error.strerror or error}", 1)


def _fail(message: str, code: int) -> None:
    """One message on standard error, and the exit code."""
    sys.stderr.write(f"utmost: {message}\n")
    sys.exit(code)
