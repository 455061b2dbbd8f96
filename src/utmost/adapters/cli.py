"""The command line: parse, one library call, print."""

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def _root() -> None:
    """Provably optimal differential privacy: the least noise a level allows, drawn exactly."""


def main() -> None:
    """Run the command line."""
    app()
