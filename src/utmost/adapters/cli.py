"""The command line: one small file for each command, and one way to say that something is wrong.

Exit codes: 0 done; 1 refused by the data or a promise would break; 2 misuse.
"""

import sys
from typing import Annotated

import typer

from utmost.adapters.commands.capacity import capacity
from utmost.adapters.commands.compare import compare
from utmost.adapters.commands.design import design
from utmost.adapters.commands.epsilon_for import epsilon_for
from utmost.adapters.commands.kernels import kernels
from utmost.adapters.commands.leakage import leakage
from utmost.adapters.commands.ledger import app as ledger
from utmost.adapters.commands.noise import noise
from utmost.adapters.commands.read import read
from utmost.adapters.commands.refine import refine
from utmost.adapters.commands.relax import relax
from utmost.adapters.commands.release import release
from utmost.adapters.commands.reproduce import reproduce
from utmost.adapters.commands.universal import universal
from utmost.adapters.commands.vertices import vertices
from utmost.adapters.commands.view import view
from utmost.errors import NotALevel, NotANumber, OutOfRange, Unsupported, UtmostError
from utmost.version import __version__

_MISUSE = (NotALevel, NotANumber, OutOfRange, Unsupported)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    release,
    relax,
    view,
    noise,
    compare,
    epsilon_for,
    read,
    design,
    leakage,
    refine,
    capacity,
    vertices,
    kernels,
    universal,
    reproduce,
):
    app.command()(command)
app.add_typer(ledger, name="ledger")


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
