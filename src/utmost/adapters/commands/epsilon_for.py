"""`utmost epsilon-for`: the least epsilon of three digits whose error bar is as short as wanted."""

from typing import Annotated, Any

import typer

from utmost.adapters import options
from utmost.adapters.reports import plan_report, print_json
from utmost.release import epsilon_for as least_epsilon
from utmost.release import plan_release


def epsilon_for(
    radius: Annotated[str, typer.Option(metavar="NUMBER", help="The error bar that you want: ± this much.")],
    sensitivity: options.Sensitivity,
    confidence: options.Confidence = "0.95",
    cells: options.Cells = 1,
    cost: options.Cost = "absolute",
    domain: options.Domain = "integers",
    neighbours: options.Neighbours = "add-remove",
    relaxable: options.Relaxable = False,
    as_json: options.AsJson = False,
) -> None:
    """Find the least epsilon, to three digits, for a wanted error bar.

    The answer is the least number of three digits at which `utmost release` states an error bar as short as that.
    """
    promise: dict[str, Any] = {"cost": cost, "domain": domain, "neighbours": neighbours, "relaxable": relaxable}
    from utmost.adapters.screens.progress import busy

    with busy("Searching"):
        epsilon = least_epsilon(radius, confidence, sensitivity=sensitivity, cells=cells, **promise)
    plan = plan_release(epsilon, sensitivity=sensitivity, cells=cells, confidence=confidence, **promise)
    if as_json:
        return print_json(plan_report(plan))
    from utmost.adapters.screens.plan import show_plan

    show_plan(plan, wanted=radius)
