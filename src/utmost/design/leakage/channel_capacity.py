"""Compute the largest leakage of a channel over all priors, for one measure, and a prior that attains it.

The largest leakage is attained at one of finitely many priors.
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
"""Kind of leakage: the ratio, or the difference, of the adversary's best gains with and without the outcome."""


def check_kind(kind: str) -> None:
    one_of(kind, CapacityKind, "the kind", "capacity")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Capacity(Display, PickledByFields):
    """The largest multiplicative or additive leakage, with a mechanism that attains it and a proof."""

    _shown: ClassVar[tuple[str, ...]] = ("value", "mechanism")

    value: Fraction | float  # a Fraction if the capacity is known to be rational
    mechanism: Channel  # the given channel; for a privacy type, a channel of the type with the largest leakage
    # For a channel, a prior and a gain (`Attained`); for a type, a proof that no channel of the type leaks more.
    certificate: Any = None

    def __float__(self) -> float:
        return float(self.value)


class LeakageMeasure(Protocol):
    """A measure of information that gives the leakage of a channel at a prior."""

    def multiplicative_leakage(self, channel: object, prior: object = None) -> Fraction | float:
        """Return the factor by which observing the outcome changes the measure in the adversary's favour."""

    def additive_leakage(self, channel: object, prior: object = None) -> Fraction | float:
        """Return the amount by which observing the outcome changes the measure in the adversary's favour."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attained(Display):
    """A prior and a measure for which the leakage of a channel equals its capacity."""

    channel: Channel  # (n, m) the channel
    prior: Array  # (n,) the prior
    gain: Array | None  # (n, k), gain or loss of action w for secret x; None for a measure without actions
    value: Fraction | float
    kind: CapacityKind
    measure: LeakageMeasure

    def verify(self, tolerance: float = 1e-12) -> bool:
        """Check that the channel leaks `value` at the prior; floats may differ by tolerance * (1 + value)."""
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
    """Return the gain for naming a value that the secret does not have: g(x, w) = 1 - n if w = x, else 1."""
    n = natural(n, "n", 1)
    gain = np.full((n, n), Fraction(1), dtype=object)
    np.fill_diagonal(gain, Fraction(1 - n))
    return frozen(gain)


def as_channel(channel: Channel | object) -> Channel:
    return channel if isinstance(channel, Channel) else Channel(channel)


def total(values: Array) -> Fraction | float:
    """Return the sum of an array: exact for Fractions, and correctly rounded for floats."""
    return sum(values, Fraction(0)) if is_exact(values) else fsum(values.tolist())


Worth = Callable[[int, Any], Any]
"""A function that gives the worth of a set of rows from its size and the sum, over the columns, of the largest entry in
the set.
"""


def best_subset(matrix: Array, worth: Worth) -> tuple[int, ...]:
    """Return the set S of rows with the largest worth(|S|, sum_y max_{x in S} C[x, y]), for nonnegative (n, m) C."""
    # The sum is submodular: j more rows add at most the sum of the j largest gains of single rows, which bounds the
    # worth of all larger sets. ``worth`` must not grow with the size if the sum is equal, so rows that add nothing are
    # never needed. The problem is NP-hard: the time is exponential in n in the worst case, and below a second for
    # random matrices with tens of rows.
    scale = lcm(*(x.denominator for x in matrix.flat)) if is_exact(matrix) else None
    rows = matrix if scale is None else np.array([[int(x * scale) for x in row] for row in matrix], dtype=object)
    value: Worth = worth if scale is None else lambda k, f: worth(k, Fraction(f, scale))
    best: tuple[Any, tuple[int, ...]] = (value(1, rows[0].sum()), (0,))
    open_sets: list[tuple[tuple[int, ...], Array, Array]] = [((), np.zeros_like(rows[0]), np.arange(len(rows)))]
    while open_sets:
        chosen, reached, left = open_sets.pop()
        gains = np.maximum(rows[left] - reached, 0).sum(axis=1)
        order = np.argsort(-gains, kind="stable")
        # A row that adds nothing to a set adds nothing to any larger set.
        left, gains = left[order][gains[order] > 0], gains[order][gains[order] > 0]
        if not left.size:
            continue
        # Skip the sets that contain the chosen rows and more rows if an upper bound on their worth is too small.
        sums = reached.sum() + np.cumsum(gains)
        if max(value(len(chosen) + j + 1, most) for j, most in enumerate(sums)) <= best[0]:
            continue
        more, further = (*chosen, int(left[0])), np.maximum(reached, rows[left[0]])
        best = max(best, (value(len(more), further.sum()), more), key=lambda candidate: candidate[0])
        # The search is depth-first: sets with the row of largest gain are finished before sets without this row.
        open_sets += [(chosen, reached, left[1:]), (more, further, left[1:])]
    return tuple(sorted(best[1]))


_IntegerRay = tuple[int, ...]


def _dot(a: _IntegerRay, b: _IntegerRay) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def corner_priors(payments: Array, is_gain: bool) -> Array:
    """Return all corners of the regions {p : action w is best}, over all actions w, as a (c, n) array of Fractions."""
    # On a region the prior measure is linear and the posterior measure is convex (or concave), so their difference and
    # ratio are largest at a corner. The double description method finds the corners. Its time grows with the number of
    # corners, which can be exponential in n. First scale the payments of each different action to integers.
    rational = [[Fraction(x) for x in column] for column in payments.T]
    scale = (1 if is_gain else -1) * lcm(*(x.denominator for column in rational for x in column))
    actions = list(dict.fromkeys(tuple(int(x * scale) for x in column) for column in rational))
    corners: set[tuple[Fraction, ...]] = set()
    for best in actions:
        cuts = [tuple(a - b for a, b in zip(best, other, strict=True)) for other in actions if other != best]
        for ray in _extreme_rays(len(payments), cuts):
            corners.add(tuple(Fraction(x, sum(ray)) for x in ray))
    return frozen(objects((p for corner in sorted(corners) for p in corner), (len(corners), len(payments))))


def _extreme_rays(n: int, cuts: list[_IntegerRay]) -> list[_IntegerRay]:
    """Return the extreme rays of {p >= 0 : a . p >= 0 for every cut a}, as integers without a common factor."""
    rays = [tuple(int(i == x) for i in range(n)) for x in range(n)]
    faces: list[_IntegerRay] = list(rays)  # the constraints p_x >= 0 come first
    for cut in cuts:
        sums = [_dot(cut, ray) for ray in rays]
        on = [frozenset(k for k, face in enumerate(faces) if _dot(face, ray) == 0) for ray in rays]
        inside = [ray for ray, value in zip(rays, sums, strict=True) if value >= 0]
        # The new face cuts the edges between adjacent rays on its two sides. Two rays are adjacent if no third ray lies
        # on every face that contains both.
        ups, downs = ([k for k, value in enumerate(sums) if value * side > 0] for side in (1, -1))
        for up, down in product(ups, downs):
            both = on[up] & on[down]
            if len(both) >= n - 2 and not any(both <= on[k] for k in range(len(rays)) if k not in (up, down)):
                joined = [sums[up] * b - sums[down] * a for a, b in zip(rays[up], rays[down], strict=True)]
                common = gcd(*joined)
                inside.append(tuple(x // common for x in joined))
        rays = inside
        faces.append(cut)
    return rays


def best_of_corners(
    C: Channel, measure: LeakageMeasure, kind: CapacityKind, corners: Iterable[Array], payments: Array | None = None
) -> Capacity:
    """Return the largest leakage, by a measure, that a channel has at one of ``corners``, and the prior that attains
    it.
    """
    # On each region of priors with one best action, the additive leakage is convex and the multiplicative leakage
    # quasiconvex, so both are largest at a corner of a region; see proofs/theory/leakage.md.
    leak = measure.multiplicative_leakage if kind == "multiplicative" else measure.additive_leakage
    tried = corners if C.is_exact else map(to_floats, corners)
    value, prior = max(((leak(C, p), p) for p in tried), key=lambda leaking: leaking[0])
    return Capacity(value, C, Attained(C, prior, payments, value, kind, measure))


def best_guess(C: Channel, kind: CapacityKind) -> Array:
    """Return the prior, uniform on some set of secrets, with the largest leakage if the adversary has one guess of the
    secret.
    """

    # The leakage at the uniform prior on a set of `size` secrets, where `right` / size is the Bayes vulnerability. The
    # multiplicative leakage here is that of Bayes risk. That of Bayes vulnerability needs no search, because it is
    # largest at the uniform prior on all secrets.
    def additive(size: int, right: Fraction | float) -> Fraction | float:
        """Return right/size - 1/size."""
        return (right - 1) / size

    def multiplicative(size: int, right: Fraction | float) -> Fraction | float:
        """Return (1 - 1/size) / (1 - right/size)."""
        return 1 if size == 1 else inf if size - right <= 0 else (size - 1) / (size - right)

    worth = multiplicative if kind == "multiplicative" else additive
    return uniform_on(best_subset(C.matrix, worth), C.shape[0])


def uniform_on_sets(n: int) -> Iterator[Array]:
    """Yield the uniform priors on the 2^n - 1 nonempty sets of secrets."""
    # Guessing entropy is linear on each region of priors with a fixed order of probabilities; the uniform priors are
    # the corners of these regions.
    for chosen in range(1, 1 << n):
        yield uniform_on([x for x in range(n) if chosen >> x & 1], n)


def uniform_on(inside: Sequence[int], n: int) -> Array:
    prior = np.full(n, Fraction(0), dtype=object)
    prior[list(inside)] = Fraction(1, len(inside))
    return frozen(prior)
