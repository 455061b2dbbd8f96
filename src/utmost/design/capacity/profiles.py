"""Spaces where every secret sees the same distances: equal distances, cubes, cycles, vertex-transitive graphs."""

from fractions import Fraction
from math import comb

import numpy as np

from utmost.design.capacity.kernel import Kernel
from utmost.exact import Interval, Level, level
from utmost.privacy import PrivacyType
from utmost.privacy.ratios import Length, power_intervals
from utmost.spaces import DiscreteMetric, HammingMetric, Space

Profile = dict[Length, int]
"""How many secrets are at each distance from a secret."""


def profile(space: Space) -> Profile | None:
    """The distances that every secret sees, with their multiplicities; None where secrets see different ones.

    Vertex-transitive spaces have a profile, and so has every space whose rows of distances are permutations of each
    other. Cost: O(1) for equal distances and cubes, else O(n^2 log n).

    >>> from utmost.spaces import counts, hamming
    >>> [*profile(hamming(3)).values()], profile(counts(2))
    ([1, 3, 3, 1], None)
    """
    metric = space.metric
    if isinstance(metric, DiscreteMetric):
        distances: Profile = {Fraction(0): 1}
        return distances | ({Fraction(1): metric.k - 1} if metric.k > 1 else {})
    if isinstance(metric, HammingMetric):
        return {Fraction(k): comb(metric.bits, k) for k in range(metric.bits + 1)}
    some = np.unique([0, space.size // 2, space.size - 1])
    rows = np.sort(np.asarray(metric.distance(some[:, None], np.arange(space.size)[None, :])), axis=1)
    if (rows != rows[0]).any():
        return None
    kernel = Kernel.of(PrivacyType(space, level(1)))  # the level does not matter: only the kinds of distances do
    counts = np.sort(kernel.kinds, axis=1)
    if (counts != counts[0]).any():
        return None
    return dict(zip(kernel.lengths, np.bincount(counts[0], minlength=len(kernel.lengths)).tolist(), strict=True))


def profile_sum(at: Level, found: Profile, sign: int) -> Fraction | Interval:
    """sum_d count(d) alpha^(sign d): a Fraction where all terms are, else an interval."""
    scaled = [(at.scaled(d) if d and isinstance(d, Fraction) else None, d, count) for d, count in found.items()]
    if all(isinstance(d, Fraction) and (s is None or s.is_rational) for s, d, _ in scaled):
        powers = ((s.alpha_fraction() if s else Fraction(1), count) for s, _, count in scaled)
        return sum((count * (p if sign > 0 else 1 / p) for p, count in powers), Fraction(0))
    zeros = max(int(3 * at.epsilon_float * float(d)) for d in found) + 2
    bits = 256 + 2 * zeros + max(found.values()).bit_length()
    total = Interval.of(0, bits)
    for count, power in zip(found.values(), power_intervals(at, tuple(found), bits), strict=True):
        total = total + (power if sign > 0 else 1 / power) * count
    return total
