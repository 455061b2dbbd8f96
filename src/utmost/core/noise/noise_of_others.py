"""Certified margins of sums of cells whose noise was added by another tool, from the distribution that the tool
declares.

This module draws nothing, and promises no privacy: margins need only the distribution of the errors.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import one_of
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import normal_tail_interval, round_down, round_up
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, first_integer, read_confidence
from utmost.core.noise.combination import Combination
from utmost.core.noise.distribution import positive_number
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.laplace import Laplace
from utmost.core.noise.ratio_bars import RatioBar, fieller, ratio_of_margins
from utmost.errors import OutOfRange, UtmostError

NoiseKind = Literal["discrete laplace", "laplace", "discrete gaussian", "gaussian"]
"""The distributions of noise that other tools declare."""

_INTEGERS = ("discrete laplace", "discrete gaussian")
_LAPLACE = ("discrete laplace", "laplace")
# A continuous Laplace variable is split into steps this many times smaller than the standard deviation of the sum.
_FINENESS = 2048
_FARTHEST_ALIAS = math.log(1e18)
_FLOAT_ERROR = 2.0**-48  # error of a probability by inversion, per noise term of the sum
_LEAST_INVERTED = Fraction(1, 10**9)
_CUT = 14.0  # standard deviations of the transform, beyond which it is below e^-98
_HALVINGS = 60
_ROOT_BITS = 128


@dataclass(frozen=True, slots=True, repr=False)
class DeclaredNoise(Display):
    """The distribution of the noise of one column, as another tool declares it; made by `declared_noise`.

    Attributes:
        kind: "discrete laplace", also called two-sided geometric, with P(x) proportional to exp(-|x| / scale) on the
            integers; "laplace", with a density of the same form; "discrete gaussian", P(x) proportional to
            exp(-x^2 / (2 variance)) on the integers; "gaussian", the normal density.
        size: Scale of a Laplace distribution, variance of a Gaussian one. If a column contains the sizes, ``size`` is
            the largest of these, or 0 before the column has been read.
        column: Name of the column with the noise size of each row, or None if all rows have noise of the same size.
    """

    _shown = ("kind", "size", "column")

    kind: NoiseKind
    size: Fraction
    column: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the noise is an integer."""
        return self.kind in _INTEGERS

    @property
    def words(self) -> str:
        """The distribution in words."""
        name, parameter = self.kind.replace("laplace", "Laplace").replace("gaussian", "Gaussian"), self.parameter
        size = f"in column {self.column!r}" if self.column is not None else str(self.size)
        return f"{name}, {parameter} {size}"

    @property
    def parameter(self) -> str:
        """The name of the size: "scale" or "variance"."""
        return "scale" if self.kind in _LAPLACE else "variance"

    def sum_of(self, sizes: Iterable[Fraction]) -> "DeclaredSum":
        """The distribution of the sum of independent noises with the given sizes."""
        counts: dict[Fraction, int] = {}
        for size in sizes:
            counts[size] = counts.get(size, 0) + 1
        return DeclaredSum(self.kind, tuple(sorted(counts.items())))

    def margin(self, confidence: Number = DEFAULT_CONFIDENCE) -> int | float:
        """The smallest certified margin of the cell with the most noise.

        Raises:
            OutOfRange: if the sizes are in a column that has not been read.
        """
        if not self.size:
            remedy = "Call ut.interop.noisy_table, which reads the column."
            raise OutOfRange(
                "a margin needs noise whose size is known",
                came=f"a size in the column {self.column!r}, which was not read",
                remedy=remedy,
            )
        return self.sum_of([self.size]).margin(confidence)


