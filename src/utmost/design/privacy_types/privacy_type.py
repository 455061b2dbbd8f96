"""Define a privacy type (the set of all channels that satisfy a level on a metric space); test membership exactly."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial
from math import ceil, log, sqrt

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, integer, real, sequence_of
from utmost.core.exact.arrays import Array, PickledByFields, as_rationals, is_exact
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, exp_interval, is_lower, log_interval
from utmost.core.exact.levels import Level, level_argument
from utmost.core.exact.numbers import Number
from utmost.core.exact.surds import Surd
from utmost.design.channels.channel import Channel
from utmost.design.spaces.distance_units import level_per
from utmost.design.spaces.families import DiscreteMetric, counts, discrete
from utmost.design.spaces.space import Space
from utmost.errors import NotAChannel, OutOfRange

Length = Fraction | Surd
"""An exact distance."""

Triple = tuple[int, int, int]
"""(x, z, y): secrets x and z and an outcome y with C[x, y] > C[z, y]."""

# Largest number of entries (edges times outcomes) that are computed together, which bounds the memory.
_BLOCK = 1 << 20
# Bound on the error of float logarithms of probabilities, which are below 10^5 in absolute value.
_LOG_ERROR = 1e-9
# Powers of alpha below 2^-_MOST_BITS are compared by their logarithms.
_MOST_BITS = 1 << 13


def log_probabilities(matrix: Array) -> NDArray[np.float64]:
    """Return the natural logarithms of the entries (-inf for 0), also of Fractions below the smallest float."""
    if not is_exact(matrix):
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(matrix))
    logs = [log(p.numerator) - log(p.denominator) if p else -np.inf for p in matrix.flat]
    return np.array(logs).reshape(matrix.shape)


def log_gaps(logs: NDArray[np.float64], space: Space) -> Iterator[tuple[NDArray[np.intp], Array, Array]]:
    """Yield blocks of essential edges (b, 2), their lengths (b, 1), and log C[x, y] - log C[z, y] along them (b, m)."""
    edges = space.edges
    step = max(1, _BLOCK // logs.shape[1])
    for start in range(0, len(edges), step):
        block = edges[start : start + step]
        lengths = np.asarray(space.metric.distance(block[:, 0], block[:, 1]), dtype=np.float64)
        with np.errstate(invalid="ignore"):
            gaps = logs[block[:, 0]] - logs[block[:, 1]]  # nan where neither secret gives the outcome
        yield block, lengths[:, None], np.where(np.isnan(gaps), 0.0, gaps)


def steepest(logs: NDArray[np.float64], space: Space) -> float:
    """Return the largest |log C[x, y] - log C[z, y]| / d(x, z), a float, from the logarithms of C."""
    return max((float((abs(gaps) / lengths).max()) for _, lengths, gaps in log_gaps(logs, space)), default=0.0)


def candidate_triples(matrix: Array, space: Space, slope: float | None) -> Iterator[Triple]:
    """Yield triples (x, z, y) that include all triples with log C[x, y] - log C[z, y] >= slope d(x, z). The slope None
    stands for the largest slope of the channel.
    """
    if isinstance(space.metric, DiscreteMetric):  # all distances are 1, so only the extremes of a column matter
        for y, column in enumerate(matrix.T):
            if (column != column[0]).any():
                yield int(column.argmax()), int(column.argmin()), y
        return
    logs = log_probabilities(matrix)
    least = steepest(logs, space) if slope is None else slope
    for edges, lengths, gaps in log_gaps(logs, space):
        bound = np.inf if least == np.inf else least * lengths * (1 - _LOG_ERROR) - _LOG_ERROR
        for k, y in np.argwhere(abs(gaps) >= bound).tolist():
            x, z = edges[k].tolist()
            yield (x, z, y) if gaps[k, y] >= 0 else (z, x, y)


class Allowance:
    """The exact test whether alpha^length * p <= q for probabilities p and q; length is one distance of secrets."""

    def __init__(self, level: Level, length: Length) -> None:
        self.level, self.length = level, length
        self.scaled = None if isinstance(length, Surd) else level.scaled(length)

    def covers(self, larger: Fraction, smaller: Fraction) -> bool:
        """Return whether alpha^length * larger <= smaller, for larger >= smaller >= 0."""
        if smaller == 0 or larger == smaller:
            return larger == smaller
        low, high = self.factors
        if at_most(high, larger, smaller) or not at_most(low, larger, smaller):
            return at_most(high, larger, smaller)
        if self.scaled is not None:
            return Level.of_alpha(smaller / larger) <= self.scaled
        length = self.length
        assert isinstance(length, Surd), "a rational length has a scaled level"

        def allowed(bits: int) -> Interval:
            return self.level.epsilon_interval(bits) * length.interval(bits)

        # The comparison ends, because an irrational power of alpha is transcendental and so equals no ratio of
        # probabilities.
        return bool(is_lower(partial(log_interval, larger / smaller), allowed))

    @cached_property
    def factors(self) -> tuple[Fraction, Fraction]:
        """A lower and an upper rational bound of alpha^length, equal if the power is rational."""
        if self.scaled is not None and self.scaled.is_rational:
            return self.scaled.alpha_fraction(), self.scaled.alpha_fraction()
        zeros = 1.5 * self.level.epsilon_float * float(self.length)
        if zeros > _MOST_BITS:  # zeros may be infinite
            return Fraction(0), Fraction(1)
        around = power_interval(self.level, self.length, 144 + ceil(zeros))
        return around.lower, around.upper


def at_most(factor: Fraction, p: Fraction, q: Fraction) -> bool:
    """Return whether factor * p <= q, by integer products without a search for common divisors."""
    return factor.numerator * p.numerator * q.denominator <= q.numerator * p.denominator * factor.denominator


def is_steeper(p: Fraction, q: Fraction, r: Fraction, s: Fraction) -> bool:
    """Return whether p / q > r / s for positive q and s, by integer products."""
    return p.numerator * s.numerator * q.denominator * r.denominator > (
        r.numerator * q.numerator * p.denominator * s.denominator
    )


def power_interval(level: Level, length: Length, bits: int) -> Interval:
    """Return an interval around alpha^length, a few units of 2^-bits wide, for a length >= 0."""
    return _power_intervals(level, (length,), bits)[0]


@lru_cache(maxsize=16)
def power_intervals(level: Level, lengths: tuple[Length, ...], bits: int) -> tuple[Interval, ...]:
    """Return intervals around alpha^length for each length. Each irrational power needs one exponential."""
    return _power_intervals(level, lengths, bits)


def _power_intervals(level: Level, lengths: tuple[Length, ...], bits: int) -> tuple[Interval, ...]:
    rational = [d for d in lengths if not isinstance(d, Surd)]
    if level.base is None and len(rational) == len(
        lengths
    ):  # one exponential is enough, where the ends of an interval would need two
        return tuple(exp_interval(-level.power * d, bits) for d in rational)
    longest = max((near_length(d) for d in lengths), default=0.0)
    guard = bits + 16 + ceil(level.epsilon_float + longest).bit_length()
    epsilon = level.epsilon_interval(guard)
    powers = []
    for d in lengths:
        if d == 0:
            powers.append(Interval.of(1, bits))
        elif isinstance(d, Surd):
            powers.append(exp_interval(-(epsilon * d.interval(guard)), bits))
        elif (at := level.scaled(d)).is_rational:
            powers.append(Interval.of(at.alpha_fraction(), bits))
        else:
            powers.append(exp_interval(-(epsilon * d), bits))
    return tuple(powers)


def near_length(length: Length) -> float:
    """Return a float close to a distance, without a bound on the error."""
    if isinstance(length, Surd):
        return sum(float(coefficient) * sqrt(radicand) for radicand, coefficient in length.terms)
    return float(length)


# A float64 zero may be the rounded value of any probability below the smallest normal float.
_LOG_OF_NOTHING = log(np.finfo(np.float64).smallest_normal)


@dataclass(frozen=True, slots=True, eq=False, init=False, weakref_slot=True)
class PrivacyType(Display, PickledByFields):
    """The channels C on a space with C[x, y] <= exp(epsilon d(x, z)) C[z, y] for all secrets x, z and outcomes y.

    On `counts(n)` the channels are the differentially private mechanisms for a count (the central model, see
    `central`); on `discrete(k)` the channels are the mechanisms of the local model (see `local`).

    Args:
        space: Secrets and their metric.
        epsilon, alpha: Level of one unit of distance, or of the distance ``per``, as epsilon or as alpha. A text may
            contain the distance: ``epsilon="ln 2 per 50 km"``.
        per: Distance for which the level is given, as a plain number, or as text with the unit of the space: "200 m".

    Source: [fernandes2022], section III; for counts, [ghosh2009], section 2.1.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts
    >>> PrivacyType(counts(3), alpha="1/2").contains(geometric_channel(4, alpha="1/2"))
    True
    """

    space: Space
    level: Level

    def __init__(
        self,
        space: Space,
        epsilon: Number | Level | None = None,
        *,
        alpha: Number | None = None,
        per: Number | None = None,
    ) -> None:
        if not isinstance(space, Space):
            raise OutOfRange(
                "a privacy type needs a Space",
                came=type(space).__name__,
                remedy="Pass a space such as spaces.counts(n); for a policy use `PolicyType`.",
            )
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "level", level_per(epsilon, alpha, per=per, unit=space.unit))

    @classmethod
    def central(cls, rows: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> "PrivacyType":
        """Return the type of the central model: mechanisms on `counts(rows)`, with the level for a change of one row.

        >>> PrivacyType.central(10, alpha="1/2").space
        spaces.counts(10)
        """
        rows = integer(rows, "rows")
        return cls(counts(rows), epsilon, alpha=alpha)

    @classmethod
    def local(cls, k: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> "PrivacyType":
        """Return the type of the local model: mechanisms with which each person randomises one of k values.

        >>> PrivacyType.local(4, epsilon=1).space
        spaces.discrete(4)
        """
        k = integer(k, "k")
        return cls(discrete(k), epsilon, alpha=alpha)

    @property
    def epsilon(self) -> Fraction | float:
        """The epsilon of one unit of distance: a Fraction if rational, else a float, rounded up."""
        return self.level.epsilon

    @property
    def alpha(self) -> Fraction | float:
        """The alpha = exp(-epsilon) of one unit of distance: a Fraction if rational, else the nearest float."""
        return self.level.alpha

    def contains(self, channel: Channel | object, tolerance: float = 1e-12) -> bool:
        """Return whether the channel belongs to this type.

        Args:
            channel: Channel (n, m). For a channel of Fractions the answer is exact, for every level and every distance.
            tolerance: For float64 channels: ratios of probabilities may exceed the bound by a factor of
                exp(tolerance), to allow for rounding, and a float 0 may be the rounded value of any probability below
                the smallest normal float. With tolerance 0 the floats are converted to rationals, and the answer is
                exact.

        Raises:
            NotAChannel: if ``channel`` is no channel, has a wrong number of secrets, or names its rows in another order
                than the space.

        Cost: O(m) for each essential edge of the space.
        """
        tolerance = real(tolerance, "tolerance")
        matrix = rows_of(channel, self.space)
        if is_exact(matrix):
            return self._keeps_exactly(matrix)
        if tolerance == 0:
            return self._keeps_exactly(as_rationals(matrix))
        if tolerance < 0:
            raise OutOfRange("the tolerance must be at least 0", came=tolerance, where="contains")
        logs, epsilon = log_probabilities(matrix), self.level.epsilon_float
        for edges, lengths, gaps in log_gaps(logs, self.space):
            larger = np.maximum(logs[edges[:, 0]], logs[edges[:, 1]])
            allowed = epsilon * lengths
            if ((abs(gaps) > allowed + tolerance) & (larger - allowed > _LOG_OF_NOTHING)).any():
                return False
        return True

    def _keeps_exactly(self, matrix: Array) -> bool:
        allowance = cache(lambda x, z: Allowance(self.level, self.space.length(x, z)))
        return all(
            allowance(x, z).covers(matrix[x, y], matrix[z, y])
            for x, z, y in candidate_triples(matrix, self.space, self.level.epsilon_float)
        )

    def restrict(self, secrets: Sequence[int]) -> "PrivacyType":
        """Return the type with the same level on the given secrets only, in the given order.

        Source: [fernandes2022], section IV-C.
        """
        sequence_of(secrets, integer, "secrets")
        return PrivacyType(self.space.restrict(secrets), self.level)

    def same_as(self, other: "PrivacyType") -> bool:
        """Return whether both types have equal spaces and equal levels."""
        instance(other, PrivacyType, "other")
        return self.level == other.level and self.space.same_as(other.space)

    def __repr__(self) -> str:
        return f"PrivacyType({self.space!r}, {level_argument(self.level)})"


def rows_of(channel: Channel | object, space: Space) -> Array:
    """Return the matrix of a channel; raise NotAChannel unless its rows are the secrets of the space."""
    read = channel if isinstance(channel, Channel) else Channel(channel)
    if read.shape[0] != space.size:
        raise NotAChannel(
            f"the channel must have {space.size} rows, one for each secret",
            came=read.shape[0],
            remedy="Pass a channel on the secrets of this space.",
        )
    if read.secrets is not None and not isinstance(space.metric, DiscreteMetric):  # all distances are 1 there
        # Rows in another order would get the distances of other secrets.
        rows, own = [str(name) for name in read.secrets], [str(name) for name in space.labels]
        is_numbered = rows == [str(at) for at in range(len(rows))]  # the rows of a file without names
        has_others = space.names is not None and not is_numbered
        if rows != own and (has_others or sorted(rows) == sorted(own)):
            first = f"{', '.join(own[:3])}{', ...' if len(own) > 3 else ''}"
            raise NotAChannel(
                "the rows of a channel must have the names and the order of the secrets of its space",
                came="other names" if sorted(rows) != sorted(own) else "another order",
                remedy=f"Sort and name the rows as the space does: {first}.",
            )
    return read.matrix
