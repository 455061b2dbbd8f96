"""What a capacity is: the largest leakage of its kind, and a prior at which a channel attains it."""

from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from typing import Any, Literal, Protocol, get_args

import numpy as np

from utmost.channels import Channel
from utmost.errors import OutOfRange
from utmost.exact import Array, checked, frozen, is_exact, natural

Kind = Literal["multiplicative", "additive"]
"""Of leakage: by what factor the outcome improves the adversary's best, or by how much."""


def check_kind(kind: str) -> None:
    """Raise OutOfRange for what is no kind of leakage."""
    if kind not in get_args(Kind):
        raise OutOfRange(f"the kind must be one of {', '.join(get_args(Kind))}", came=kind, where="capacity")


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


class Leaks(Protocol):
    """What a measure is for here: the leakages of a channel at a prior."""

    def multiplicative_leakage(self, channel: object, prior: object = None) -> Any:
        """By what factor the outcome improves what is measured."""
        ...

    def additive_leakage(self, channel: object, prior: object = None) -> Any:
        """By how much."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Attained:
    """A prior and a measure for which a channel leaks as much as its capacity: the bound of a theorem is attained.

    Attributes:
        channel: (n, m).
        prior: (n,).
        gain: (n, k): what action w gains (or loses) when the secret is x; None for a measure that nothing pays for.
        value: the leakage.
        kind: of leakage.
        measure: by which the channel leaks that much.
    """

    channel: Channel
    prior: Array
    gain: Array | None
    value: Any
    kind: Kind
    measure: Leaks

    def verify(self, tolerance: float = 1e-12) -> bool:
        """Whether the channel leaks the value at the prior, by the definition of leakage.

        Args:
            tolerance: how far a float may be off, relative to 1 + value; exact numbers must be equal.
        """
        is_factor = self.kind == "multiplicative"
        leak = self.measure.multiplicative_leakage if is_factor else self.measure.additive_leakage
        found = leak(self.channel, self.prior)
        if self.value == found:
            return True
        is_float = isinstance(found, float) or isinstance(self.value, float)
        return is_float and abs(found - self.value) <= tolerance * (1 + abs(self.value))


@checked
def exclusion_gain(n: int) -> Array:
    """g(x, w) = 1 - n if w = x, else 1: to name a secret that it is not. Its vulnerabilities lie between 0 and 1."""
    n = natural(n, "n", 1)
    gain = np.full((n, n), Fraction(1), dtype=object)
    np.fill_diagonal(gain, Fraction(1 - n))
    return frozen(gain)


def as_channel(channel: Channel | object) -> Channel:
    """A channel, or what can be read as one."""
    return channel if isinstance(channel, Channel) else Channel(channel)


def total(values: Array) -> Any:
    """The sum of an array: a Fraction in the exact numbers, else the float nearest to the sum of the floats."""
    return sum(values, Fraction(0)) if is_exact(values) else fsum(values.tolist())
