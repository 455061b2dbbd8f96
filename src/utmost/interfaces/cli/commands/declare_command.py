"""`utmost declare`: add margins to a noisy table of another tool, and a statement that other commands read."""

from typing import Annotated, Any

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.noise.noise_of_others import DeclaredNoise, NoiseKind, declared_noise
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import facts, number, percent, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.interfaces.documents.reports import print_json
from utmost.publish.releases.noisy_table import NoisyTable, noisy_table
from utmost.tables.files import files
from utmost.tables.files.sidecars import sidecar_path

_KINDS: dict[str, NoiseKind] = {
    "discrete-laplace": "discrete laplace",
    "laplace": "laplace",
    "discrete-gaussian": "discrete gaussian",
    "gaussian": "gaussian",
}
_SIZES = ("scale", "epsilon", "sensitivity", "sigma", "variance")


def declare(
    table: file_options.TableFile,
    *,
    noise: Annotated[
        list[str],
        option(
            "COLUMN=KIND:SIZE",
            "Noise of a column: count=discrete-laplace:scale=2; other kinds are laplace:epsilon=1, gaussian:sigma=3 or "
            "discrete-gaussian:variance=COLUMN. Repeatable.",
        ),
    ],
    source: Annotated[str, option("TEXT", "Source that declares this noise, say OpenDP 0.12.")],
    claim: Annotated[str | None, option("TEXT", "Claim of the source about privacy, in words.")] = None,
    drop: Annotated[list[str] | None, option("NAMES", "Columns to leave out.", "--drop")] = None,
    confidence: options.Confidence = DEFAULT_CONFIDENCE,
    spelling: table_options.TextFileOptions,
    out: file_options.TableOut = None,
    form: options.Format = None,
    as_json: options.AsJson = False,
) -> None:
    """Add margins to a noisy table of another tool, from the noise that its source declares.

    utmost declare counts.csv --noise count=discrete-laplace:scale=2 --source "OpenDP 0.12" --out declared.csv

    Nothing is promised about the table.

    More: docs/howto/from-other-packages.md
    """
    out = table_options.output(out, form)
    table_options.check_output(out, table)
    listed = [name.strip() for names in drop or () for name in names.split(",")]
    declared: dict[str, DeclaredNoise] = {}
    for text in noise:  # COLUMN=KIND:NAME=SIZE,NAME=SIZE
        column, _, words = text.partition("=")
        kind, _, listed_sizes = words.partition(":")
        sizes: dict[str, Any] = {}
        for part in listed_sizes.split(","):
            name, equals, size = (piece.strip() for piece in part.partition("="))
            if name not in _SIZES or not equals or not size or name in sizes:
                known = kind.strip() if kind.strip() in _KINDS else "discrete-laplace"
                example = "scale=2" if "laplace" in known else "sigma=3"
                remedy = f"Write, for example, --noise {column.strip() or 'count'}={known}:{example}."
                raise OutOfRange("--noise must be COLUMN=KIND:NAME=SIZE", came=repr(text)[:80], remedy=remedy)
            sizes[name] = size
        if kind.strip() not in _KINDS:
            remedy = f"Write, for example, --noise {column}=discrete-laplace:scale=2."
            kinds = ", ".join(_KINDS).replace("discrete-laplace", "discrete-laplace (two-sided geometric)")
            raise OutOfRange(f"the kind of --noise must be one of {kinds}", came=repr(kind)[:60], remedy=remedy)
        declared[column.strip()] = declared_noise(_KINDS[kind.strip()], **sizes)
    if len(declared) < len(noise):
        raise OutOfRange("each column must have only one --noise", came="two", remedy="Leave out one of the two.")
    read = files.read(spelling.of(table))
    made = noisy_table(read, declared, source=source, claim=claim, drop=listed, confidence=confidence)
    report = made.statement if out is None else made.save(out)
    if as_json:
        return print_json(report | {"values": files.columns(made.table)})
    if out is None:
        table_options.give_table(made.table, form)
    rows = {name: f"{one.words}; {_margin(made, name)}" for name, one in made.declaration.noise.items()}
    if out is not None:
        rows["written"] = f"{out} and {sidecar_path(out)}"
    screen(stderr=out is None).print(ScreenGroup(ScreenText(f"{made.guarantee}\n"), facts(rows)))


def _margin(made: NoisyTable, name: str) -> str:
    margin = made.declaration.margins[f"{name}_margin"]
    sure = percent(float(made.confidence))
    return f"margins at {sure} in '{name}_margin'" if margin is None else f"± {number(margin)} at {sure}"
