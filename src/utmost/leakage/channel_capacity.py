"""The capacities of a channel: the most that it leaks, whatever the prior and whatever is gained."""

from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from typing import Any

import numpy as np

from utmost.channels import Channel
from utmost.exact import Array, checked, frozen, is_exact, natural, to_floats
from utmost.spaces import priors


@dataclass(frozen=True, slots=True, eq=False)
class Capacity:
    """The largest leakage of its kind, with a mechanism that attains it and what proves it.

    Attributes:
        value: a Fraction where it is rational and known so, else a float.
        mechanism: a channel with this capacity: the channel itself, or of a type one that leaks most.
        certificate: for a channel, the prior and the gain that attain the value (see `Attained`); for a type, what
            proves that no mechanism leaks more.
    """

    value: Any
    mechanism: Channel
    certificate: Any = None

    def __float__(self) -> float:
        return float(self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Attained:
    """A prior and a gain for which a channel leaks as much as its capacity: the bound of a theorem is attained.

    Attributes:
        channel: (n, m).
        prior: (n,).
        gain: (n, k): what action w gains when the secret is x; None for a measure that no gain or loss pays for.
        value: the leakage.
        is_multiplicative: whether the leakage is the multiplicative one.
        measure: by which measure; the vulnerability of the gain where it is None.
    """

    channel: Channel
    prior: Array
    gain: Array | None
    value: Any
    is_multiplicative: bool
    measure: Any = None

    def verify(self, tolerance: float = 1e-12) -> bool:
        """Whether the channel leaks the value at the prior, by the definition of leakage.

        Args:
            tolerance: how far a float may be off, relative to 1 + value; exact numbers must be equal.
        """
        from utmost.leakage.measures import g_vulnerability

        measure = g_vulnerability(self.gain) if self.measure is None else self.measure
        leak = measure.multiplicative_leakage if self.is_multiplicative else measure.additive_leakage
        found = leak(self.channel, self.prior)
        if self.value == found:
            return True
        is_float = isinstance(found, float) or isinstance(self.value, float)
        return is_float and abs(found - self.value) <= tolerance * (1 + abs(self.value))


def multiplicative_capacity(channel: Channel | object) -> Capacity:
    """max over priors p and nonnegative gains g of V_g[p, C] / V_g(p) = sum_y max_x C[x, y].

    The maximum is attained by the uniform prior and the guess of the secret in one try: gain 1 if right, 0 if wrong.

    Args:
        channel: (n, m); exact channels have an exact capacity, between 1 and min(n, m).

    Source: [fernandes2022], theorem 4 and (8).

    >>> from utmost.channels import geometric_channel
    >>> multiplicative_capacity(geometric_channel(2, alpha="1/2")).value
    Fraction(5, 3)
    """
    C = as_channel(channel)
    return _capacity(C, total(C.matrix.max(axis=0)), identity_gain(C.shape[0]), is_multiplicative=True)


def additive_capacity(channel: Channel | object) -> Capacity:
    """max over priors p and gains g with 0 <= V_g <= 1 of V_g[p, C] - V_g(p) = 1 - sum_y min_x C[x, y].

    The maximum is attained by the uniform prior and the exclusion of one secret: gain 1, but 1 - n if it is the secret.

    Args:
        channel: (n, m); exact channels have an exact capacity, between 0 and 1.

    Source: [fernandes2022], theorem 5 and (9).

    >>> from utmost.channels import geometric_channel
    >>> additive_capacity(geometric_channel(2, alpha="1/2")).value
    Fraction(1, 2)
    """
    C = as_channel(channel)
    return _capacity(C, 1 - total(C.matrix.min(axis=0)), exclusion_gain(C.shape[0]), is_multiplicative=False)


@checked
def identity_gain(n: int) -> Array:
    """g(x, w) = 1 if w = x, else 0: to guess the secret in one try."""
    return _two_valued(natural(n, "n", 1), Fraction(1), Fraction(0))


@checked
def exclusion_gain(n: int) -> Array:
    """g(x, w) = 1 - n if w = x, else 1: to name a secret that it is not. Its vulnerabilities lie between 0 and 1."""
    return _two_valued(natural(n, "n", 1), Fraction(1 - n), Fraction(1))


def as_channel(channel: Channel | object) -> Channel:
    """A channel, or what can be read as one."""
    return channel if isinstance(channel, Channel) else Channel(channel)


def total(values: Array) -> Any:
    """The sum of an array: a Fraction in the exact world, else the float nearest to the sum of the floats."""
    return sum(values, Fraction(0)) if is_exact(values) else fsum(values.tolist())


def _two_valued(n: int, on_diagonal: Fraction, elsewhere: Fraction) -> Array:
    gain = np.full((n, n), elsewhere, dtype=object)
    np.fill_diagonal(gain, on_diagonal)
    return frozen(gain)


def _capacity(C: Channel, value: Any, gain: Array, *, is_multiplicative: bool) -> Capacity:
    prior = priors.uniform(C.shape[0])
    if not C.is_exact:
        prior, gain = to_floats(prior), to_floats(gain)
    return Capacity(value, C, Attained(C, prior, gain, value, is_multiplicative))
