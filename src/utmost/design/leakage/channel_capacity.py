"""Capacities of channels: the largest leakage of a kind, and a prior at which a channel attains it.

By one measure it is the largest over all priors: a search among finitely many of them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import fsum, gcd, inf, isfinite, lcm
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from utmost.core.exact.arguments import one_of
from utmost.core.exact.arrays import Array, PickledByFields, frozen, is_exact, objects, to_floats
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import natural
from utmost.design.channels.channel import Channel

CapacityKind = Literal["multiplicative", "additive"]
"""The kind of leakage: the factor by which the outcome improves the adversary's best, or the difference."""


def check_kind(kind: str) -> None:
    """Raise OutOfRange for what is no kind of leakage."""
    one_of(kind, CapacityKind, "the kind", "capacity")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Capacity(Display, PickledByFields):
    """The largest leakage of its kind, with a mechanism that attains it and what proves it.

    Attributes:
        value: Fraction where it is rational and known so, else a float.
        mechanism: Channel with this capacity: the channel itself, or of a type one that leaks most.
        certificate: For a channel, prior and gain that attain the value (see `Attained`); for a type, what
            proves that no mechanism leaks more.
    """

    _shown: ClassVar[tuple[str, ...]] = ("value", "mechanism")

    value: Fraction | float
    mechanism: Channel
    certificate: Any = None

    def __float__(self) -> float:
        return float(self.value)


