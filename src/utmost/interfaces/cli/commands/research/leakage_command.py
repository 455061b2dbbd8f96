"""`utmost research leakage`: compute the leakage of channels by a measure, and compare the channels."""

from decimal import ROUND_CEILING, Context
from pathlib import Path
from typing import Annotated, Any

from utmost.design.leakage.measures import Measure
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import file_options, research_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.screens.screen import facts, grid, number, others, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents import channel_files
from utmost.interfaces.documents.measure_names import leakage_report, prior_of
from utmost.interfaces.documents.space_names import space_named
from utmost.tables.files.atomic import write_together

_SHOWN, _LONGEST = 24, 23
# Context for rounding an epsilon up.
_UPWARD = Context(prec=12, rounding=ROUND_CEILING)
_ROWS = (
    ("prior", "before"),
    ("posterior", "after"),
    ("multiplicative_leakage", "multiplicative leakage"),
    ("additive_leakage", "additive leakage"),
    ("multiplicative_capacity", "multiplicative capacity, this measure"),
    ("additive_capacity", "additive capacity, this measure"),
    ("multiplicative_capacity_any_gain", "multiplicative capacity, gains >= 0"),
    ("additive_capacity_any_gain", "additive capacity, vulnerability 0..1"),
    ("max_case_capacity", "max-case capacity, gains >= 0"),
)


def show_leakage(reports: dict[str, dict[str, Any]], measure: Measure, prior: str, plot: Path | None) -> None:
    first = next(iter(reports.values()))
    console = screen()
    shown = {
        "measure": measure.name + (f": {measure.meaning}" if measure.meaning else ""),
        "prior": f"{prior} on {first['secrets']} secrets",
    }
    if len(reports) == 1:
        ((title, report),) = reports.items()
        many, left = _counted(report["outcomes"], "outcome"), report["posteriors"]
        if left != report["outcomes"]:
            many = f"{many} that leave {_counted(left, 'posterior')}"
        shown = {"channel": f"{title}, {many}", **shown}
        shown |= {name: _row_text(report, key) for key, name in _ROWS}
        if "smallest_epsilon" in report:
            shown["smallest epsilon"] = _epsilon(report)
    if plot is not None:
        shown["drawn"] = str(plot)
    console.print(facts(shown))
    if len(reports) > 1:
        rows = [[name, *(_row_text(report, key) for report in reports.values())] for key, name in _ROWS]
        rows.append(["different posteriors", *(str(report["posteriors"]) for report in reports.values())])
        if any("smallest_epsilon" in report for report in reports.values()):
            rows.append(["smallest epsilon", *(_epsilon(report, short=True) for report in reports.values())])
        console.print(grid(["", *reports], rows))

        leaks = {title: report["additive_leakage"]["value"] for title, report in reports.items()}
        least = min(leaks.values())
        # Two leaks that may differ only by rounding of floats count as equal.
        who = [title for title, leak in leaks.items() if leak <= least * (1 + 1e-12)]
        verdict = "All channels leak the same amount by this measure and prior."
        if len(who) < len(leaks):
            who_leaks = f"{' and '.join(who)} {'leaks' if len(who) == 1 else 'leak'}"
            verdict = f"{who_leaks} least by this measure and prior; another measure or prior may change the order."
        console.print(ScreenText(verdict))
    elif (best := first["strategy"]) is not None:
        console.print(ScreenText("\nThe best action of an attacker for each outcome", style="bold"))
        if best and "order" in best[0]:
            rows = [[each["outcome"], " ".join(each["order"][:_SHOWN])] for each in best[:_SHOWN]]
            console.print(grid(["outcome", "guess the secrets in this order"], rows))
        else:
            rows = [
                [each["outcome"], each["action"], "another action is as good" if each["tie"] else ""]
                for each in best[:_SHOWN]
            ]
            console.print(grid(["outcome", "action", ""], rows))
        console.print(*others(len(best) - _SHOWN, "more outcomes"))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _epsilon(report: dict[str, Any], *, short: bool = False) -> str:
    smallest = report["smallest_epsilon"]
    if smallest["pair"] is None:
        return "0"
    value = "infinity" if smallest["value"] is None else str(_UPWARD.create_decimal_from_float(smallest["value"]))
    if short:
        return value
    exactly = f" ({smallest['level']})" if smallest["level"] else ""
    first, second = smallest["pair"]
    return f"{value}{exactly}, for secrets {first} and {second} at outcome {smallest['outcome']}"


def _row_text(report: dict[str, Any], key: str) -> str:
    if report[key] is not None:
        return value_text(report[key])
    is_factor = key.startswith("multiplicative") and report["multiplicative_leakage"] is None
    return "not defined: some gains are negative" if is_factor else "not computed"


def value_text(value: dict[str, Any]) -> str:
    """Format a number to six digits with its exact value, if the exact value is short; otherwise to twelve digits."""
    if value["value"] is None:
        return str(value["exact"])
    exactly = value["exact"]
    if exactly is None or len(exactly) > _LONGEST:
        return number(value["value"], 12)
    short = number(value["value"])
    return short if short == exactly else f"{short} = {exactly}"


def leakage(
    channels: Annotated[
        list[file_options.File],
        file_options.file_argument("CHANNEL...", "Matrices as .csv or .json; rows are secrets."),
    ],
    *,
    prior: options.PriorName = "uniform",
    measure: research_options.MeasureOptions,
    space: research_options.SpaceText = None,
    plot: options.Plot = None,
    spelling: table_options.DecimalSpelling,
    answer: options.Output,
) -> None:
    """Measure how much better a secret is guessed after an outcome of a channel.

    utmost research leakage geometric.csv response.csv --space line:3

    More: docs/howto/compare-two-mechanisms.md
    """
    stems = [path.stem for path in channels]  # files of one name are told apart by their complete paths
    titles = [path.stem if stems.count(path.stem) == 1 else str(path) for path in channels]
    read = {title: channel_files.read(spelling.of(path)) for title, path in zip(titles, channels, strict=True)}
    sizes = {title: C.shape[0] for title, C in read.items()}
    if len(set(sizes.values())) > 1:
        came = ", ".join(f"{title} has {size}" for title, size in sizes.items())
        remedy = "Name files with the same number of rows."
        raise OutOfRange("channels that are compared must have the same number of secrets", came=came, remedy=remedy)
    secrets = next(iter(sizes.values()))
    along = None if space is None else space_named(space)
    if along is not None and along.size != secrets:
        raise OutOfRange(
            f"--space must have {secrets} secrets, as the channels have",
            came=along.size,
            remedy=f"Write, for example, --space line:{secrets}.",
        )
    named = None if along is None else along.names
    labels = next(iter(read.values())).secrets if named is None else named
    by, belief = measure.read(), prior_of(prior, secrets, labels)
    reports = {title: leakage_report(C, belief, by, along) for title, C in read.items()}
    if plot is not None:
        from utmost.interfaces.figures.simplex_pictures import hyper_figure

        write_together({plot: lambda file: hyper_figure(read, belief, along, file, plot)})
    report = {"prior": prior, "space": space, "channels": reports}
    if answer.give(report):
        show_leakage(reports, by, prior, plot)
