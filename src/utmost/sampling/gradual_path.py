"""Exact draws of a whole path of the noise process, from the strictest level up to epsilon = infinity.

Two-sided geometric noise at alpha is the difference of two independent Geom(alpha), and the jumps of a path that add up
to Geom(alpha) = n are, in size, the cycles of a uniform random permutation of n points: P(c_k cycles of size k) is
prop. to the product of (alpha^k/k)^(c_k) / c_k!, on both sides. A jump of size k happens where (alpha'/alpha)^k passes
a uniform number. So a path takes a few geometric and uniform draws, and no logarithm.
"""

from collections.abc import Iterator
from functools import lru_cache

from utmost.exact import Interval, Level
from utmost.noise.gradual import Jump, Path
from utmost.sampling.bits import Randomness, Word
from utmost.sampling.marked import OneMarked
from utmost.sampling.uniform import one_below

# A level asked for later falls into the cell of a jump's clock, and is refused, with a chance below 2^-250.
_CLOCK_WORDS = 4


def sample_path(start: Level, *, noise: int | None = None, randomness: Randomness) -> Path:
    """A path of the process from a level on.

    Args:
        start: the strictest level of the path, per unit.
        noise: what the noise is there; drawn with the rest, if left out.
        randomness: where the bits come from.

    Cost: about 20 us, and some 2 ln(1/epsilon) jumps.
    """
    word = randomness.word
    if noise is None:
        up, down = (_geometric(start, word) for _ in range(2))
    else:  # given the difference, the smaller one is Geom(alpha^2)
        common = _geometric(start.scaled(2), word)
        up, down = common + max(noise, 0), common + max(-noise, 0)
    sizes = [*_cycles(up, word), *(-size for size in _cycles(down, word))]
    return Path(start, tuple(Jump(size, _clock(word)) for size in sizes))


def _cycles(points: int, word: Word) -> Iterator[int]:
    """The sizes of the cycles of a uniform random permutation: that of a given point's cycle is uniform."""
    while points:
        size = 1 + one_below(points, word)
        yield size
        points -= size


def _clock(word: Word) -> Interval:
    """A uniform number, known to the cell of its first bits."""
    drawn = 0
    for _ in range(_CLOCK_WORDS):
        drawn = drawn << 64 | word()
    return Interval(drawn, drawn + 1, 64 * _CLOCK_WORDS)


def _geometric(level: Level, word: Word) -> int:
    return _sampler(level).draw(word)[0]


@lru_cache(maxsize=64)
def _sampler(level: Level) -> OneMarked:
    return OneMarked(level.alpha_interval, (lambda bits: Interval.of(1, bits),))
