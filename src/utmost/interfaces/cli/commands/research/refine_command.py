"""`utmost research refine`: decide which of two channels is better, with proofs in both directions."""

from pathlib import Path
from typing import Annotated, Any

from utmost.errors import Infeasible, NotAChannel, OutOfRange
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import facts, grid, number, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents import channel_files
from utmost.tables.files.atomic import write_together

_SHOWN = 12

_SUMMARIES = {
    "refinement": {
        "equal": "equal for everyone: each channel is the other one with post-processing",
        "the first is above": "{0} is better for everyone: {1} is {0} with post-processing",
        "the second is above": "{1} is better for everyone: {0} is {1} with post-processing",
        "incomparable": "neither is better for everyone: one consumer prefers {0}, and another one prefers {1}",
    },
    "max-case": {
        "equal": "equal in the worst case: the posteriors of both have the same convex hull",
        "the first is above": "{1} is safer in the worst case: its posteriors are mixtures of the posteriors of {0}",
        "the second is above": "{0} is safer in the worst case: its posteriors are mixtures of the posteriors of {1}",
        "incomparable": "neither is safer in the worst case",
    },
    "privacy": {
        "equal": "both keep the same metric promises",
        "the first is above": "{1} keeps every metric promise that {0} keeps, and more",
        "the second is above": "{0} keeps every metric promise that {1} keeps, and more",
        "incomparable": "neither keeps every metric promise of the other",
    },
}


def show_comparison(comparison: dict[str, Any], written: Path | None) -> None:
    first, second = Path(comparison["first"]), Path(comparison["second"])
    names = (first.name, second.name) if first.name != second.name else (str(first), str(second))
    directions = [(comparison["second_below_first"], *names), (comparison["first_below_second"], *names[::-1])]
    shown = {
        "verdict": _SUMMARIES[comparison["order"]][comparison["relation"]].format(*names),
        "order": comparison["order"] + (", decided exactly" if comparison["exact"] else ", up to 1e-9"),
    }
    for part, above, below in directions:
        if part["holds"]:
            because = "yes"
        elif "consumer" in part:
            losses = []
            for side in ("below", "above"):
                value = part["consumer"][f"expected_loss_{side}"]
                loss = part["consumer"][f"expected_loss_{side}_exact"] or value
                losses.append(loss if loss and len(str(loss)) < 20 else number(value, 9))
            because = f"no: a consumer loses {losses[0]} with {below} and {losses[1]} with {above}"
        elif "outcome" in part:
            because = (
                f"no: the posterior of outcome {part['outcome']} of {below} is no mixture of posteriors of {above}"
            )
        else:
            (x, z), less, more = part["pair"], _ratio(part["ratio_above"]), _ratio(part["ratio_below"])
            because = (
                f"no: {below} multiplies the odds of secrets {x} and {z} by up to {more}, and {above} by at most {less}"
            )
        shown[f"{below} below {above}"] = because
    shown["checked"] = "yes, without a solver" if all(part["verified"] for part, *_ in directions) else "NO"
    if written is not None:
        shown["written"] = str(written)
    screen().print(facts(shown))
    for part, above, below in directions:
        if "remap" in part:
            remap = part["remap"]
            title = f"The post-processing: from the outcomes of {above} (rows) to those of {below} (columns)"
            _table(title, remap["outcomes"], remap["secrets"], remap["matrix"])
        elif "consumer" in part:
            loss = part["consumer"]["loss"]
            title = f"A consumer who prefers {below} to {above}: a uniform prior, and this loss (secrets x actions)"
            _table(title, [str(w) for w in range(len(loss[0]))], [str(x) for x in range(len(loss))], loss)


def _ratio(ratio: Any) -> str:
    text = str(ratio)
    return text if len(text) < 20 else number(_value(text))


def _value(text: str) -> float:
    top, _, below = text.partition("/")
    return float(int(top) / int(below or 1)) if "." not in text else float(text)


def _table(title: str, columns: list[str], rows: list[str], entries: list[list[Any]]) -> None:
    console = screen()
    console.print(ScreenText(f"\n{title}", style="bold"))
    if len(columns) > _SHOWN or len(rows) > _SHOWN:
        console.print(ScreenText(f"{len(rows)} x {len(columns)} entries: --out or --json has them", style="dim"))
        return
    cells = []
    for name, row in zip(rows, entries, strict=True):
        texts = [entry if isinstance(entry, str) else number(entry) for entry in row]
        cells.append([name, *(text if len(text) <= 12 else f"≈{number(_value(text))}" for text in texts)])
    console.print(grid(["", *columns], cells))


def refine(
    first: Annotated[file_options.File, file_options.file_argument("A.csv", "Channel as .csv or .json.")],
    second: Annotated[file_options.File, file_options.file_argument("B.csv", "Another channel on the same secrets.")],
    *,
    order: Annotated[
        str, option("NAME", "Order by which the channels are compared: refinement, max-case or privacy.")
    ] = "refinement",
    spelling: table_options.DecimalSpelling,
    out: Annotated[Path | None, option("FILE", "File for the proof (.json), or the remap alone (.csv).")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Decide, with proof, whether one channel is at least as good as another for everyone.

    utmost research refine higher.csv lower.csv

    More: docs/howto/compare-two-mechanisms.md
    """
    channels = channel_files.read(spelling.of(first)), channel_files.read(spelling.of(second))
    if channels[0].shape[0] != channels[1].shape[0]:
        came = f"{channels[0].shape[0]} in {first} and {channels[1].shape[0]} in {second}"
        raise NotAChannel(
            "both channels must have the same number of secrets",
            came=came,
            remedy="Name files with the same number of rows.",
        )
    comparison = {"first": str(first), "second": str(second), **channel_files.comparison(*channels, order)}
    path = file_options.file_of(out)
    is_remap_file = path is not None and path.suffix.lower() != ".json"
    if path is not None and is_remap_file:
        if path.suffix.lower() not in (".csv", ".tsv"):
            raise OutOfRange(
                "--out must end in .json for the whole comparison, or in .csv for the remap",
                came=path.name,
                remedy=f"Write --out {path.with_suffix('.json').name}.",
            )
        remaps = [
            comparison[key]["remap"]
            for key in ("second_below_first", "first_below_second")
            if "remap" in comparison[key]
        ]
        if not remaps:
            remedy = "Write --out comparison.json: this file has the losses of a consumer that prove it."
            raise Infeasible(
                "--out can be a .csv file only if a remap makes one channel of the other",
                came="two channels without a remap",
                remedy=remedy,
            )
        remap = channel_files.channel_of(remaps[0])
        write_together({path: lambda file: channel_files.write(remap, file, path)})
    if options.Output(None if is_remap_file else out, as_json).give(comparison):
        show_comparison(comparison, path)
