"""What `utmost epsilon-for` shows: the level found, and what it promises."""

from utmost.adapters.screens.parts import facts, number, percent, screen
from utmost.release import Plan
from utmost.release.statement import guarantee


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
