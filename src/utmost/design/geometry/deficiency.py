r"""The largest advantage of a channel B over a channel A at a prior: Le Cam's deficiency, and the additive capacity.

For a gain function g and a prior p let V_g[p, C] be the posterior vulnerability. The distance of B from the refinements
of A is the largest V_g[p, B] - V_g[p, A] over all gains g of a class. The distance is 0 if and only if B is a
post-processing of A, on the secrets of positive prior probability. For two classes of gains, duality gives the distance
as a minimum over remaps:

- *gains in [0, 1]*: the distance is the least mean total variation between B and a remap of A,

  .. math:: \min_R \sum_x p_x \tfrac12 \lVert B_x - (AR)_x \rVert_1,

  because V_g[p, A] is the maximum over remaps R of sum p_x (AR)_{xy} g(y, x), and maximum and minimum may be
  exchanged. The distance is Le Cam's deficiency at the prior;
- *gains of at most 1 whose vulnerabilities are never negative*, a larger class: an action with gain 0 is allowed, and g
  may be arbitrarily negative where AR exceeds B. So the distance is one minus the largest sum of p_x (AR)_{xy} over
  nonnegative R whose rows sum to at most 1, with AR <= B on the secrets of positive probability.

The additive capacity of B at the prior is the distance of B from a channel that reveals nothing. For the larger class
the additive capacity is 1 - sum_y min_x B[x, y], with the minimum over the secrets of positive probability; the
capacity depends on the prior only through the set of these secrets.

Source: [lecam1964] (deficiency), [alvim2014] (the capacities); the larger class is that of libqif's `add_metric`.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, Literal

import numpy as np

from utmost.core.exact.arguments import one_of
from utmost.core.exact.arrays import Array, as_array, frozen, objects
from utmost.core.exact.display import Display
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.linear_program import LinearProgram, LinearSolution
from utmost.design.channels.channel import Channel
from utmost.design.leakage.channel_capacity import as_channel
from utmost.design.leakage.measures import g_vulnerability
from utmost.errors import NotAChannel, OutOfRange, Unsupported

Gains = Literal["unit", "never negative"]
"""Gains between 0 and 1; or gains of at most 1 whose vulnerabilities are at least 0 for every prior."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RefinementDistance(Display):
    """The largest advantage of the channel `worse` over the channel `better` at a prior, for a class of gains, with a
    proof.
    """

    value: Fraction
    better: Channel  # channel A
    worse: Channel  # B; the value is the largest advantage of B over A
    prior: Array
    gains: Gains  # the class of gains
    gain: Array  # (n, k), with V[prior, worse] - V[prior, better] = value
    # (m, k) remap that proves that no gain of the class has a larger difference; rows sum to 1, or to at most 1 for the
    # class "never negative".
    remap: Array

    _shown = ("value", "gains")

    def verify(self) -> bool:
        """Check exactly, without a solver, that `gain` proves `value` as a lower bound, and `remap` as an upper
        bound.
        """
        if self.remap.shape != (self.better.shape[1], self.worse.shape[1]):
            return False
        measure = g_vulnerability(self.gain)
        attained = measure.posterior(self.worse, self.prior) - measure.posterior(self.better, self.prior)
        # Only secrets of positive probability matter.
        mass = self.prior > 0
        reached = self.better.matrix.dot(self.remap)[mass]
        goal, weights = self.worse.matrix[mass], self.prior[mass]
        if (self.remap < 0).any() or attained != self.value:
            return False
        sums = self.remap.sum(axis=1)
        if self.gains == "unit":
            bound = (weights * np.maximum(goal - reached, 0).sum(axis=1)).sum()
            return bool((self.gain >= 0).all() and (self.gain <= 1).all() and (sums == 1).all() and bound == self.value)
        silent = (self.gain == 0).all(axis=0).any()
        fits = (reached <= goal).all() and (sums <= 1).all()
        return bool(
            silent and (self.gain <= 1).all() and fits and 1 - (weights * reached.sum(axis=1)).sum() == self.value
        )


