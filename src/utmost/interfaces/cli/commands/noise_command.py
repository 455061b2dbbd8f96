"""`utmost noise`: find the least noise for one cell; print why it is the least, and its margins."""

from fractions import Fraction
from typing import Any

from utmost.core.exact.written_levels import level_from_text, level_words
from utmost.core.noise.optimal import optimal_noise
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.screens.screen import facts, number, percent, screen
from utmost.interfaces.cli.screens.terminal import ScreenColumn, ScreenTable, ScreenText
from utmost.interfaces.documents.cost_files import cost_of
from utmost.interfaces.documents.reports import distribution_report
from utmost.publish.promises.declared_columns import read_numbers

_HALF = 20


def show_noise(report: dict[str, Any]) -> None:
    shown = {
        "why this distribution": report["theorem"],
        "level": f"epsilon = {level_words(level_from_text(report['epsilon']))}",
        "domain": report["domain"],
        **{name: number(Fraction(value)) for name, value in report["parameters"].items()},
        "mean absolute error": number(report["mean_absolute_error"], 4),
        "standard deviation": number(report["variance"] ** 0.5, 4),
    }
    for name, times in report["gain"].items():
        shown[f"gain over {name}"] = f"{name} noise has {times:.4g} times the expected cost ({report['cost']})"
    screen().print(ScreenText(report["text"], style="bold"), facts(shown), ScreenText("\nmargins", style="dim"))
    # Each row draws the margin at one confidence as a bar around the true value.
    longest = max(float(margin) for margin in report["margin"].values()) or 1.0
    rows = []
    for confidence, margin in report["margin"].items():
        half = round(float(margin) / longest * _HALF)
        bar = ScreenText(" " * (_HALF - half))
        bar.append("├" + "─" * (half - 1) if half else "", style="cyan")
        bar.append("●", style="bold cyan")
        bar.append("─" * (half - 1) + "┤" if half else "", style="cyan")
        rows.append((percent(confidence), f"± {number(margin)}", bar))
    columns = [ScreenColumn(right=is_number, wraps=False) for is_number in (True, True, False)]
    screen().print(ScreenTable(columns, rows))


def noise(
    sensitivity: options.Sensitivity,
    *,
    level: options.LevelOptions,
    cost: options.CostName = "absolute",
    numbers: options.Numbers = "integers",
    answer: options.Output,
) -> None:
    """Describe the least noise for one cell: its margins, and its gain over Laplace noise.

    utmost noise --epsilon 1 --sensitivity 5
    """
    goal = cost_of(cost)
    distribution = optimal_noise(level.read(), sensitivity, goal, read_numbers(numbers))
    report = distribution_report(distribution, goal)
    if answer.give(report):
        show_noise(report)
