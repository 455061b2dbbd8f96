"""The rule by which published cells are withheld, and the bias that it causes in the shown cells.

Statistical offices leave out cells that are small, or have a large relative error. A rule on noisy values is a function
of the release: it costs no epsilon, and the guarantee stays valid. The rule adds no protection, which comes from the
noise alone. The rule biases the shown cells: a cell near the threshold is shown when its noise is positive.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import text, truth
from utmost.core.exact.display import Display, number_words
from utmost.core.exact.intervals import round_up
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, written_number
from utmost.core.noise.combination import Combination
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.core.noise.noise_of_others import DeclaredTails
from utmost.errors import BadTable, OutOfRange, UtmostError, WrongKind

_LARGEST = Fraction(10**100)  # bounds of a withholding rule lie between 1e-100 and 1e100
SHOWN = "shown"
"""The mark of a cell that satisfies the rule."""
WITHHELD = "withheld"
UNRELIABLE = "unreliable"
MARKS = (WITHHELD, UNRELIABLE)
"""The marks of a cell that does not satisfy the rule: it is blank if "withheld", and has its value if "unreliable"."""


@dataclass(frozen=True, slots=True, repr=False)
class WithholdingRule(Display):
    """A rule that shows cells whose noisy values reach every bound that is set: a number, a multiple of the margin.

    Attributes:
        below: Cells with a noisy value below this are withheld; None for no such bound.
        relative_margin: Cells are withheld if their margin exceeds this fraction of their absolute noisy value; None
            for no such bound.
        complementary: Whether further cells are withheld, so that no withheld cell follows from published ones of the
            same release by adding and subtracting. A reader still learns the bound that the rule implies for each
            withheld cell.
        mark: "withheld" leaves withheld cells blank; "unreliable" only marks them, and keeps the number.

    Raises:
        OutOfRange: if there is no bound, if a bound is not above 0, or if the mark is unknown.
        NotANumber, WrongKind: if another argument is invalid.

    >>> WithholdingRule.of(below=90).threshold(6), WithholdingRule.of(relative_margin="1/4").threshold(6)
    (Fraction(90, 1), Fraction(24, 1))
    """

    below: Fraction | None
    relative_margin: Fraction | None
    complementary: bool
    mark: str

    @classmethod
    def of(
        cls,
        below: Number | None = None,
        relative_margin: Number | None = None,
        *,
        complementary: bool = False,
        mark: str = WITHHELD,
    ) -> "WithholdingRule":
        """Make the rule with these bounds and this mark, and check it."""
        bounds = {"below": below, "relative_margin": relative_margin}
        read = {name: None if bound is None else written_number(bound, name) for name, bound in bounds.items()}
        for name, bound in read.items():
            if bound is not None and not 1 / _LARGEST <= bound <= _LARGEST:
                raise OutOfRange(
                    f"{name} must lie between 1e-100 and 1e100",
                    came=bound,
                    remedy=f"Pass, for example, {name}={'90' if name == 'below' else '0.25'}.",
                )
        if below is None and relative_margin is None:
            remedy = 'Pass below=90, relative_margin="1/4", or both.'
            raise OutOfRange("at least one of below= and relative_margin= must be given", came="none", remedy=remedy)
        truth(complementary, "complementary")
        if text(mark, "mark") not in MARKS:
            raise OutOfRange(
                f"mark must be one of {', '.join(map(repr, MARKS))}",
                came=repr(mark),
                remedy='Pass, for example, mark="withheld".',
            )
        if complementary and mark == UNRELIABLE:
            remedy = f"Leave out complementary= or mark=: a cell marked {UNRELIABLE!r} keeps its value."
            raise OutOfRange(
                f"only one of complementary=True and mark={UNRELIABLE!r} may be given", came="both", remedy=remedy
            )
        return cls(read["below"], read["relative_margin"], complementary, mark)

    @property
    def is_blank(self) -> bool:
        """Whether withheld cells are blank."""
        return self.mark == WITHHELD

    def threshold(self, margin: Number) -> Fraction:
        """Return the least noisy value (without ``below``, the least absolute value) that is shown with this margin."""
        least = Fraction(0) if self.relative_margin is None else exact(margin) / self.relative_margin
        return least if self.below is None else max(least, self.below)

    def shows(self, values: NDArray[Any], margins: NDArray[Any]) -> NDArray[np.bool_]:
        """For each cell, return whether it satisfies the rule.

        Args:
            values: Noisy values, integers or floats, shape (n,).
            margins: Margins of the cells, shape (n,).

        >>> WithholdingRule.of(below=90, relative_margin="1/4").shows(np.array([89, 90, -95]), np.array([6, 6, 6]))
        array([False,  True, False])
        """
        sizes = np.abs(values) if self.below is None else values
        shown = np.zeros(len(values), dtype=bool)
        for margin in set(margins.tolist()):
            # A cell whose noisy value equals `below`, the threshold, is shown.
            shown |= (margins == margin) & (sizes >= self._bound(margin, is_float=sizes.dtype.kind == "f"))
        return shown

    def passes(self, value: int | float, margin: Number) -> bool:
        """Whether one cell satisfies the rule; `shows` is the same for many cells."""
        size = abs(value) if self.below is None else value
        return bool(size >= self._bound(margin, is_float=isinstance(value, float)))

    def _bound(self, margin: Number, *, is_float: bool) -> int | float:
        """Return the threshold, rounded up to an integer or a float."""
        least = self.threshold(margin)
        return round_up(least) if is_float else math.ceil(least)

    @property
    def words(self) -> str:
        """Sentences for readers: which cells the rule shows, and that it protects nobody."""
        return (
            f"{self.condition} The rule looks at noisy values alone: it costs no epsilon, and the noise, not the rule, "
            "protects. It hides nothing from readers of the whole release."
        )

    @property
    def condition(self) -> str:
        """A sentence that says which cells are shown."""
        conditions = [] if self.below is None else [f"its noisy value is {number_words(self.below)} or more"]
        if self.relative_margin is not None:
            margin = f"{number_words(100 * self.relative_margin)} %"
            conditions.append(f"its error bar is at most {margin} of the size of its noisy value")
        which = "is withheld" if self.is_blank else f"is marked {UNRELIABLE!r}"
        further = (
            " Further cells are withheld under the same mark, so that none follows from the tables that this rule was "
            "applied to together by adding and subtracting."
            if self.complementary
            else ""
        )
        return f"A cell is shown where {' and '.join(conditions)}; any other {which}.{further}"

    def facts(self) -> dict[str, Any]:
        """Return the rule as JSON values, which `of_facts` reads."""
        bounds = {"below": self.below, "relative_margin": self.relative_margin}
        return {
            **{name: None if bound is None else str(bound) for name, bound in bounds.items()},
            "complementary": self.complementary,
            "mark": self.mark,
        }

    @classmethod
    def of_facts(cls, facts: object) -> "WithholdingRule":
        """Read and check the rule from JSON values."""
        names = ("below", "relative_margin", "complementary", "mark")
        try:
            if not isinstance(facts, Mapping) or set(facts) != set(names):
                raise WrongKind("a withholding rule must have all its fields", came=type(facts).__name__)
            rule = cls.of(**facts)
        except UtmostError as error:
            raise BadTable(
                "a statement of a withheld table must contain its rule", came=error.required, where="rule"
            ) from None
        if rule.facts() != dict(facts):
            raise BadTable(
                "the numbers of a rule must be spelled as utmost writes them", came="another spelling", where="rule"
            )
        return rule


@dataclass(frozen=True, slots=True)
class NoiseTails:
    """The tail probabilities of noise on a lattice, and the mean of the noise above a threshold.

    Distributions that are drawn have closed forms. For a combination on a lattice, tail probabilities are added up. If
    the lattice of a combination is too fine to matter, its density is computed from its characteristic function,
    smoothed over 1/256 of a standard deviation: the results then have an error of about a hundredth, without a proved
    bound.
    """

    distribution: IntegerDistribution | Combination  # Noise in steps of ``grid``
    grid: Fraction = Fraction(1)

    def probability_from(self, least: Fraction) -> float:
        step = self._step
        if isinstance(self.distribution, IntegerDistribution):
            return float(self.distribution.ccdf(float(math.ceil(least / self.grid) - 1)))
        if step is None:
            values, chances = _smoothed(
                self.distribution.coefficients, self.distribution.levels, self.distribution.counts
            )
            return float(chances[values >= float(least) - _BLUR * values[-1]].sum())
        steps = math.ceil(least / step)
        missed = self.distribution.tail((abs(steps) - _HALF if steps > 0 else abs(steps) + _HALF) * step) / 2
        return missed if steps > 0 else 1 - missed

    def mean_above(self, least: Fraction) -> float:
        """Return E[N; N >= least] = c P(N >= c) + E max(N - c, 0), where c is the first multiple of a step >= least."""
        step = self._step
        if step is None and isinstance(self.distribution, Combination):
            values, chances = _smoothed(
                self.distribution.coefficients, self.distribution.levels, self.distribution.counts
            )
            above = values >= float(least) - _BLUR * values[-1]
            return float(values[above] @ chances[above])
        steps = math.ceil(least / (step or 1))
        far = abs(steps)
        if isinstance(self.distribution, IntegerDistribution):
            beyond = self.distribution.mean_beyond(far)
        else:
            assert step is not None, "noise that is not on a lattice has no steps"
            last = far + math.ceil(_FAR * float(self.distribution.variance) ** 0.5 / float(step))
            beyond = sum(self.distribution.tail((place + _HALF) * step) for place in range(far, last)) / 2
        return float(step or 1) * (steps * self.probability_from(least) + (beyond + max(0, -steps)))

    @property
    def _step(self) -> Fraction | None:
        """The step of the noise's lattice; None if the lattice is too fine to matter."""
        if isinstance(self.distribution, IntegerDistribution):
            return self.grid
        step = self.distribution.step
        return None if step is None or float(step) * _FINE < float(self.distribution.variance) ** 0.5 else step


