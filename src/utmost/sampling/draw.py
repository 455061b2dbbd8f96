"""From a law to exact draws of it: which sampler serves which law, at which size."""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import floor, prod
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange, Unsupported
from utmost.exact import Number
from utmost.noise import DiscreteStaircase, Geometric, IntegerLaw, Laplace, Law, Staircase
from utmost.noise.profiles import Profile
from utmost.sampling.geometric_draws import CONSTANT, TABLE, DrawPlan, ManyTwoSided
from utmost.sampling.grid import chosen_exponent, declared_exponent, steps, unsnapped, unsnapped_one
from utmost.sampling.integers import Integers, joined
from utmost.sampling.random_bits import SYSTEM, Randomness, source
from utmost.sampling.staircase_draws import ManyStaircase

Method = Literal["constant", "table"]
"""How arrays are drawn: in a time that does not depend on the values, or as fast as can be."""

Shape = int | tuple[int, ...] | None

CONSTANT_UP_TO = 1_000_000
"""Up to so many draws the default is the constant-time method."""

# So many draws at once stay in the second-level cache, and bound the memory beside the result.
CHUNK = 1 << 16
_KEPT = 64
# A single draw is made together with so many others.
_AHEAD = 1024


class _Many(Protocol):
    def draw(self, count: int, randomness: Randomness) -> Integers: ...


def sample(law: Law, shape: Shape = (), *, randomness: Randomness | None = None, method: Method | None = None) -> Any:
    """Independent draws of a law, exact for random bits: no float stands between them and what is drawn.

    Args:
        law: `Geometric` or `DiscreteStaircase`, drawn as integers; or `Laplace` or `Staircase`, drawn as floats that
            are multiples of a power of two, with exactly the law on them that `on_grid` gives.
        shape: of the result; () or None for a single draw.
        randomness: where the bits come from; the operating system, if left out.
        method: "constant" or "table"; if left out, constant up to a million draws. See the theory page on exact draws
            for what is constant and what is not.

    Returns:
        An int or a float for a single draw; else an array of int64 or float64, or of Python ints in the event that one
        of them exceeds int64.

    Raises:
        Unsupported: for a law that has no sampler.
        OutOfRange: for a bad shape or method.

    Cost: for an integer law at epsilon = 1, under 1 us for a single draw, 5 ns each constant-time, 2 ns each by table.

    >>> noise = sample(Geometric(epsilon=1), (2, 3))
    >>> noise.shape, noise.dtype
    ((2, 3), dtype('int64'))
    """
    bits = SYSTEM if randomness is None else source(randomness)
    if shape is None or (isinstance(shape, tuple) and not shape):
        if method is not None:
            plan_for(method, 1)
        return _one(law, bits)
    size = (shape,) if not isinstance(shape, tuple) else shape
    if not all(isinstance(n, int | np.integer) and not isinstance(n, bool) and n >= 0 for n in size):
        raise OutOfRange("a shape must be made of integers of at least 0", came=shape, where="sample")
    count = prod(map(int, size))
    lattice, exponent = on_grid(law)
    parts = draws(lattice, count, randomness=bits, method=method)
    if exponent is None:
        return joined(parts, count).reshape(size)
    return _floats(parts, count, exponent).reshape(size)


def draws(law: IntegerLaw, count: int, *, randomness: Randomness, method: Method | None) -> Iterator[Integers]:
    """``count`` independent draws of a law on the integers, in arrays of a bounded size, of whatever integer type."""
    sampler = _many(law.profile, plan_for(method, count))
    return (sampler.draw(min(CHUNK, count - start), randomness) for start in range(0, count, CHUNK))


def on_grid(law: Law, grid: Number | None = None) -> tuple[IntegerLaw, int | None]:
    """The law on the integers that stands for a law, and the exponent k of the grid 2^-k where the law is on the reals.

    On a grid of width g, with D = ceil(Delta / g), the Laplace law becomes the geometric law of sensitivity D, and the
    staircase the discrete one with the step nearest to gamma D + 1/2. For gamma = 1/2 an even D is raised by one, which
    keeps the level, so that it stays the half step, the one that can be relaxed without loss.

    Args:
        grid: the declared width, a power of two; only for laws on the reals. Chosen by `chosen_exponent` if left out.

    >>> on_grid(Laplace(epsilon=1, sensitivity=2), grid="1/4")
    (Geometric(epsilon=1, sensitivity=8), 2)
    """
    if isinstance(law, IntegerLaw):
        if grid is not None:
            raise OutOfRange("a law on the integers has no grid", came=grid, remedy="Leave out grid=.")
        return law, None
    if not isinstance(law, Laplace | Staircase):
        raise _no_sampler(law)
    width = Fraction(law.sensitivity)
    exponent = chosen_exponent(width, law.level) if grid is None else declared_exponent(grid)
    period = steps(width, exponent)
    if isinstance(law, Laplace):
        return Geometric(law.level, period), exponent
    if law.gamma == 0.5:
        period |= 1
    step = min(period, floor(Fraction(law.gamma) * period) + 1)
    return DiscreteStaircase(law.level, period, step=step), exponent


def plan_for(method: Method | None, count: int) -> DrawPlan:
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


@lru_cache(maxsize=_KEPT)
def _many(profile: Profile, plan: DrawPlan) -> _Many:
    ratio = profile.level.alpha_interval
    return (
        ManyTwoSided(ratio, plan) if profile.period == 1 else ManyStaircase(ratio, profile.period, profile.step, plan)
    )


def _one(law: Law, randomness: Randomness) -> int | float:
    """A single draw, taken from some hundreds that were drawn at once, in the same time whatever its value.

    They are kept with the stream they came from. Hashing a law takes longer than the rest, so they are also found by
    its identity; the entry keeps the law alive, so that no other one is given that identity.
    """
    ahead = randomness.ahead
    found = ahead.get(id(law))
    if found is None:
        if len(ahead) >= _KEPT:
            ahead.clear()
        lattice, exponent = on_grid(law)
        found = ahead[id(law)] = law, exponent, ahead.setdefault(lattice.profile, [])
    _, exponent, pending = found
    while True:
        try:
            noise: int = pending.pop()
        except IndexError:
            pending.extend(next(draws(on_grid(law)[0], _AHEAD, randomness=randomness, method="constant")).tolist())
        else:
            return noise if exponent is None else unsnapped_one(noise, exponent)