class LeakageMeasure(Protocol):
    """Protocol of measures that give the leakage of a channel at a prior."""

    def multiplicative_leakage(self, channel: object, prior: object = None) -> Fraction | float:
        """The factor by which the outcome improves the measure."""

    def additive_leakage(self, channel: object, prior: object = None) -> Fraction | float:
        """The difference by which the outcome improves the measure."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attained(Display):
    """A prior and a measure for which a channel leaks as much as its capacity: the bound of a theorem is attained.

    Attributes:
        channel: (n, m).
        prior: (n,).
        gain: (n, k): what action w gains (or loses) when the secret is x; None for a measure that nothing pays for.
        value: Leakage.
        kind: Kind of leakage.
        measure: Measure of the leakage.
    """

    channel: Channel
    prior: Array
    gain: Array | None
    value: Fraction | float
    kind: CapacityKind
    measure: LeakageMeasure

    def verify(self, tolerance: float = 1e-12) -> bool:
        """Whether the channel leaks the value at the prior, by the definition of leakage.

        Args:
            tolerance: Largest error of a float, relative to 1 + value; exact numbers must be equal.
        """
        is_factor = self.kind == "multiplicative"
        leak = self.measure.multiplicative_leakage if is_factor else self.measure.additive_leakage
        leakage = leak(self.channel, self.prior)
        if self.value == leakage:
            return True
        if not (isinstance(leakage, float) or isinstance(self.value, float)):
            return False
        value = float(self.value)
        return isfinite(value) and abs(leakage - value) <= tolerance * (1 + abs(value))


def exclusion_gain(n: int) -> Array:
    """g(x, w) = 1 - n if w = x, else 1: to name a secret that it is not. Its vulnerabilities lie between 0 and 1."""
    n = natural(n, "n", 1)
    gain = np.full((n, n), Fraction(1), dtype=object)
    np.fill_diagonal(gain, Fraction(1 - n))
    return frozen(gain)


def as_channel(channel: Channel | object) -> Channel:
    """A channel, or what can be read as one."""
    return channel if isinstance(channel, Channel) else Channel(channel)


def total(values: Array) -> Fraction | float:
    """The sum of an array: a Fraction in the exact numbers, else the float nearest to the sum of the floats."""
    return sum(values, Fraction(0)) if is_exact(values) else fsum(values.tolist())


Worth = Callable[[int, Any], Any]
"""The worth of a set: a function of its size k and of sum_y max over the set of C[x, y], in which it does not fall."""


def best_subset(matrix: Array, worth: Worth) -> tuple[int, ...]:
    """The set S of rows with the largest worth(|S|, sum_y max_{x in S} C[x, y]).

    The sum grows by less and less as rows are added (it is submodular), so no j rows add more than the j that would
    each add most by themselves: that bounds all sets that contain what is chosen already.

    Args:
        matrix: (n, m), nonnegative.
        worth: Must not grow when only the size does: then a row that adds nothing is never needed.

    Cost: exponential in n in the worst case, as the problem is NP-hard; a fraction of a second for random matrices with
    some tens of rows.

    >>> from utmost.exact import as_array
    >>> best_subset(as_array([["2/3", "1/3"], ["1/2", "1/2"], ["1/3", "2/3"]]), lambda k, f: (f - 1) / k)
    (0, 2)
    """
    scale = lcm(*(x.denominator for x in matrix.flat)) if is_exact(matrix) else None
    rows = matrix if scale is None else np.array([[int(x * scale) for x in row] for row in matrix], dtype=object)
    value: Worth = worth if scale is None else lambda k, f: worth(k, Fraction(f, scale))
    best: tuple[Any, tuple[int, ...]] = (value(1, rows[0].sum()), (0,))
    open_sets: list[tuple[tuple[int, ...], Array, Array]] = [((), np.zeros_like(rows[0]), np.arange(len(rows)))]
    while open_sets:
        chosen, reached, left = open_sets.pop()
        gains = np.maximum(rows[left] - reached, 0).sum(axis=1)
        order = np.argsort(-gains, kind="stable")
        # What adds nothing now adds nothing later.
        left, gains = left[order][gains[order] > 0], gains[order][gains[order] > 0]
        if not left.size or _bound_on_worth(value, len(chosen), reached.sum(), gains) <= best[0]:
            continue
        more, further = (*chosen, int(left[0])), np.maximum(reached, rows[left[0]])
        best = max(best, (value(len(more), further.sum()), more), key=lambda candidate: candidate[0])
        # The last in is the first out: sets with the greatest gains are finished before those without.
        open_sets += [(chosen, reached, left[1:]), (more, further, left[1:])]
    return tuple(sorted(best[1]))


def _bound_on_worth(value: Worth, size: int, total: Any, gains: Array) -> Any:
    """An upper bound on the worth of any set that holds the chosen rows and at least one of those left."""
    return max(value(size + j + 1, reached) for j, reached in enumerate(total + np.cumsum(gains)))


_IntegerRay = tuple[int, ...]


def corner_priors(payments: Array, is_gain: bool) -> Array:
    """All corners of the regions {p : action w is best}, over all actions w, as the rows of a (c, n) array.

    On a region the prior measure is linear and the posterior one is convex (or concave), so that their difference and
    their ratio are largest at a corner of some region.

    Args:
        payments: (n, k), gains or losses; floats are taken as the rationals that they are.
        is_gain: Whether the best action has the largest payment; the smallest otherwise.

    Returns:
        Fractions, each row a prior.

    Cost: the double description method; time grows with the number of corners, which can be exponential in n.

    >>> from utmost.exact import as_array
    >>> [[str(p) for p in corner] for corner in corner_priors(as_array([[1, 0], [0, 1]]), True)]
    [['0', '1'], ['1/2', '1/2'], ['1', '0']]
    """
    actions = _integer_columns(payments, 1 if is_gain else -1)
    corners: set[tuple[Fraction, ...]] = set()
    for best in actions:
        cuts = [tuple(a - b for a, b in zip(best, other, strict=True)) for other in actions if other != best]
        for ray in _extreme_rays(len(payments), cuts):
            corners.add(tuple(Fraction(x, sum(ray)) for x in ray))
    return frozen(objects((p for corner in sorted(corners) for p in corner), (len(corners), len(payments))))


def _integer_columns(payments: Array, sign: int) -> list[_IntegerRay]:
    """The payments of each action as integers over one denominator; equal actions once."""
    rational = [[Fraction(x) for x in column] for column in payments.T]
    scale = sign * lcm(*(x.denominator for column in rational for x in column))
    return list(dict.fromkeys(tuple(int(x * scale) for x in column) for column in rational))


def _extreme_rays(n: int, cuts: list[_IntegerRay]) -> list[_IntegerRay]:
    """The extreme rays of {p >= 0 : a . p >= 0 for every cut a}, as integers without a common factor."""
    rays = [tuple(int(i == x) for i in range(n)) for x in range(n)]
    faces: list[_IntegerRay] = list(rays)  # the rows p_x >= 0 are the first constraints
    for cut in cuts:
        sums = [sum(a * b for a, b in zip(cut, ray, strict=True)) for ray in rays]
        zeros = [frozenset(k for k, face in enumerate(faces) if _dot(face, ray) == 0) for ray in rays]
        inside = [ray for ray, value in zip(rays, sums, strict=True) if value >= 0]
        rays = inside + list(_new_rays(rays, sums, zeros, n))
        faces.append(cut)
    return rays


def _new_rays(rays: list[_IntegerRay], sums: list[int], zeros: list[frozenset[int]], n: int) -> Iterator[_IntegerRay]:
    """The rays in which a new face cuts the edges between adjacent rays on its two sides.

    Two rays are adjacent when no third lies on every face on which both lie.
    """
    ups, downs = ([k for k, value in enumerate(sums) if value * way > 0] for way in (1, -1))
    for up, down in product(ups, downs):
        both = zeros[up] & zeros[down]
        if len(both) >= n - 2 and not any(both <= zeros[k] for k in range(len(rays)) if k not in (up, down)):
            joined = [sums[up] * b - sums[down] * a for a, b in zip(rays[up], rays[down], strict=True)]
            common = gcd(*joined)
            yield tuple(x // common for x in joined)


def _dot(ray: _IntegerRay, cut: _IntegerRay) -> int:
    return sum(a * b for a, b in zip(ray, cut, strict=True))


def best_of_corners(
    C: Channel, measure: LeakageMeasure, kind: CapacityKind, corners: Iterable[Array], payments: Array | None = None
) -> Capacity:
    """The largest leakage of a channel by a measure among some priors, with the prior that attains it.

    On each region of priors where one action is best, the leakage is largest at a corner: additive leakage is convex
    there, and sets of low multiplicative leakage are convex. So the corners of all regions suffice.

    Args:
        C: (n, m).
        corners: (n,) each, Fractions.
        payments: Payments of the measure, for the certificate.

    Source: corners as in proofs/theory/leakage.md. Cost: a leakage for each corner.
    """
    leak = measure.multiplicative_leakage if kind == "multiplicative" else measure.additive_leakage
    tried = corners if C.is_exact else map(to_floats, corners)
    value, prior = max(((leak(C, p), p) for p in tried), key=lambda leaking: leaking[0])
    return Capacity(value, C, Attained(C, prior, payments, value, kind, measure))


def best_guess(C: Channel, kind: CapacityKind) -> Array:
    """The corner with the largest leakage for one guess of the secret: uniform on some set (see `best_subset`).

    The multiplicative kind is that of Bayes risk. Bayes vulnerability needs no search: its multiplicative leakage is
    largest at the uniform prior on all secrets.
    """
    return uniform_on(
        best_subset(C.matrix, _multiplicative_leakage_on_set if kind == "multiplicative" else _additive_leakage_on_set),
        C.shape[0],
    )


def uniform_on_sets(n: int) -> Iterator[Array]:
    """The uniform distributions on the 2^n - 1 nonempty sets of secrets.

    They are the corners for guessing entropy, which is linear on each region where the probabilities have one order.
    """
    for chosen in range(1, 1 << n):
        yield uniform_on([x for x in range(n) if chosen >> x & 1], n)


def uniform_on(inside: Sequence[int], n: int) -> Array:
    """The uniform prior on a set of secrets."""
    prior = np.full(n, Fraction(0), dtype=object)
    prior[list(inside)] = Fraction(1, len(inside))
    return frozen(prior)


def _additive_leakage_on_set(size: int, right: Fraction | float) -> Fraction | float:
    """The additive leakage of one guess at the uniform prior on a set: right/size - 1/size."""
    return (right - 1) / size


def _multiplicative_leakage_on_set(size: int, right: Fraction | float) -> Fraction | float:
    """The multiplicative leakage of the risk: (1 - 1/size) / (1 - right/size)."""
    return 1 if size == 1 else inf if size - right <= 0 else (size - 1) / (size - right)