@lru_cache(maxsize=16)
def _smoothed(
    coefficients: tuple[Fraction, ...], levels: tuple[Level, ...], counts: tuple[int, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute values and smoothed probabilities of a sum of geometric noises from its characteristic function."""
    # The characteristic function of one noise at alpha is (1 - alpha)^2 / (1 - 2 alpha cos t + alpha^2).
    deviation = float(Combination(coefficients, levels, counts).variance) ** 0.5
    width = deviation / 256
    frequencies = 2 * np.pi * np.fft.rfftfreq(_POINTS, width)
    transform = np.exp(-((frequencies * width) ** 2) / 2)
    for size, level, count in zip(coefficients, levels, counts, strict=True):
        alpha = math.exp(-level.epsilon_float)
        single = (1 - alpha) ** 2 / (1 - 2 * alpha * np.cos(float(size) * frequencies) + alpha * alpha)
        transform = transform * single**count
    chances = np.fft.fftshift(np.fft.irfft(transform, _POINTS))
    return (np.arange(_POINTS) - _POINTS // 2) * width, chances


_HALF, _FINE, _POINTS = Fraction(1, 2), 24, 1 << 14
_BLUR = 3 / (_POINTS // 2 - 1)  # values up to three widths of smoothing below the threshold count as shown
_FAR = 16  # beyond this many standard deviations, a sum of geometric noises has probability below 10^-9
_NEGLIGIBLE = 1e-9


def shown_bias(rule: WithholdingRule, tails: NoiseTails | DeclaredTails, margin: int | float) -> list[dict[str, Any]]:
    """Return the chance to be shown, and the bias if shown, of cells with true values -1, 0, 1 and 2 margins above the
    threshold.
    """
    # With noise N and threshold B, a cell with the true value t is shown if N >= B - t; its bias is then E[N | N >= B -
    # t]. A rule that also shows negative values shows the cell if N <= -B - t, too.
    bound, width = rule.threshold(margin), max(exact(margin), tails.grid)
    truths = [math.ceil((bound + times * width) / tails.grid) * tails.grid for times in (-1, 0, 1, 2)]
    biases = list[dict[str, Any]]()
    for true in truths:
        sides = [(bound - true, 1)] + ([(bound + true, -1)] if rule.below is None and bound > 0 else [])
        chance = min(1.0, sum(tails.probability_from(least) for least, _ in sides))
        moved = sum(sign * tails.mean_above(least) for least, sign in sides)
        bias = _three_digits(moved / chance) if chance > _NEGLIGIBLE else None
        biases.append({"true": str(true), "chance_shown": _three_digits(chance), "bias": bias})
    return biases


def _three_digits(number: float) -> float:
    """Round to three digits: the quadrature has this accuracy, so that every machine gives the same number."""
    return float(f"{number:.3g}")


def bias_words(bias: Sequence[dict[str, Any]], rule: WithholdingRule) -> str:
    parts = [
        f"a true {number_words(Fraction(fact['true']))} is shown in {100 * fact['chance_shown']:.3g} % of releases, "
        f"and then {abs(fact['bias']):.3g} too {'high' if fact['bias'] >= 0 else 'low'} on average"
        for fact in bias
        if fact["bias"] is not None
    ]
    further = " The further cells are not in these figures." if rule.complementary else ""
    which = "Shown cells are biased" if rule.is_blank else "Cells without a mark are biased"
    return (
        f"{which}, since noise decides which cells these are. Under the widest noise {'; '.join(parts)}. "
        "Sums and means of shown cells have this bias, and no error bar; sums and means of all cells have no bias."
        f"{further}"
    )
