"""From a law to exact draws of it: which sampler serves which law, at which size; and the draws of staircases."""

from collections.abc import Iterator
from contextlib import nullcontext
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Any, Literal, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import is_integer
from utmost.core.exact.arrays import objects
from utmost.core.exact.intervals import Interval
from utmost.core.exact.numbers import Number
from utmost.core.exact.progress_bar import progress_bar, report_progress
from utmost.core.noise.integer_law import IntegerLaw
from utmost.core.noise.law import Law
from utmost.core.noise.profiles import Profile
from utmost.core.noise.real_law import RealLaw
from utmost.core.sampling.geometric_draws import CONSTANT, TABLE, ArrayDraws, ManyMarked, ManyTwoSided, Real
from utmost.core.sampling.grid import chosen_exponent, declared_exponent, steps, unsnapped, unsnapped_one
from utmost.core.sampling.integers import Integers, joined, one_below, uniform_below
from utmost.core.sampling.random_bits import SYSTEM, Randomness, source
from utmost.errors import OutOfRange, Unsupported

_LARGEST = (1 << 63) - 1


class Segments:
    r"""The discrete staircase of period D, step r and ratio b as a geometric variable, a segment and a uniform place.

    p(i) = a on 0 <= i < r, a b on r <= i < D, b^k p(i - kD) beyond, and p(-i) = p(i). Then X = Y if the sign is plain,
    else -1-Y, with Y = J + k D, k ~ Geom(b) independent of the sign and of J, which is uniform on one of

        plain   0..r-1, weight r          r..D-1, weight b (D-r)
        turned  0..r-2, weight r-1        r-1..D-1, weight b (D-r+1)

    in parts of their sum N = 2r-1 + b (2D-2r+1): the 2D values -D..D-1 carry a N = 1 - b in all, and k shifts them out.

    Attributes:
        starts, lengths: of the four segments; a segment of weight zero has length zero and is never met.

    Source: [geng2012], (79)-(80); the segments are derived here.
    """

    __slots__ = ("_ratio", "lengths", "starts")

    def __init__(self, ratio: Real, period: int, step: int) -> None:
        self._ratio = ratio
        self.starts = (0, step, 0, step - 1)
        self.lengths = (step, period - step, step - 1, period - step + 1)

    def probabilities(self) -> tuple[Real, ...]:
        """Of each segment: its weight over the sum of the four."""
        return tuple(self._probability(segment) for segment in range(4))

    def _probability(self, segment: int) -> Real:
        plain, period = self.lengths[0], self.lengths[0] + self.lengths[1]

        def probability(bits: int) -> Interval:
            # Weights are divided by the period first, so that wide periods cost no precision.
            b = self._ratio(bits)
            near, far = Fraction(2 * plain - 1, period), Fraction(2 * (period - plain) + 1, period)
            share = Fraction(self.lengths[segment], period)
            return (b * share if segment % 2 else Interval.of(share, b.bits)) / (near + b * far)

        return probability


class ManyStaircase:
    """Arrays of discrete staircase draws.

    Cost: at epsilon = 1 about 12 ns a draw by table and 16 ns constant-time, for any period up to 2^32.
    """

    __slots__ = ("_lengths", "_marked", "_period", "_starts")

    def __init__(self, ratio: Real, period: int, step: int, plan: ArrayDraws) -> None:
        segments = Segments(ratio, period, step)
        self._period = period
        self._marked = ManyMarked(ratio, segments.probabilities(), plan)
        self._starts = np.array(segments.starts, np.int64 if period <= _LARGEST else object)
        self._lengths = np.array(segments.lengths, np.uint64 if period <= _LARGEST else object)

    def draw(self, count: int, randomness: Randomness) -> Integers:
        """``count`` independent draws."""
        k, segment = self._marked.draw(count, randomness)
        place = self._places(segment, randomness)
        wide = (int(k.max(initial=0)) + 1) * self._period > _LARGEST
        y: Integers = k.astype(object if wide else np.int64)
        y *= self._period
        y += place
        y ^= np.negative(segment >> 1).view(np.int8).astype(y.dtype)
        return y

    def _places(self, segment: Integers, randomness: Randomness) -> Integers:
        lengths = self._lengths.take(segment)
        places: Integers
        if lengths.dtype == np.uint64:
            places = uniform_below(lengths, randomness).view(np.int64)
        else:
            places = objects(one_below(n, randomness.word) for n in lengths)
        places += self._starts.take(segment)
        return places


