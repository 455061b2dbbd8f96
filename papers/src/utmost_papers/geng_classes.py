"""Compute the least cost in classes of noise distributions by exact linear programs (Geng, Lemmas 17 to 31).

An even distribution is given by its values v_0, v_1, ..., v_(n-1) right of 0; after these, the last D values are
repeated without end, multiplied by alpha at each repetition. On the integers v_k is the probability of k and of -k. On
the reals v_k is the density on the cells k and -k-1; D cells make up the sensitivity.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import inf
from typing import Any, Literal

from utmost.core.noise.costs import Moment, absolute, moment
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.linear_program import LinearProgram
from utmost.design.optima.periodic_noise import discounted

F = Fraction
PERIODS = 3
DistributionClass = Literal["even", "falling", "decaying", "ending"]
Row = tuple[dict[int, Any], Any, Any]


def least_in_class(
    D: int,
    cost: Moment,
    alpha: Fraction,
    within: DistributionClass,
    numbers: Literal["integers", "reals"],
) -> Fraction:
    """Return the least expected |x| or x^2 of a private distribution in a class; on the reals the unit is a cell."""
    # Each class contains the next: "even" contains all even distributions, "falling" those that decrease on both sides
    # of 0, "decaying" those with v_(k+D) = alpha v_k, and "ending" those with v_(D-1) = alpha v_0.
    n = D if within in ("decaying", "ending") else PERIODS * D
    masses, costs = zip(*(_mass_and_cost(k, n, D, cost, alpha, numbers) for k in range(n)), strict=True)
    rows: list[Row] = [(dict(enumerate(masses)), F(1), F(1)), *_private(n, D, alpha)]
    if within != "even":
        rows += [({k: F(1), k + 1: F(-1)}, F(0), inf) for k in range(n - 1)]
    if within == "ending":
        rows.append(({D - 1: F(1), 0: -alpha}, F(0), F(0)))
    program = LinearProgram.of_triplets(
        cost=list(costs),
        rows=[i for i, (row, _, _) in enumerate(rows) for _ in row],
        columns=[k for row, _, _ in rows for k in row],
        values=[value for row, _, _ in rows for value in row.values()],
        lower=[low for _, low, _ in rows],
        upper=[high for _, _, high in rows],
    )
    return Fraction(solve_exactly(program).value)


def cost_of_cells(k: int, D: int, cost: Moment, alpha: Fraction, numbers: str) -> Fraction:
    """Return sum_j alpha^j c(k + j D), where c(i) is the cost at integer i, or its mean over the cell [i, i + 1)."""

    def sum_of(order: int) -> Fraction:
        return Fraction(discounted(moment(order), k, D, alpha)) if order else 1 / (1 - alpha)

    if numbers == "integers":
        return sum_of(int(cost.order))
    return sum_of(1) + sum_of(0) / 2 if cost == absolute else sum_of(2) + sum_of(1) + sum_of(0) / 3


def _mass_and_cost(k: int, n: int, D: int, cost: Moment, alpha: Fraction, numbers: str) -> tuple[Fraction, Fraction]:
    """Return by how much the total mass and the expected cost grow if v_k and all its repetitions grow by 1."""
    at_zero = numbers == "integers" and k == 0
    both = F(1) if at_zero else F(2)
    unrepeated = cost_of_cells(k, D, cost, F(0), numbers) if alpha else F(0)
    if k < n - D:
        return both, both * unrepeated
    return both + 2 * alpha / (1 - alpha), both * unrepeated + 2 * alpha * cost_of_cells(k + D, D, cost, alpha, numbers)


def _private(n: int, D: int, alpha: Fraction) -> Iterator[Row]:
    """Yield the privacy constraints v_k >= alpha v_l for |k - l| <= D; values from v_n on repeat the last D values."""

    def at(k: int) -> tuple[int, Fraction]:
        return (k, F(1)) if k < n else (k - D, alpha)

    for k in range(n):
        for other in range(max(0, k - D), min(n + D - 1, k + D) + 1):
            (mine, high), (theirs, low) = at(k), at(other)
            if mine != theirs:
                yield {mine: high, theirs: -alpha * low}, F(0), inf
                yield {theirs: low, mine: -alpha * high}, F(0), inf
