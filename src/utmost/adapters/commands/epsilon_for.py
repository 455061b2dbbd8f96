"""`utmost epsilon-for`: the least epsilon whose error bar is as short as wanted."""

from typing import Annotated, Any

import typer

from utmost.adapters import options
from utmost.adapters.screen import busy, facts, number, percent, print_json, screen
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
    """Find the least epsilon at which `utmost release` states an error bar as short as you want."""
    promise: dict[str, Any] = {"cost": cost, "domain": domain, "neighbours": neighbours, "relaxable": relaxable}
    with busy("Searching"):
        epsilon = least_epsilon(radius, confidence, sensitivity=sensitivity, cells=cells, **promise)
        plan = plan_release(epsilon, sensitivity=sensitivity, cells=cells, confidence=confidence, **promise)
    shown = {
        "epsilon": number(epsilon),
        "error bar": f"± {number(plan.radius)} at {percent(plan.confidence)} (wanted: ± {radius})",
        "noise": f"{plan.law!r} on each cell",
        "why this noise": plan.theorem,
    }
    if as_json:
        print_json({"epsilon": str(epsilon), "radius": plan.radius, "confidence": float(plan.confidence)})
    else:
        screen().print(facts(shown))
