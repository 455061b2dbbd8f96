"""Exact draws between levels: tightening noise, the bridge, and a path of the noise at all levels.

**A path of the noise process, from its smallest level up to epsilon = infinity.** Two-sided geometric noise at alpha is
the difference of two independent Geom(alpha). The jumps of a path that add up to Geom(alpha) = n have the sizes of the
cycles of a uniform random permutation of n points: P(c_k cycles of size k) is proportional to the product of
(alpha^k/k)^(c_k) / c_k!, for the jumps and for the cycles. A jump of size k occurs at the alpha' at which
(alpha'/alpha)^k equals a uniform number. So a path takes a few geometric and uniform draws, and no logarithm.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level
from utmost.core.gradual.process import Jump, Path
from utmost.core.gradual.steps import Bridge, Tightening
from utmost.core.sampling.categorical import Categorical
from utmost.core.sampling.draw import CHUNK, DrawMethod, plan_for
from utmost.core.sampling.geometric_draws import MarkedGeometricSampler, Real, SamplingPlan, SingleGeometricSampler
from utmost.core.sampling.integers import Integers, joined, one_below, smallest_type
from utmost.core.sampling.random_bits import Randomness, WordSource

_HOME, _ACROSS, _STAY, _LEAP = range(4)
_KEPT = 64


def tightening_noise(
    transition: Tightening, count: int, *, randomness: Randomness, method: DrawMethod | None
) -> Integers:
    """Draw ``count`` independent W of `Tightening`; each draw takes about as long as a draw of geometric noise."""
    # K ~ Geom(a) is drawn with a mark: plain (W = K), turned (W = -1-K) or, with probability w, none (W = 0).
    # Between equal levels no word is read, so that a seed gives the same noise with and without this step.
    if transition.lower == transition.higher:
        return np.zeros(count, np.int64)
    sampler = _tightening(transition, plan_for(method, count))
    sizes = (min(CHUNK, count - start) for start in range(0, count, CHUNK))
    return joined((sampler.draw(size, randomness) for size in sizes), count)


def bridge_noise(
    transition: Bridge, difference: Integers, *, randomness: Randomness, method: DrawMethod | None
) -> Integers:
    """Draw K of `Bridge` independently for each W in ``difference`` (a row of integers)."""
    # The same variables are drawn for every W: a mark, G and J of the transition's table. One more random bit is drawn
    # if W = 0 and the higher level is finite; then W is the difference of two responses, and not secret. Cost: two
    # geometric draws and a few passes; under 60 ns each by table for 10^7.
    if difference.dtype != object:
        # abs(-2^63) does not fit int64.
        difference = difference.astype(
            object if difference.size and int(difference.min()) == -(1 << 63) else np.int64, copy=False
        )
    sampler = _bridge(transition, plan_for(method, difference.size))
    chunks = (difference[start : start + CHUNK] for start in range(0, difference.size, CHUNK))
    return joined((sampler.draw(chunk, randomness) for chunk in chunks), difference.size)


class _ManyTightening:
    __slots__ = ("_marked",)

    def __init__(self, transition: Tightening, plan: SamplingPlan) -> None:
        change, ratio = transition.change, transition.lower.alpha_interval
        plain = _probability(lambda bits: change(bits) / (1 + ratio(bits)))
        turned = _probability(lambda bits: change(bits) * ratio(bits) / (1 + ratio(bits)))
        nothing = _probability(lambda bits: Interval.of(0, bits))
        # A fourth mark with probability 0 makes the number of marks a power of two, so that two bits of the index give
        # the mark.
        self._marked = MarkedGeometricSampler(ratio, (plain, turned, _probability(transition.stay), nothing), plan)

    def draw(self, count: int, randomness: Randomness) -> Integers:
        k, mark = self._marked.draw(count, randomness)
        mark = mark.view(np.int8) if mark.dtype.itemsize == 1 else mark.astype(np.int8)
        turned = (k ^ -(mark & 1)) if k.dtype != object else np.where(mark & 1, -1 - k, k)
        return np.where(mark >= _STAY, 0, turned)


class _ManyBridge:
    __slots__ = ("_idle", "_marked", "_rise")

    def __init__(self, transition: Bridge, plan: SamplingPlan) -> None:
        marks = [
            _probability(piece) for piece in (transition.home, transition.across, transition.stay, transition.leap)
        ]
        self._marked = MarkedGeometricSampler(transition.fall, marks, plan)
        self._rise = MarkedGeometricSampler(transition.rise, (lambda bits: Interval.of(1, bits),), plan)
        idle = transition.idle
        self._idle = transition.higher and Categorical(
            lambda bits: [1 - idle(bits)], word_bits=plan.word_bits, lookup=plan.lookup
        )

    def draw(self, difference: Integers, randomness: Randomness) -> Integers:
        inward, mark = self._marked.draw(difference.size, randomness)
        # This number is drawn for every entry, although few need it, so that the time does not depend on the marks.
        outward, _ = self._rise.draw(difference.size, randomness)
        size = np.abs(difference)
        # The smallest type that can represent the sum of any two of these numbers, and its negative.
        reach = max((int(part.max()) for part in (size, inward, outward) if part.size), default=0)
        kind = smallest_type((2 * reach + 1).bit_length())
        size, inward, outward = (part.astype(kind, copy=False) for part in (size, inward, outward))
        leaps = (mark == _LEAP) & (inward >= size)
        ahead = np.minimum(inward, size)
        ahead += outward * leaps
        np.copyto(ahead, ~outward, where=mark == _ACROSS)  # ~k is -1 - k
        ahead *= mark != _HOME
        if self._idle:
            at_zero = np.flatnonzero(size == 0)
            idle = self._idle.draw(at_zero.size, randomness).view(np.bool_)
            ahead[at_zero[idle]] = 0
        return np.where(difference < 0, -ahead, ahead)


def _probability(piece: Real) -> Real:
    """Clip the intervals around a probability to [0, 1]."""

    def within(bits: int) -> Interval:
        interval = piece(bits)
        return Interval(max(interval.low, 0), min(interval.high, 1 << interval.bits), interval.bits)

    return within


@lru_cache(maxsize=_KEPT)
def _tightening(transition: Tightening, plan: SamplingPlan) -> _ManyTightening:
    return _ManyTightening(transition, plan)


@lru_cache(maxsize=_KEPT)
def _bridge(transition: Bridge, plan: SamplingPlan) -> _ManyBridge:
    return _ManyBridge(transition, plan)


# `Path.at` refuses a level that lies in the cell of a jump's clock. This has a probability below 2^-250.
_CLOCK_WORDS = 4


def sample_path(start: Level, *, noise: int | None = None, randomness: Randomness) -> Path:
    """Draw a path of the process from the level ``start`` to epsilon = infinity. The noise at ``start`` is ``noise``,
    or is drawn if ``noise`` is None.
    """
    # Cost: about 20 us, and about 2 ln(1/epsilon) jumps.
    word = randomness.word
    if noise is None:
        up, down = (_geometric(start, word) for _ in range(2))
    else:  # the smaller of two Geom(alpha) with a known difference is Geom(alpha^2)
        common = _geometric(start.scaled(2), word)
        up, down = common + max(noise, 0), common + max(-noise, 0)
    jumps = []
    for size in [*_cycles(up, word), *(-size for size in _cycles(down, word))]:
        cell = 0
        for _ in range(_CLOCK_WORDS):
            cell = cell << 64 | word()
        jumps.append(Jump(size, Interval(cell, cell + 1, 64 * _CLOCK_WORDS)))
    return Path(start, tuple(jumps))


def _cycles(points: int, word: WordSource) -> Iterator[int]:
    """The sizes of the cycles of a uniform random permutation: the cycle of any given point has a uniform size."""
    while points:
        size = 1 + one_below(points, word)
        yield size
        points -= size


def _geometric(level: Level, word: WordSource) -> int:
    return _sampler(level).draw(word)[0]


@lru_cache(maxsize=64)
def _sampler(level: Level) -> SingleGeometricSampler:
    return SingleGeometricSampler(level.alpha_interval, (lambda bits: Interval.of(1, bits),))