def declared_noise(
    kind: NoiseKind,
    *,
    scale: Number | None = None,
    epsilon: Number | None = None,
    sensitivity: Number | None = None,
    sigma: Number | None = None,
    variance: Number | None = None,
) -> DeclaredNoise:
    """The noise of a column, as declared by the tool that added the noise.

    Args:
        kind: "discrete laplace" (two-sided geometric), "laplace", "discrete gaussian" or "gaussian".
        scale: Scale of a Laplace distribution, or the name of the column that has the scale of each row.
        epsilon, sensitivity: Numbers to pass instead of a scale, which then is sensitivity / epsilon; the sensitivity
            is 1 by default.
        sigma: Standard deviation of a Gaussian distribution; for a discrete Gaussian one, the square root of its
            parameter ``variance``.
        variance: The square of sigma, or the name of the column that has the variance of each row.

    Raises:
        OutOfRange: if the kind is unknown, if not exactly one of scale, epsilon, sigma and variance is passed, if that
            argument does not belong to the kind, or if it is not positive.
        NotANumber: if epsilon, the sensitivity or sigma is no number.

    >>> declared_noise("discrete laplace", epsilon="1/2")
    DeclaredNoise(kind='discrete laplace', size=2, column=None)
    >>> [declared_noise("gaussian", sigma=3).margin(sure) for sure in ("0.95", "0.99")]
    [5.87989195362016..., 7.72748791064670...]
    """
    is_laplace = one_of(kind, NoiseKind, "kind") in _LAPLACE
    sizes = {"scale": scale, "epsilon": epsilon} if is_laplace else {"sigma": sigma, "variance": variance}
    others = {"sigma": sigma, "variance": variance} if is_laplace else {"scale": scale, "epsilon": epsilon}
    given = [name for name, size in sizes.items() if size is not None]
    wrong = [name for name, size in others.items() if size is not None]
    if sensitivity is not None and epsilon is None:
        wrong.append("sensitivity")
    if len(given) != 1 or wrong:
        required = f"{kind} noise needs exactly one of {' and '.join(sizes)}"
        remedy = f"Write {'scale=2' if is_laplace else 'sigma=3'}, for example."
        raise OutOfRange(required, came=" and ".join([*given, *wrong]) or "none", remedy=remedy)
    (name,) = given
    size = sizes[name]
    if name in ("scale", "variance") and isinstance(size, str):
        try:
            exact(size)
        except UtmostError:  # a text that is no number is the name of a column
            return DeclaredNoise(kind, Fraction(0), size)
    number = positive_number(exact(size, name), name, "declared_noise")
    if name == "epsilon":
        wide = 1 if sensitivity is None else positive_number(sensitivity, "sensitivity", "declared_noise")
        number = wide / number
    return DeclaredNoise(kind, number * number if name == "sigma" else number)