Method = Literal["constant", "table"]
"""How arrays are drawn: in a time that does not depend on the values, or as fast as can be."""

Shape = int | tuple[int, ...] | None

CONSTANT_UP_TO = 1_000_000
"""Up to so many draws the default is the constant-time method."""

# So many draws at once stay in the second-level cache, and bound the memory beside the result.
CHUNK = 1 << 16
_KEPT = 64
_MOST = 10**11
# A single draw is made together with so many others, and so are arrays of at most so many: for these NumPy's calls are
# all that takes time. Where a source is given, an array is drawn for itself: what it drew, it draws for ever.
_AHEAD, _FEW = 1024, 128
_SHOWN = 1 << 25
"""Of more draws it is told how far they are: they take a second and a half, or more."""


class Mechanism(Protocol):
    """What answers a secret: a channel, the geometric mechanism on counts, a design."""

    def draw(self, secrets: Any, shape: Any = (), *, randomness: Any = None, method: Method | None = None) -> Any:
        """Independent outcomes, one for each secret that is asked about."""


class _Many(Protocol):
    def draw(self, count: int, randomness: Randomness) -> Integers: ...


@overload
def sample(
    law: Law, shape: Shape = (), *, randomness: Randomness | None = None, method: Method | None = None
) -> Any: ...
@overload
def sample(
    law: Mechanism,
    secret: Any,
    shape: Shape = (),
    *,
    randomness: Randomness | None = None,
    method: Method | None = None,
) -> Any: ...
def sample(  # type: ignore[misc]  # a law's second argument is the shape, by position or by name
    law: Law | Mechanism,
    secret: Any = (),
    shape: Shape = (),
    *,
    randomness: Randomness | None = None,
    method: Method | None = None,
) -> Any:
    """Independent draws of a law, or of a mechanism: ``sample(law, shape)``, ``sample(channel, secret, shape)``.

    Exact for random bits: no float stands between them and what is drawn. For mechanisms see `Channel.draw`.

    Args:
        secret: of a mechanism, and of no law: the secret that is asked about, or an array of them.
        law: any law on the integers, drawn as integers; or one on the reals, such as `Laplace` or `Staircase`, drawn as
            floats that are multiples of a power of two, with exactly the law on them that `on_grid` gives; or a
            `Channel`.
        shape: of the result; () or None for a single draw.
        randomness: where the bits come from; the operating system, if left out.
        method: "constant" or "table"; if left out, constant up to a million draws. See the theory page on exact draws
            for what is constant and what is not.

    Returns:
        An int or a float for a single draw; else an array of int64 or float64, or of Python ints in the event that one
        of them exceeds int64.

    Raises:
        Unsupported: for a law that has no sampler, a channel of floats, and more draws than the memory holds.
        OutOfRange: for a bad shape or method.

    Cost: for an integer law at epsilon = 1, under 1 us for a single draw, 5 ns each constant-time, 2 ns each by table.

    >>> from utmost.noise import Geometric
    >>> noise = sample(Geometric(epsilon=1), (2, 3))
    >>> noise.shape, noise.dtype
    ((2, 3), dtype('int64'))
    >>> from utmost.channels import geometric_channel
    >>> sample(geometric_channel(3, alpha="1/2"), 2, 1000).max()
    np.int64(2)
    """
    if not isinstance(law, Law):
        return _of_mechanism(law, secret, shape, randomness, method)
    shape = _only_shape(secret, shape)
    bits = SYSTEM if randomness is None else source(randomness)
    if shape is None or (isinstance(shape, tuple) and not shape):
        if method is not None:
            # A method that is none is refused here too.
            plan_for(method, 1)
        return _one(law, bits)
    size = (shape,) if not isinstance(shape, tuple) else shape
    if not all(is_integer(n) and n >= 0 for n in size):
        raise OutOfRange("a shape must be made of integers of at least 0", came=shape, where="sample")
    count = prod(map(int, size))
    if count > _MOST:
        raise OutOfRange(f"at most {_MOST} draws can be made at once", came="more", where="sample")
    if count <= _FEW and method is None and randomness is None:
        return _few(law, count, bits).reshape(size)
    sampler, exponent = _sampler_of(law, plan_for(method, count))
    try:
        with progress_bar("Drawing") if count > _SHOWN else nullcontext():
            parts = _drawn(sampler, count, bits)
            whole = joined(parts, count) if exponent is None else _floats(parts, count, exponent)
    except MemoryError:
        raise Unsupported("the draws must fit the memory", where="sample", remedy="Draw fewer at once.") from None
    return whole.reshape(size)


