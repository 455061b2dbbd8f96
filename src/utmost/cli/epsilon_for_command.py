"""`utmost epsilon-for`: the least epsilon whose error bar is short enough."""

from typing import Annotated, Any

import typer

from utmost.cli import options
from utmost.cli.screen import busy, facts, number, percent, screen
from utmost.documents.reports import plan_report
from utmost.release import Plan, plan_release
from utmost.release import epsilon_for as least_epsilon
from utmost.release.statements import guarantee


def show_plan(plan: Plan, *, wanted: str) -> None:
    """Print the level of a plan beside the error bar that it was found for."""
    shown = {
        "epsilon": number(plan.level.epsilon),
        "error bar": f"± {number(plan.radius)} at {percent(plan.confidence)} confidence (wanted: ± {wanted})",
        "noise": f"{plan.drawn!r} on each released cell" + ("" if plan.grid is None else f", in steps of {plan.grid}"),
        "why this noise": plan.theorem,
        "promise": guarantee(plan),
    }
    screen().print(facts(shown))


def epsilon_for(
    radius: Annotated[str, typer.Option(metavar="NUMBER", help="The error bar that you want: ± this much.")],
    sensitivity: options.Sensitivity,
    *,
    confidence: options.Confidence = "0.95",
    cells: options.Cells = 1,
    cost: options.Cost = "absolute",
    domain: options.Domain = "integers",
    neighbours: options.Neighbours = "add-remove",
    relaxable: options.Relaxable = False,
    answer: options.Answer,
) -> None:
    """Find the least epsilon, to three digits, for a wanted error bar.

    The answer is the least number of three digits at which `utmost release` states an error bar as short as that.
    """
    promise: dict[str, Any] = {"cost": cost, "domain": domain, "neighbours": neighbours, "relaxable": relaxable}
    with busy("Searching"):
        epsilon = least_epsilon(radius, confidence, sensitivity=sensitivity, cells=cells, **promise)
    plan = plan_release(epsilon, sensitivity=sensitivity, cells=cells, confidence=confidence, **promise)
    answer.give(plan_report(plan), lambda: show_plan(plan, wanted=radius))