def refinement_distance(
    *, better: Channel | object, worse: Channel | object, prior: object, gains: Gains = "unit"
) -> RefinementDistance:
    """Return the largest V_g[prior, worse] - V_g[prior, better] over a class of gains g, exactly.

    Args:
        better: Channel (n, m) of rationals.
        worse: Channel (n, k) of rationals.
        prior: Prior of n rationals.
        gains: "unit" for gains between 0 and 1; "never negative" for gains of at most 1 whose vulnerabilities are never
            negative, the class of libqif's ``add_metric``.

    Raises:
        NotAChannel: if the channels have different numbers of secrets.
        OutOfRange: if ``gains`` names no class of gains, or if the prior is invalid.
        Unsupported: if a channel or the prior has floats.

    Cost: a linear program of (m + n) k variables, solved in rationals.

    >>> from utmost.channels import geometric_channel
    >>> higher, lower = geometric_channel(3, alpha="1/4"), geometric_channel(3, alpha="1/2")
    >>> uniform = ["1/3"] * 3
    >>> found = refinement_distance(better=lower, worse=higher, prior=uniform)
    >>> str(found.value), found.verify(), refinement_distance(better=higher, worse=lower, prior=uniform).value
    ('8/45', True, Fraction(0, 1))
    """
    one_of(gains, Gains, "gains", "gains")
    first, second = as_channel(better), as_channel(worse)
    belief = as_array(prior, "prior", ndim=1)
    if first.shape[0] != second.shape[0] or len(belief) != first.shape[0]:
        came = f"{first.shape[0]}, {second.shape[0]} and {len(belief)}"
        raise NotAChannel("both channels and the prior must have the same number of secrets", came=came)
    if not (first.is_exact and second.is_exact and belief.dtype == object):
        remedy = "Write fractions: rounded numbers have no exact refinement."
        raise Unsupported("the channels and the prior must be rational", came="floats", remedy=remedy)
    if (belief < 0).any() or belief.sum() != 1:
        came = f"a sum of {belief.sum()} and a smallest entry of {belief.min()}"
        raise OutOfRange(
            "the prior must be nonnegative and sum to 1",
            came=came,
            where="prior",
            remedy="priors.from_counts(weights) makes a prior.",
        )
    mass = belief > 0
    parts = first.matrix[mass], second.matrix[mass], belief[mass]
    value, duals, remap = (_least_distance_of_unit_gains if gains == "unit" else _least_distance_of_silent_gains)(
        *parts
    )
    n, k = second.shape
    gain = np.full((n, k + (gains != "unit")), Fraction(0), dtype=object)
    gain[mass, :k] = duals
    return RefinementDistance(value, first, second, frozen(belief), gains, frozen(gain), frozen(remap))


def additive_capacity_at(channel: Channel | object, prior: object, *, gains: Gains = "unit") -> RefinementDistance:
    """Return the largest additive leakage of a channel at a prior, over a class of gains, exactly.

    The result is the distance of the channel from a channel that reveals nothing, together with a gain function that
    attains this distance. (For a third class, in which the gains of each action differ by at most 1, the largest
    leakage is sum_y sum_x (p_x C[x, y] - p_x p(y))^+, which is at least the value for "unit".)

    Args:
        channel: Channel (n, m) of rationals.
        prior: Prior of n rationals.
        gains: Class of gains, as for `refinement_distance`.

    Raises:
        NotAChannel, OutOfRange, Unsupported: if `refinement_distance` raises them.

    Source: [alvim2014].

    >>> from utmost.channels import geometric_channel
    >>> both = [additive_capacity_at(geometric_channel(3, alpha="1/2"), ["1/2", "1/4", "1/4"], gains=g).value
    ...     for g in ("unit", "never negative")]
    >>> list(map(str, both))
    ['5/24', '1/2']
    """
    worse = as_channel(channel)
    nothing = Channel(objects([Fraction(1)] * worse.shape[0]).reshape(-1, 1))
    return refinement_distance(better=nothing, worse=worse, prior=prior, gains=gains)


def _least_distance_of_unit_gains(A: Array, B: Array, p: Array) -> tuple[Fraction, Array, Array]:
    """Minimise sum p_x T_xy subject to T + A R >= B for a channel R; return the minimum, the gains (duals / p_x) and
    R.
    """
    (n, m), k = A.shape, B.shape[1]
    triplets = [(x * k + y, z * k + y, A[x, z]) for x in range(n) for y in range(k) for z in range(m) if A[x, z]]
    triplets += [(r, m * k + r, Fraction(1)) for r in range(n * k)]
    triplets += [(n * k + z, z * k + y, Fraction(1)) for z in range(m) for y in range(k)]
    cost = [Fraction(0)] * (m * k) + [p[x] for x in range(n) for _ in range(k)]
    ones = [Fraction(1)] * m
    solution = _solved(cost, triplets, [*B.ravel().tolist(), *ones], [*[inf] * (n * k), *ones])
    gain = solution.duals[: n * k].reshape(n, k) / p[:, None]
    return solution.value, gain, solution.primal[: m * k].reshape(m, k)


def _least_distance_of_silent_gains(A: Array, B: Array, p: Array) -> tuple[Fraction, Array, Array]:
    """Maximise sum p_x (A R)_xy subject to A R <= B and row sums of R of at most 1; return 1 minus the maximum, the
    gains and R.
    """
    (n, m), k = A.shape, B.shape[1]
    triplets = [(x * k + y, z * k + y, A[x, z]) for x in range(n) for y in range(k) for z in range(m) if A[x, z]]
    triplets += [(n * k + z, z * k + y, Fraction(1)) for z in range(m) for y in range(k)]
    weights = p.dot(A)
    cost = [-weights[z] for z in range(m) for _ in range(k)]
    upper = [*B.ravel().tolist(), *[Fraction(1)] * m]
    solution = _solved(cost, triplets, [-inf] * len(upper), upper)
    gain = 1 + solution.duals[: n * k].reshape(n, k) / p[:, None]
    return 1 + solution.value, gain, solution.primal.reshape(m, k)


def _solved(
    cost: list[Fraction], triplets: list[tuple[int, int, Fraction]], lower: list[Any], upper: list[Any]
) -> LinearSolution:
    rows, columns, values = zip(*triplets, strict=True)
    bounds = objects(lower), objects(upper)
    return solve_exactly(LinearProgram.of_triplets(objects(cost), rows, columns, objects(values), *bounds))
