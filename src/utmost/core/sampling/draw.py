"""`sample`, which draws noise exactly: it chooses the sampler of a distribution. The sampler of staircases is also in
this module.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from fractions import Fraction
from functools import lru_cache, partial
from math import prod
from typing import Any, Literal, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import is_integer
from utmost.core.exact.arrays import objects
from utmost.core.exact.intervals import Interval
from utmost.core.exact.numbers import Number
from utmost.core.exact.progress_bar import progress_bar, report_progress
from utmost.core.noise.distribution import Distribution
from utmost.core.noise.integer_distribution import IntegerDistribution, check_formulas_once
from utmost.core.noise.profiles import Profile
from utmost.core.noise.real_distribution import RealDistribution
from utmost.core.sampling.geometric_draws import (
    CONSTANT,
    TABLE,
    MarkedGeometricSampler,
    Real,
    SamplingPlan,
    TwoSidedGeometricSampler,
)
from utmost.core.sampling.grid import chosen_exponent, declared_exponent, steps, unsnapped, unsnapped_one
from utmost.core.sampling.integers import Integers, joined, one_below, uniform_below
from utmost.core.sampling.random_bits import SYSTEM, Randomness, source
from utmost.errors import OutOfRange, Unsupported

_LARGEST = (1 << 63) - 1


class Segments:
    """The discrete staircase (period D, step r, ratio b) as a geometric variable, a segment, and a position in the
    segment.
    """

    # p(i) = a on 0 <= i < r, a b on r <= i < D, b^k p(i - kD) beyond, and p(-i) = p(i). Then X = Y if the sign is
    # plain, and X = -1 - Y if it is turned, with Y = J + k D and k ~ Geom(b) independent of the sign and of J. Sign and
    # J are those of one of four segments, in which J is uniform:
    #     plain    0..r-1    weight r            plain    r..D-1     weight b (D-r)
    #     turned   0..r-2    weight r-1          turned   r-1..D-1   weight b (D-r+1)
    # A segment has the probability weight/N, with N = 2r-1 + b (2D-2r+1): the 2D values -D..D-1 have the mass
    # a N = 1 - b, and k shifts them. `starts` and `lengths` have the first integer and the number of integers of each
    # segment; a segment of weight 0 has length 0. Source: [geng2012], (79)-(80); the segments are derived here.
    __slots__ = ("_ratio", "lengths", "starts")

    def __init__(self, ratio: Real, period: int, step: int) -> None:
        self._ratio = ratio
        self.starts = (0, step, 0, step - 1)
        self.lengths = (step, period - step, step - 1, period - step + 1)

    def probabilities(self) -> tuple[Real, ...]:
        """The probability of each segment: its weight divided by the sum of the four weights."""
        plain, period = self.lengths[0], self.lengths[0] + self.lengths[1]

        def probability(segment: int, bits: int) -> Interval:
            # Weights are divided by the period first, so that wide periods cost no precision.
            b = self._ratio(bits)
            near, far = Fraction(2 * plain - 1, period), Fraction(2 * (period - plain) + 1, period)
            share = Fraction(self.lengths[segment], period)
            return (b * share if segment % 2 else Interval.of(share, b.bits)) / (near + b * far)

        return tuple(partial(probability, segment) for segment in range(4))


class StaircaseSampler:
    """Draws arrays of discrete staircase noise. At epsilon = 1, a draw takes 12 ns by table, and 16 ns in constant
    time.
    """

    __slots__ = ("_lengths", "_marked", "_period", "_starts")

    def __init__(self, ratio: Real, period: int, step: int, plan: SamplingPlan) -> None:
        segments = Segments(ratio, period, step)
        self._period = period
        self._marked = MarkedGeometricSampler(ratio, segments.probabilities(), plan)
        self._starts = np.array(segments.starts, np.int64 if period <= _LARGEST else object)
        self._lengths = np.array(segments.lengths, np.uint64 if period <= _LARGEST else object)

    def draw(self, count: int, randomness: Randomness) -> Integers:
        k, segment = self._marked.draw(count, randomness)
        lengths = self._lengths.take(segment)
        place: Integers
        if lengths.dtype == np.uint64:
            place = uniform_below(lengths, randomness).view(np.int64)
        else:
            place = objects(one_below(n, randomness.word) for n in lengths)
        place += self._starts.take(segment)
        wide = (int(k.max(initial=0)) + 1) * self._period > _LARGEST
        y: Integers = k.astype(object if wide else np.int64)
        y *= self._period
        y += place
        # The turned segments are the last two. There -1 - y is computed as ~y, without a branch.
        y ^= np.negative(segment >> 1).view(np.int8).astype(y.dtype)
        return y


DrawMethod = Literal["constant", "table"]
"""The method of drawing arrays: in a time that does not depend on the values, or as fast as possible."""

Shape = int | tuple[int, ...] | None

CONSTANT_UP_TO = 1_000_000
"""The largest number of draws for which the default method is constant-time."""

# The number of draws at a time. So many draws fit into the second-level cache, and need little memory in addition to
# the result.
CHUNK = 1 << 16
_KEPT = 64
_MOST = 10**11
# Single draws and arrays of up to _FEW are taken from _AHEAD draws made together, since a NumPy call takes far
# longer than one draw. An array from a user's source is drawn separately, so that a seed gives the same array in
# every version.
_AHEAD, _FEW = 1024, 128
_SHOWN = 1 << 25
"""A call for more draws than this takes more than a second, and shows a progress bar."""


class Mechanism(Protocol):
    """A mechanism whose outcome depends on a secret: a channel, the geometric mechanism on counts, or a policy
    design.
    """

    def draw(self, secrets: Any, shape: Any = (), *, randomness: Any = None, method: DrawMethod | None = None) -> Any:
        """Independent outcomes, one for each secret."""


class IntegerSampler(Protocol):
    def draw(self, count: int, randomness: Randomness) -> Integers:
        """``count`` independent draws."""


@overload
def sample(
    distribution: Distribution,
    shape: Shape = (),
    *,
    randomness: Randomness | None = None,
    method: DrawMethod | None = None,
) -> Any: ...
@overload
def sample(
    distribution: Mechanism,
    secret: Any,
    shape: Shape = (),
    *,
    randomness: Randomness | None = None,
    method: DrawMethod | None = None,
) -> Any: ...
def sample(  # type: ignore[misc]  # for noise the second argument is the shape, by position or by name
    distribution: Distribution | Mechanism,
    secret: Any = (),
    shape: Shape = (),
    *,
    randomness: Randomness | None = None,
    method: DrawMethod | None = None,
) -> Any:
    """Independent draws from noise, or from a mechanism: ``sample(noise, shape)``, ``sample(channel, secret, shape)``.

    Given random bits, the draws are exact: no float is used between the bits and the values. `Channel.draw` describes
    the draws of mechanisms.

    Args:
        distribution: Noise on the integers, drawn as integers; or noise on the reals, such as `Laplace` or `Staircase`,
            drawn as floats that are multiples of a power of two, with exactly the distribution of `on_grid`; or a
            `Channel`.
        secret: Secret, or array of secrets, that a mechanism answers. Noise takes no secret.
        shape: Shape of the result; () or None for a single draw.
        randomness: Source of the bits; by default the operating system.
        method: "constant" or "table"; by default "constant" for up to a million draws, and "table" for more.
            proofs/theory/exact-draws.md says which times are constant.

    Returns:
        An int or a float for a single draw; else an array of int64 or float64, or of Python ints if one exceeds int64.

    Raises:
        Unsupported: if the noise has no sampler, if the channel has floats, or if the draws do not fit into memory.
        OutOfRange: if the shape or the method is invalid.

    Cost: for integer noise at epsilon = 1, a single draw takes less than 1 us. In an array, a draw takes 5 ns in
    constant time, and 2 ns by table.

    >>> from utmost.noise import Geometric
    >>> noise = sample(Geometric(epsilon=1), (2, 3))
    >>> noise.shape, noise.dtype
    ((2, 3), dtype('int64'))
    >>> from utmost.channels import geometric_channel
    >>> sample(geometric_channel(3, alpha="1/2"), 2, 1000).max()
    np.int64(2)
    """
    if not isinstance(distribution, Distribution):
        if not callable(getattr(type(distribution), "draw", None)):
            raise _no_sampler(distribution)
        return distribution.draw(secret, shape, randomness=randomness, method=method)
    # Noise takes no secret, so its shape may be passed as either argument.
    if isinstance(shape, tuple) and not shape:
        shape = secret
    elif not isinstance(secret, tuple) or secret:
        remedy = "Leave out shape= or secret=."
        raise OutOfRange("only one of shape and secret may be given", came="both", where="sample", remedy=remedy)
    bits = SYSTEM if randomness is None else source(randomness)
    if shape is None or (isinstance(shape, tuple) and not shape):
        if method is not None:
            plan_for(method, 1)  # an unknown method is refused here
        # Hundreds of draws are made together, and one of them is returned, so that its time does not depend on its
        # value.
        lattice_exponent, pending = _waiting(distribution, bits)
        while True:
            try:
                noise: int = pending.pop()
            except IndexError:
                _draw_ahead(distribution, pending, bits)
            else:
                return noise if lattice_exponent is None else unsnapped_one(noise, lattice_exponent)
    size = (shape,) if not isinstance(shape, tuple) else shape
    if not all(is_integer(n) and n >= 0 for n in size):
        raise OutOfRange("shape must be integers of at least 0", came=shape, where="sample")
    count = prod(map(int, size))
    if count > _MOST:
        raise OutOfRange(f"shape must have at most {_MOST} draws in all", came="more", where="sample")
    if count <= _FEW and method is None and randomness is None:
        return _few(distribution, count, bits).reshape(size)
    sampler, exponent = _sampler_of(distribution, plan_for(method, count))
    try:
        with progress_bar("Drawing") if count > _SHOWN else nullcontext():
            parts = _drawn(sampler, count, bits)
            if exponent is None:
                whole: NDArray[Any] = joined(parts, count)
            else:
                whole, start = np.empty(count, np.float64), 0
                for part in parts:
                    whole[start : start + part.size] = unsnapped(part, exponent)
                    start += part.size
    except MemoryError:
        raise Unsupported("the draws must fit into memory", where="sample", remedy="Draw fewer at once.") from None
    return whole.reshape(size)


def draws(
    distribution: IntegerDistribution, count: int, *, randomness: Randomness, method: DrawMethod | None
) -> Iterator[Integers]:
    """Yield ``count`` independent draws from noise on the integers, in arrays of at most `CHUNK` draws, of any integer
    type.
    """
    return _drawn(_sampler_of(distribution, plan_for(method, count))[0], count, randomness)


def _drawn(sampler: IntegerSampler, count: int, randomness: Randomness) -> Iterator[Integers]:
    for start in range(0, count, CHUNK):
        yield sampler.draw(min(CHUNK, count - start), randomness)
        if count > _SHOWN:
            report_progress(start, count)


def on_grid(distribution: Distribution, grid: Number | None = None) -> tuple[IntegerDistribution, int | None]:
    """Return the integer noise that is drawn for ``distribution``, and the k of its grid of width 2^-k (None for noise
    on the integers).

    On a grid of width g the integer noise is `on_steps` of ``distribution`` for D = ceil(Delta / g), where Delta is the
    sensitivity: Laplace noise becomes geometric noise of sensitivity D, and a staircase the discrete staircase with the
    step nearest to gamma D + 1/2.

    Args:
        distribution: Noise on the integers or on the reals.
        grid: Width of the grid for noise on the reals, a power of two. By default about 2^-20 of the sensitivity at
            epsilon = 1, and finer at larger epsilon.

    >>> from utmost.noise import Laplace
    >>> on_grid(Laplace(epsilon=1, sensitivity=2), grid="1/4")
    (Geometric(epsilon=1, sensitivity=8), 2)
    """
    if isinstance(distribution, IntegerDistribution):
        if grid is not None:
            raise OutOfRange("noise on the integers takes no grid", came=grid, remedy="Leave out grid=.")
        return distribution, None
    if not isinstance(distribution, RealDistribution):
        raise _no_sampler(distribution)
    width = Fraction(distribution.sensitivity)
    exponent = chosen_exponent(width, distribution.level) if grid is None else declared_exponent(grid)
    return distribution.on_steps(steps(width, exponent)), exponent


def method_for(count: int) -> DrawMethod:
    """The default method: "constant" if ``count`` <= `CONSTANT_UP_TO`, else "table", which takes a varying time."""
    return "constant" if count <= CONSTANT_UP_TO else "table"


def plan_for(method: DrawMethod | None, count: int) -> SamplingPlan:
    """The sampling plan for ``method``, or for the default method of ``count`` draws if ``method`` is None."""
    if method is None:
        method = method_for(count)
    plans = {"constant": CONSTANT, "table": TABLE}
    if not isinstance(method, str) or method not in plans:
        raise OutOfRange('method must be "constant" or "table"', came=method, remedy="Leave out method=.")
    return plans[method]


def _no_sampler(distribution: object) -> Unsupported:
    return Unsupported(
        "exact draws need noise on the integers, Laplace or Staircase noise, or a channel", came=distribution
    )


_samplers: dict[tuple[int, SamplingPlan], tuple[Distribution, IntegerSampler, int | None]] = {}


def _sampler_of(distribution: Distribution, plan: SamplingPlan) -> tuple[IntegerSampler, int | None]:
    # Samplers are cached by the identity of the distribution, since to hash it takes longer than a hundred draws. The
    # cache keeps the object alive, so that no other object gets its identity. Nothing random is stored.
    key = id(distribution), plan
    entry = _samplers.get(key)
    if entry is None:
        lattice, exponent = on_grid(distribution)
        check_formulas_once(lattice)
        if len(_samplers) >= _KEPT:
            _samplers.clear()
        entry = _samplers[key] = distribution, _many(lattice.canonical, plan), exponent
    return entry[1:]


@lru_cache(maxsize=_KEPT)
def _many(distribution: Profile | IntegerDistribution, plan: SamplingPlan) -> IntegerSampler:
    if isinstance(distribution, Profile):
        ratio, period = distribution.level.alpha_interval, distribution.period
        return (
            TwoSidedGeometricSampler(ratio, plan)
            if period == 1
            else StaircaseSampler(ratio, period, distribution.step, plan)
        )
    # This module is imported only for a user's own distributions.
    from utmost.core.sampling.tail_sampler import TailSampler

    return TailSampler(distribution, plan)


def _few(distribution: Distribution, count: int, randomness: Randomness) -> NDArray[Any]:
    """Take a few draws from the list of draws made in advance. Each pop is atomic, so that no two threads get the same
    draw.
    """
    exponent, pending = _waiting(distribution, randomness)
    drawn: list[int] = []
    while len(drawn) < count:
        try:
            drawn.extend([pending.pop() for _ in range(count - len(drawn))])
        except IndexError:  # draws that were popped before an interruption are lost, and never used twice
            _draw_ahead(distribution, pending, randomness)
    try:
        whole: Integers = np.array(drawn, np.int64)
    except OverflowError:
        whole = objects(drawn)
    return whole if exponent is None else unsnapped(whole, exponent)


def _waiting(distribution: Distribution, randomness: Randomness) -> tuple[int | None, list[int]]:
    """Return the exponent of the grid, and the draws made in advance, which are stored with their stream of bits."""
    # The list is cached by the identity of the distribution, as in `_sampler_of`.
    ahead = randomness.ahead
    entry = ahead.get(id(distribution))
    if entry is None:
        if len(ahead) >= _KEPT:
            ahead.clear()
        lattice, exponent = on_grid(distribution)
        check_formulas_once(lattice)
        entry = ahead[id(distribution)] = distribution, exponent, ahead.setdefault(lattice.canonical, [])
    return entry[1:]


def _draw_ahead(distribution: Distribution, pending: list[int], randomness: Randomness) -> None:
    pending.extend(next(draws(on_grid(distribution)[0], _AHEAD, randomness=randomness, method="constant")).tolist())