def _of_mechanism(mechanism: Any, secret: Any, shape: Shape, randomness: Randomness | None, method: Any) -> Any:
    """Outcomes of a mechanism, which knows how to draw them."""
    if not callable(getattr(type(mechanism), "draw", None)):
        raise _no_sampler(mechanism)
    return mechanism.draw(secret, shape, randomness=randomness, method=method)


def _only_shape(first: Shape, second: Shape) -> Shape:
    """The shape of the draws of a law, which takes no secret."""
    if isinstance(second, tuple) and not second:
        return first
    if isinstance(first, tuple) and not first:
        return second
    raise OutOfRange("a law takes a shape and no secret", came="both", where="sample")


def draws(law: IntegerLaw, count: int, *, randomness: Randomness, method: Method | None) -> Iterator[Integers]:
    """``count`` independent draws of a law on the integers, in arrays of a bounded size, of whatever integer type."""
    return _drawn(_sampler_of(law, plan_for(method, count))[0], count, randomness)


def _drawn(sampler: _Many, count: int, randomness: Randomness) -> Iterator[Integers]:
    for start in range(0, count, CHUNK):
        yield sampler.draw(min(CHUNK, count - start), randomness)
        if count > _SHOWN:
            report_progress(start, count)


def on_grid(law: Law, grid: Number | None = None) -> tuple[IntegerLaw, int | None]:
    """The law on the integers that stands for a law, and the exponent k of the grid 2^-k where the law is on the reals.

    On a grid of width g it is the law's own `on_steps` for D = ceil(Delta / g): the Laplace law becomes the geometric
    law of sensitivity D, and the staircase the discrete one with the step nearest to gamma D + 1/2.

    Args:
        grid: the declared width, a power of two; only for laws on the reals. Chosen by `chosen_exponent` if left out.

    >>> from utmost.noise import Laplace
    >>> on_grid(Laplace(epsilon=1, sensitivity=2), grid="1/4")
    (Geometric(epsilon=1, sensitivity=8), 2)
    """
    if isinstance(law, IntegerLaw):
        if grid is not None:
            raise OutOfRange("a law on the integers has no grid", came=grid, remedy="Leave out grid=.")
        return law, None
    if not isinstance(law, RealLaw):
        raise _no_sampler(law)
    width = Fraction(law.sensitivity)
    exponent = chosen_exponent(width, law.level) if grid is None else declared_exponent(grid)
    return law.on_steps(steps(width, exponent)), exponent


