"""`utmost noise`: the optimal law for a level and a sensitivity."""

from typing import Any

from rich.console import Group
from rich.text import Text

from utmost.adapters import options
from utmost.adapters.screen import facts, grid, number, percent, print_json, screen
from utmost.exact import level
from utmost.noise import optimal_noise
from utmost.noise.cost_names import cost_named

CONFIDENCES = ("0.5", "0.8", "0.9", "0.95", "0.99", "0.999")


def noise(
    sensitivity: options.Sensitivity,
    epsilon: options.Epsilon = None,
    alpha: options.Alpha = None,
    cost: options.Cost = "absolute",
    domain: options.Domain = "integers",
    as_json: options.AsJson = False,
) -> None:
    """Describe the optimal noise for one cell: its law, the theorem, error bars, and the gain over other noise."""
    found = optimal_noise(level(epsilon, alpha), sensitivity, cost=cost_named(cost), domain=domain)
    said = _said(found)
    if as_json:
        print_json(said)
    else:
        screen().print(_picture(said))