@dataclass(frozen=True, repr=False)
class DeclaredSum(Display):
    """The error of a sum, or a difference, of cells with independent noise of one kind.

    Attributes:
        kind: Kind of the noise.
        terms: Pairs of a size and the number of cells with noise of this size.
    """

    kind: NoiseKind
    terms: tuple[tuple[Fraction, int], ...]

    @property
    def count(self) -> int:
        """Number of cells."""
        return sum(count for _, count in self.terms)

    @cached_property
    def variance(self) -> float:
        """The variance of the sum. For discrete Gaussian noise the result is an upper bound, the sum of the declared
        variances.
        """
        if self.kind == "discrete laplace":
            return float(sum(float(_geometric(size).variance()) * count for size, count in self.terms))
        return float(self._squares * (2 if self.kind == "laplace" else 1))

    @property
    def _squares(self) -> Fraction:
        power = 2 if self.kind == "laplace" else 1
        return sum((size**power * count for size, count in self.terms), Fraction(0))

    def margin(self, confidence: Number = DEFAULT_CONFIDENCE) -> int | float:
        """A certified margin, which the absolute error of the sum exceeds with probability at most 1 - confidence.

        The margin is the least one for Gaussian and discrete Laplace noise, for one cell with any noise, and for
        discrete Gaussian noise if 1 - confidence is at least 10^-9. For sums of continuous Laplace noise the margin
        exceeds the least one by less than a hundredth of the standard deviation of the sum.
        """
        return self.margin_for_miss(1 - read_confidence(confidence))

    def margin_for_miss(self, miss: Fraction) -> int | float:
        """A margin that the absolute error of the sum exceeds with probability at most ``miss``."""
        if not self.terms:
            return 0
        if self.kind == "discrete laplace":
            levels = [_geometric(size).level for size, _ in self.terms]
            return Combination([1] * len(levels), levels, [count for _, count in self.terms]).margin_for_miss(miss)
        if self.kind == "laplace" and self.count == 1:
            return Laplace(1 / self.terms[0][0]).margin(1 - miss)
        if self.kind == "laplace":
            # An exact decomposition, for any h > 0. A Laplace variable of scale b is E - E' for exponential E, and
            # E = h K + R with a geometric K of ratio exp(-h/b) and an independent R in [0, h). So it is h G + (R - R')
            # with G two-sided geometric at level h/b and |R - R'| < h: the sum is h times a sum of G, with an error of
            # less than h for each cell.
            finest = exact(math.sqrt(self.variance)) / (self.count * _FINENESS)
            step = finest.limit_denominator(10**30) or finest
            levels = [Level.of_epsilon(step / size) for size, _ in self.terms]
            steps = Combination([1] * len(levels), levels, [count for _, count in self.terms]).margin_for_miss(miss)
            return round_up((Fraction(steps) + self.count) * step)
        if self.kind == "gaussian":
            return normal_margin(self._squares, miss)
        # Discrete Gaussian noise is inverted; for tiny probabilities the bound for subgaussian sums is used.
        subgaussian = math.ceil(_root_above(self._squares * _subgaussian_square(miss)))
        if miss < _LEAST_INVERTED:
            return subgaussian
        exceeded = _InvertedGaussians(self.terms)
        return min(subgaussian, first_integer(-1, subgaussian, lambda r: exceeded(r) <= miss))


def _geometric(scale: Fraction) -> Geometric:
    return Geometric(1 / scale)


def normal_margin(variance: Fraction, miss: Fraction) -> float:
    """The least float r with P(|N| > r) <= miss for a normal N with this variance, up to rounding.

    >>> normal_margin(Fraction(1), Fraction(1, 20))
    1.95996398454005...
    """
    below, above = 0.0, round_up(Fraction(_root_above(variance * _subgaussian_square(miss))))
    bits = 64 + miss.denominator.bit_length()
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        fits = normal_tail_interval(Fraction(middle) ** 2 / variance, bits).upper <= miss
        below, above = (below, middle) if fits else (middle, above)
    return above


def _subgaussian_square(miss: Fraction) -> Fraction:
    """A q with 2 exp(-q/2) <= miss: a subgaussian S of variance proxy v has P(|S| > sqrt(q v)) <= miss."""
    log = math.log(2) + math.log(miss.denominator) - math.log(miss.numerator)
    return Fraction(2 * log * (1 + 1e-12) + 1e-12)