def plan_for(method: Method | None, count: int) -> ArrayDraws:
    """The plan by the name of the method, or by the number of draws."""
    if method is None:
        return CONSTANT if count <= CONSTANT_UP_TO else TABLE
    plans = {"constant": CONSTANT, "table": TABLE}
    if not isinstance(method, str) or method not in plans:
        raise OutOfRange('method must be "constant" or "table"', came=method, remedy="Leave out method=.")
    return plans[method]


def _no_sampler(law: object) -> Unsupported:
    return Unsupported("exact draws are known for laws on the integers, and for Laplace and Staircase", came=law)


def _floats(parts: Iterator[Integers], count: int, exponent: int) -> NDArray[np.float64]:
    whole, start = np.empty(count, np.float64), 0
    for part in parts:
        whole[start : start + part.size] = unsnapped(part, exponent)
        start += part.size
    return whole


_samplers: dict[tuple[int, ArrayDraws], tuple[Law, _Many, int | None]] = {}


def _sampler_of(law: Law, plan: ArrayDraws) -> tuple[_Many, int | None]:
    """What draws the law by the array, and the exponent of its grid; nothing random is kept.

    Found by the identity of the law, since its lattice and a hash take longer than a hundred draws; the entry keeps
    the law alive, so that no other one is given that identity.
    """
    key = id(law), plan
    entry = _samplers.get(key)
    if entry is None:
        lattice, exponent = on_grid(law)
        if len(_samplers) >= _KEPT:
            _samplers.clear()
        entry = _samplers[key] = law, _many(lattice.canonical, plan), exponent
    return entry[1:]


@lru_cache(maxsize=_KEPT)
def _many(law: Profile | IntegerLaw, plan: ArrayDraws) -> _Many:
    if isinstance(law, Profile):
        ratio, period = law.level.alpha_interval, law.period
        return ManyTwoSided(ratio, plan) if period == 1 else ManyStaircase(ratio, period, law.step, plan)
    # No law of the library is drawn by its tails: commands do without the file.
    from utmost.core.sampling.by_tails import ManyByTail

    return ManyByTail(law, plan)


def _one(law: Law, randomness: Randomness) -> int | float:
    """A single draw, taken from some hundreds that were drawn at once, in the same time whatever its value."""
    exponent, pending = _waiting(law, randomness)
    while True:
        try:
            noise: int = pending.pop()
        except IndexError:
            _draw_ahead(law, pending, randomness)
        else:
            return noise if exponent is None else unsnapped_one(noise, exponent)


def _few(law: Law, count: int, randomness: Randomness) -> NDArray[Any]:
    """A few draws, taken from those that wait for `_one`: each in one step, so that nothing between takes it again."""
    exponent, pending = _waiting(law, randomness)
    drawn: list[int] = []
    while len(drawn) < count:
        try:
            drawn.extend([pending.pop() for _ in range(count - len(drawn))])
        except IndexError:  # what this took of the last ones is left out
            _draw_ahead(law, pending, randomness)
    try:
        whole: Integers = np.array(drawn, np.int64)
    except OverflowError:
        whole = objects(drawn)
    return whole if exponent is None else unsnapped(whole, exponent)


def _waiting(law: Law, randomness: Randomness) -> tuple[int | None, list[int]]:
    """The exponent of the law's grid, and the draws of it that wait with the stream they came from.

    Hashing a law takes longer than the rest, so they are also found by its identity; the entry keeps the law alive, so
    that no other one is given that identity.
    """
    ahead = randomness.ahead
    entry = ahead.get(id(law))
    if entry is None:
        if len(ahead) >= _KEPT:
            ahead.clear()
        lattice, exponent = on_grid(law)
        entry = ahead[id(law)] = law, exponent, ahead.setdefault(lattice.canonical, [])
    return entry[1:]


def _draw_ahead(law: Law, pending: list[int], randomness: Randomness) -> None:
    pending.extend(next(draws(on_grid(law)[0], _AHEAD, randomness=randomness, method="constant")).tolist())
