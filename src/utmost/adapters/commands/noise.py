"""`utmost noise`: the optimal law of one cell for a level and a sensitivity."""

from utmost.adapters import options
from utmost.adapters.reports import law_report, print_json
from utmost.exact import level
from utmost.noise import optimal_noise
from utmost.noise.cost_names import cost_named


def noise(
    sensitivity: options.Sensitivity,
    epsilon: options.Epsilon = None,
    alpha: options.Alpha = None,
    cost: options.Cost = "absolute",
    domain: options.Domain = "integers",
    as_json: options.AsJson = False,
) -> None:
    """Describe the optimal additive noise of one cell at a level of its own, its error bars and its gain."""
    goal = cost_named(cost)
    law = optimal_noise(level(epsilon, alpha), sensitivity, goal, domain)  # type: ignore[arg-type]
    report = law_report(law, goal)
    if as_json:
        return print_json(report)
    from utmost.adapters.screens.noise import show_noise

    show_noise(report)
