"""Optima of large programs: an interior point of few columns, the other columns priced, and all of it repaired.

A solver in floats proves nothing. What counts is the certificate that is made from its answer: the columns are
corrected to an exactly private channel, the multipliers to a feasible dual, and the checker computes both bounds anew.
"""

from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from utmost.design.checker import Multipliers, alphas_above
from utmost.design.evidence import Certificate
from utmost.design.nearly_private import feasible_dual, private_matrix
from utmost.errors import SolverFailed
from utmost.exact import Array, checked, round_up
from utmost.privacy import PrivacyType
from utmost.programs.interior_point import Interior, interior_columns
from utmost.spaces import Consumer

_GAP = 3e-8  # of the loss: what the interior point aims at
_NOTHING = 1e-12  # of the largest loss expected of an action: a loss below it counts as zero
_ROUNDS = 8
_LIKELY = (1.0, 1.5)


@dataclass(frozen=True, slots=True, eq=False)
class _Priced:
    """The multipliers that prove one action useless at some prices, or None: it may be of use."""

    action: int
    proof: Multipliers | None


@checked
def interior_certificate(ptype: PrivacyType, consumer: Consumer) -> Certificate:
    """The certificate of a channel whose loss is within about 1e-7 of the optimum, relative, for any space and loss.

    The program runs on the actions that are likely to be of use. Then each other action w is priced: where no column of
    the type has a negative product with p_x l(x, w) - mu_x, its multipliers prove that w is of no use. Actions for
    which there is such a column join, and the program runs again, until none does.

    Raises:
        SolverFailed: when the interior points do not come near an optimum.

    Cost: some 50 steps of O(u n^3) for u actions in use, and some 15 of O(n^3) for each other action.

    Source: column generation on program (2) to (6) of [ghosh2009]; the pricing problem is a linear function over the
    cone of columns of [fernandes2022], section V.
    """
    factors = _factors(ptype)
    costs = np.ascontiguousarray((_floats(consumer.prior)[:, None] * _floats(consumer.loss)).T)
    scale = float(costs.sum(axis=1).max()) or 1.0
    chosen = likely_actions(ptype, consumer)
    for rounds in count():
        # Only the first round lets columns go: later ones would lose again what pricing has brought in.
        found = interior_columns(costs[chosen] / scale, factors, _is_near, let_go=rounds == 0)
        used = chosen[found.kept]
        others = np.setdiff1d(np.arange(len(costs)), used)
        slack = _GAP * found.upper / len(factors) + _NOTHING
        priced = [_price(w, costs[w] / scale - found.prices, factors, slack) for w in others.tolist()]
        joining = [one.action for one in priced if one.proof is None]
        if not joining:
            return _certified(ptype, consumer, found, used, priced, scale)
        chosen = np.union1d(used, joining if rounds < _ROUNDS else others)
    raise AssertionError("the rounds end when every action has joined")


def likely_actions(ptype: PrivacyType, consumer: Consumer) -> NDArray[np.intp]:
    """The actions that a consumer takes on some response of an exponential mechanism of about the level.

    >>> from utmost.spaces import grid, losses, priors
    >>> place = grid(2, 2)
    >>> likely_actions(PrivacyType(place, epsilon=1), Consumer(priors.uniform(4), losses.distance(place))).tolist()
    [0, 1, 2, 3]
    """
    distances = _floats(ptype.space.distances) * ptype.level.epsilon_float
    prior, loss = _floats(consumer.prior), _floats(consumer.loss)
    taken = set()
    for times in _LIKELY:
        factors = np.exp(-times * distances)
        joint = (factors / factors.sum(axis=1)[:, None]).T * prior
        taken |= set((joint @ loss).argmin(axis=1).tolist())
    return np.array(sorted(taken))


def _is_near(lower: float, upper: float) -> bool:
    return upper - lower <= _GAP * abs(upper) + _NOTHING


def _price(action: int, costs: Array, factors: Array, slack: float) -> _Priced:
    """Whether some column of the type costs less than nothing; ``slack`` is what may be made up for later."""
    if (costs >= 0).all():
        none = np.zeros(0, dtype=np.intp)
        return _Priced(action, Multipliers(none, none, none, np.zeros(0)))
    try:
        ray = interior_columns(costs[None, :], factors, lambda low, up: low >= -slack or up < -slack, by_entry=False)
    except SolverFailed:
        return _Priced(action, None)
    return _Priced(action, _of_rows(ray, np.array([action])) if ray.lower >= -slack else None)


def _of_rows(found: Interior, actions: NDArray[np.intp]) -> Multipliers:
    rows, two = found.rows, found.rows.low != found.rows.high
    return Multipliers(rows.low[two], rows.high[two], actions[rows.column[two]], found.multipliers[two])


def _certified(
    ptype: PrivacyType,
    consumer: Consumer,
    found: Interior,
    used: NDArray[np.intp],
    priced: list[_Priced],
    scale: float,
) -> Certificate:
    near = np.zeros((consumer.secrets, consumer.actions))
    near[:, used] = found.columns.T
    numbered = np.zeros(int(found.kept.max()) + 1, dtype=np.intp)
    numbered[found.kept] = used
    lists = [_of_rows(found, numbered), *(one.proof for one in priced if one.proof is not None)]
    parts = [np.concatenate([getattr(part, name) for part in lists]) for name in ("low", "high", "action", "value")]
    multipliers = _significant(Multipliers(parts[0], parts[1], parts[2], parts[3] * scale))
    mu, kept = feasible_dual(ptype, consumer, found.prices * scale, multipliers)
    return Certificate(ptype, consumer, mu, matrix=private_matrix(ptype, near), multipliers=kept)


def _significant(found: Multipliers) -> Multipliers:
    """The multipliers without those that only keep a distance from zero: an interior point has no zeros."""
    kept = found.value > 1e-16 * found.value.max(initial=0.0)
    return Multipliers(found.low[kept], found.high[kept], found.action[kept], found.value[kept])


def _factors(ptype: PrivacyType) -> NDArray[np.float64]:
    """(n, n): alpha^d along the essential edges, rounded up; 0 elsewhere."""
    edges = ptype.space.edges
    above = alphas_above(ptype, edges)
    rounded = {factor: round_up(factor) for factor in set(above.tolist())}
    table = np.zeros((ptype.space.size, ptype.space.size))
    table[edges[:, 0], edges[:, 1]] = [rounded[factor] for factor in above.tolist()]
    return np.asarray(table + table.T)


def _floats(numbers: Array) -> NDArray[np.float64]:
    return np.asarray(numbers, dtype=np.float64)
