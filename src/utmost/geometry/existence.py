"""Losses that a mechanism can serve for every prior: what Theorem 10 promises for every privacy type."""

from fractions import Fraction

import numpy as np

from utmost.channels import Channel
from utmost.errors import OutOfRange, Unsupported
from utmost.exact import Array, checked, frozen
from utmost.geometry.distances import Distances
from utmost.geometry.powers import Powers
from utmost.privacy import PrivacyType


@checked
def distinguishing_mechanism(ptype: PrivacyType) -> tuple[Channel, Array]:
    """A mechanism and a loss, not trivial and monotone in every metric, such that it is universally optimal for it.

    The two closest secrets x, z are told apart as well as their distance allows; every other secret behaves as z does.
    On {x, z} this is the one kernel of the type there, so it is optimal for every loss that regards only x and z. The
    loss has the actions x and z and l(w, s) = [w != s]: up to a function of the secret it regards only x and z.

    Raises:
        OutOfRange: for fewer than two secrets. Unsupported: where alpha to the least distance is irrational.

    Source: [fernandes2022], theorem 10, with the loss of the paper (0 beyond x and z, not monotone) replaced.

    >>> from utmost.spaces import discrete
    >>> channel, loss = distinguishing_mechanism(PrivacyType(discrete(3), alpha="1/2"))
    >>> [str(p) for p in channel.matrix[:, 0]], loss[:, 0].tolist()
    (['2/3', '1/3', '1/3'], [Fraction(0, 1), Fraction(1, 1), Fraction(1, 1)])
    """
    n = ptype.space.size
    if n < 2:
        raise OutOfRange("a type must have at least two secrets", came=n, where="distinguishing_mechanism")
    distances = Distances.of(ptype.space)
    table, powers = distances.integers(), Powers.of(ptype.level, distances)
    pairs = [(x, z) for x in range(n) for z in range(x + 1, n)]
    x, z = min(pairs, key=lambda pair: table[pair])
    exponent = tuple(int(c) for c in distances.coefficients[x, z])
    if not powers.is_rational:
        raise Unsupported("alpha to the least distance must be rational", came=str(ptype.level))
    a = powers.fraction(exponent)
    rows = [[1 / (1 + a), a / (1 + a)] if s == x else [a / (1 + a), 1 / (1 + a)] for s in range(n)]
    loss = [[Fraction(int(s != x)), Fraction(int(s != z))] for s in range(n)]
    return Channel(np.array(rows, dtype=object)), frozen(np.array(loss, dtype=object))