def _root_above(square: Fraction) -> Fraction:
    """A rational that is slightly larger than the square root of a rational."""
    scaled = -((-square.numerator << (2 * _ROOT_BITS)) // square.denominator)
    return Fraction(math.isqrt(scaled) + 1, 1 << _ROOT_BITS)


class _InvertedGaussians:
    """An upper bound of P(|S| > r) for a sum S of discrete Gaussian noises, by inversion on a period of M integers."""

    # phi is the characteristic function of S, D the Dirichlet kernel: (1/M) sum_j phi(2 pi j/M) D_r(2 pi j/M) is the
    # chance of |S + m M| <= r for some m, so it exceeds P(|S| <= r) by at most P(|S| >= M - r), which the subgaussian
    # bound keeps below 10^-18. phi decreases from 0 to pi, because it is a quotient of theta functions, so frequencies
    # beyond a cut contribute at most (2 r + 1) phi(cut).

    def __init__(self, terms: Sequence[tuple[Fraction, int]]) -> None:
        self._terms = [(float(size), count) for size, count in terms]
        self._proxy = sum(size * count for size, count in self._terms)
        self._error = _FLOAT_ERROR * (64 + sum(count for _, count in terms))

    def __call__(self, r: int) -> float:
        if r < 0:
            return 1.0
        deviation = math.sqrt(self._proxy)
        period = 2 * r + 2 + math.ceil(deviation * math.sqrt(2 * _FARTHEST_ALIAS))
        last = min(period // 2, math.ceil(period * _CUT / (2 * math.pi * deviation)) + 1)
        t = 2 * np.pi * np.arange(last + 1) / period
        chances = np.exp(sum(count * _log_transform(size, t) for size, count in self._terms))
        with np.errstate(divide="ignore", invalid="ignore"):
            kernel = np.where(t > 0, np.sin((2 * r + 1) * t / 2) / np.sin(t / 2), 2.0 * r + 1)
        twice = np.where((t > 0) & (2 * np.arange(last + 1) != period), 2.0, 1.0)
        inside = float((twice * chances * kernel).sum()) / period
        beyond = 0.0 if last == period // 2 else (2 * r + 1) * float(chances[-1])
        alias = 2 * math.exp(-((period - r) ** 2) / (2 * self._proxy))
        return min(1.0, max(0.0, 1 - inside) + beyond + alias + self._error)


def _log_transform(variance: float, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """log phi(t) of one discrete Gaussian, for 0 <= t <= pi; from Poisson's summation formula if ``variance`` >= 1."""
    if variance < 1:
        k = np.arange(1, 12)
        weights = 2 * np.exp(-(k**2) / (2 * variance))
        return np.asarray(np.log1p(np.cos(np.multiply.outer(t, k)) @ weights) - np.log1p(weights.sum()))
    m = 2 * np.pi * np.arange(-3, 4)
    shifted = -variance / 2 * (np.add.outer(t, m) ** 2 - (t**2)[:, None])
    nearest = np.log(np.exp(shifted).sum(axis=1)) - np.log(np.exp(-variance / 2 * m**2).sum())
    return np.asarray(-variance / 2 * t**2 + nearest)


def ratio_of_sums(
    top: tuple[Fraction, DeclaredNoise, Sequence[Fraction]],
    bottom: tuple[Fraction, DeclaredNoise, Sequence[Fraction]],
    shared: Sequence[Fraction],
    confidence: Fraction,
) -> RatioBar:
    """An interval that contains the true ratio of two sums of noisy cells with probability ``confidence``, or "not
    determined".

    Args:
        top, bottom: Numerator and denominator, each with three entries: the value of the sum, the noise of its cells,
            and the noise sizes of the cells that are only in this sum.
        shared: Noise sizes of the cells that are in both sums; empty for sums of two columns.
        confidence: Chance with which the interval contains the ratio.
    """
    # Fieller's set is exact for Gaussian and discrete Laplace noise. For discrete Gaussian noise the subgaussian bound
    # makes the interval two fifths wider at 95 %. For Laplace noise, and for two kinds of noise, the interval is
    # computed from the margins of both sums.
    (u, noise, above), (v, other, below) = top, bottom
    miss = 1 - confidence
    estimate = round_up(u / v) if v else None
    if noise.kind != other.kind or noise.kind == "laplace":
        half = miss / 2
        up = exact(noise.sum_of([*above, *shared]).margin_for_miss(half))
        down = exact(other.sum_of([*below, *shared]).margin_for_miss(half))
        return ratio_of_margins(u, up, v, down, confidence)
    if noise.kind == "discrete laplace":
        cells = [*((size, 1, 0) for size in above), *((size, 0, 1) for size in below), *((s, 1, 1) for s in shared)]
        counts: dict[tuple[Fraction, int, int], int] = {}
        for cell in cells:
            counts[cell] = counts.get(cell, 0) + 1
        levels = [_geometric(size).level for size, _, _ in counts]
        in_top, in_bottom = ([cell[place] for cell in counts] for place in (1, 2))
        return fieller(u, v, in_top, in_bottom, levels, counts=[*counts.values()], confidence=confidence)

    if noise.kind == "gaussian":
        square = Fraction(round_up(Fraction(normal_margin(Fraction(1), miss)))) ** 2
    else:
        square = _subgaussian_square(miss)
    # The ratios x with (u - x v)^2 <= square (a - 2 c x + b x^2). The ratio is not determined if these are no interval.
    both = sum(shared, Fraction(0))
    a, b, c = (square * variance for variance in (sum(above, both), sum(below, both), both))
    lead, middle, rest = v * v - b, u * v - c, u * u - a
    if lead <= 0:
        return RatioBar(estimate, -math.inf, math.inf, confidence)
    root = _root_above(middle * middle - lead * rest)
    return RatioBar(estimate, round_down((middle - root) / lead), round_up((middle + root) / lead), confidence)


@dataclass(frozen=True, slots=True)
class DeclaredTails:
    """The tail probabilities of one declared noise, and its mean above a threshold; see `NoiseTails`.

    Attributes:
        noise: Declared noise, of the same size in every cell.
        grid: Spacing of the true values: each value is a multiple of this spacing.
    """

    noise: DeclaredNoise
    grid: Fraction

    @classmethod
    def of(cls, noise: DeclaredNoise) -> "DeclaredTails":
        """Choose the step of the grid of true values: 1, or a smaller power of ten for real noise with a 95 % margin
        below 1.
        """
        if noise.is_whole or noise.margin("0.95") >= 1:
            return cls(noise, Fraction(1))
        return cls(noise, Fraction(10) ** math.floor(math.log10(noise.margin("0.95")) - 1))

    def probability_from(self, least: Fraction) -> float:
        """P(N >= least)."""
        if least > 0:
            return self._chance(least)
        past = Fraction(math.floor(-least) + 1) if self.noise.is_whole else -least
        return 1 - self._chance(past)

    def mean_above(self, least: Fraction) -> float:
        """E[N; N >= least], which is the same for -least, because N is symmetric."""
        first = abs(least)
        if self.noise.is_whole and least <= 0:  # the sum starts at the first integer above -least
            first = Fraction(math.floor(-least) + 1)
        start, size = float(first), float(self.noise.size)
        if self.noise.kind == "discrete laplace":
            whole, distribution = max(1, math.ceil(first)), _geometric(self.noise.size)
            return whole * float(distribution.ccdf(float(whole - 1))) + distribution.mean_beyond(whole)
        if self.noise.kind == "laplace":
            return (start + size) * math.exp(-start / size) / 2
        if self.noise.kind == "gaussian":
            return math.sqrt(size / (2 * math.pi)) * math.exp(-(start**2) / (2 * size))
        x, chances = self._integers(first)
        return float(x @ chances)

    def _integers(self, least: Fraction) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the integers from ``least`` on and their probabilities, for discrete Gaussian noise."""
        deviation = math.sqrt(self.noise.size)
        start = math.ceil(least)
        x = np.arange(start, start + math.ceil(40 * deviation) + 2, dtype=np.float64)
        k = np.arange(1, math.ceil(40 * deviation) + 2, dtype=np.float64)
        variance = float(self.noise.size)
        return x, np.exp(-(x**2) / (2 * variance)) / (1 + 2 * np.exp(-(k**2) / (2 * variance)).sum())

    def _chance(self, least: Fraction) -> float:
        """P(N >= least) for least > 0. For noise on the reals, least = 0 is allowed."""
        if self.noise.kind == "discrete laplace":
            return float(_geometric(self.noise.size).ccdf(float(math.ceil(least) - 1)))
        if self.noise.kind == "laplace":
            return math.exp(-float(least / self.noise.size)) / 2
        if self.noise.kind == "gaussian":
            return math.erfc(float(least) / math.sqrt(2 * self.noise.size)) / 2
        return float(self._integers(least)[1].sum())
