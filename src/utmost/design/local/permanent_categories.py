r"""Store one permanent report of a category for each level. All reports of a category together cost only the largest of
their epsilons.

Reports S_1, S_2, S_3 at levels 1 < 2 < 3 form a Markov chain, in which each report is drawn from the report at the next
larger epsilon: it is the same set with probability c = (p - d/k)/(p' - d/k), where p and p' are the probabilities that
the report at the smaller and at the larger epsilon contains the client's category; otherwise it is a random set, drawn
with weights w. So the probabilities c multiply along the chain. To draw S_2 between known S_1 and S_3, Bayes' rule with
a = c_23 and b = c_12 gives:

- if S_1 and S_3 differ: S_3 with weight a (1 - b), S_1 with (1 - a) b, and a random set with (1 - a)(1 - b);
- if S_1 = S_3 = S: S with weight a b + w_S (a (1 - b) + (1 - a) b), and a random set with w_S (1 - a)(1 - b).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.sampling.process_memory import ProcessMemory
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.design.local.bits import Bits, draw_bits
from utmost.design.local.categories import Alpha, CategoryReport, Reports, chances_of
from utmost.design.local.category_reports import CategoryCoupling, in_parts, read_values

# A state is one byte, so with more states than this the draws are made in several passes.
_MOST_STATES = 200


class PermanentReports(ProcessMemory):
    """The categories of one or many clients, with permanent reports at several levels. The reports at all levels are
    chosen from the same sets.

    A report is drawn once for each level, and later calls return the same report. Reports at several levels, in any
    order, form a Markov chain, so all of them together satisfy the largest epsilon.

    Args:
        values: Category of each client, an integer in 0..k-1; the values are copied.
        how: Kind of reports. Only the sets or blocks of this kind are used, not its level.
        randomness: Source of random bits, by default the operating system.

    Raises:
        OutOfRange: if ``values`` is no list of categories.

    >>> from utmost.local import short_report
    >>> answers = PermanentReports([3, 3, 0], short_report(10, 1))
    >>> first, second, between = answers.at(1), answers.at(2), answers.at("3/2")
    >>> bool((answers.at(1) == first).all()), answers.spent
    (True, level(epsilon=2))
    """

    __slots__ = ("_how", "_known", "_randomness", "_values")

    def __init__(self, values: Any, how: CategoryReport, *, randomness: Randomness | None = None) -> None:
        instance(how, CategoryReport, "how")
        self._open(values, how, secure(randomness))

    def _open(self, values: Any, how: CategoryReport, randomness: Randomness) -> None:
        self._how, self._values = how, read_values(values, how)
        self._known: dict[Level, Reports] = {}
        self._randomness = randomness

    def at(self, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Reports:
        """Return the reports at a level; new reports are drawn conditionally on all earlier ones.

        Raises:
            NotALevel: if the level is invalid.
            Unsupported: if the level is new and this object was created in another process.
        """
        how = self._how.at(level(epsilon, alpha))
        with self._alone():
            if how.level not in self._known:
                self._check_owner()
                lower = max((at for at in self._known if at < how.level), default=None)
                higher = min((at for at in self._known if how.level < at), default=None)
                columns = [self._known[at] for at in (lower, higher) if at is not None]
                if lower is not None and higher is not None:
                    draw: Any = _Between(self._how.at(lower), how, self._how.at(higher)).drawn
                elif higher is not None:
                    draw = CategoryCoupling(how, self._how.at(higher)).tightened
                elif lower is not None:
                    draw, columns = CategoryCoupling(self._how.at(lower), how).relaxed, [self._values, *columns]
                else:
                    draw, columns = how.drawn, [self._values]
                reports = in_parts(draw, how.categories, self._randomness, *columns)
                reports.setflags(write=False)
                self._known[how.level] = reports
            return self._known[how.level]

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels of all reports so far, the smallest epsilon first."""
        return tuple(sorted(self._known))

    @property
    def spent(self) -> Level | None:
        """The level of one client for all reports together; None before the first report."""
        return max(self._known) if self._known else None

    def __repr__(self) -> str:
        return f"PermanentReports(clients={len(self._values)}, spent={self.spent})"


@dataclass(frozen=True, slots=True)
class _Between:
    """Reports at a middle epsilon, given reports of the same sets at a lower and at a higher epsilon."""

    lower: CategoryReport
    middle: CategoryReport
    higher: CategoryReport

    def drawn(self, at_lower: Reports, at_higher: Reports, randomness: Randomness) -> Reports:
        """Draw the report at the middle epsilon for each client: one of the two given reports, or a random set."""
        is_same = np.asarray((at_lower == at_higher).reshape(len(at_lower), -1).all(axis=1))
        groups, weights = self.middle.weights(at_higher)
        informed = np.zeros(len(at_lower), np.bool_)
        for first in range(0, len(weights), _MOST_STATES):
            some = slice(first, first + _MOST_STATES)
            rows = np.flatnonzero((groups >= first) & (groups < first + _MOST_STATES))
            states = np.where(is_same[rows], groups[rows] - first + 1, 0).astype(np.uint8)
            formulas = [self._informed_apart, *(partial(self._informed_at_one, weight=w) for w in weights[some])]
            informed[rows] = self._bits(states, formulas, randomness)
        is_higher = self._bits(np.zeros(len(at_lower), np.uint8), [self._higher_of_two], randomness)
        between = self.middle.tightened(at_higher, self.higher, informed & is_higher, randomness)
        is_lower = informed & ~is_higher
        between[is_lower] = at_lower[is_lower]
        return between

    def _keeps(self, *alphas: Alpha) -> tuple[Alpha, Alpha]:
        """Return a = P(middle copies higher) and b = P(lower copies middle) for one client's reports."""
        share = Fraction(self.middle.size, self.middle.categories)
        reports = (self.lower, self.middle, self.higher)
        lower, middle, higher = (how.inside_of(alpha) - share for how, alpha in zip(reports, alphas, strict=True))
        return middle / higher, lower / middle

    def _informed_apart(self, *alphas: Alpha) -> Alpha:
        """Return the probability that the middle report is one of the two known reports, not a random set, given that
        the known reports differ.
        """
        a, b = self._keeps(*alphas)
        return 1 - (1 - a) * (1 - b) / (1 - a * b)

    def _informed_at_one(self, *alphas: Alpha, weight: Fraction) -> Alpha:
        """Return the probability that the middle report is not a random set, given that the known reports agree."""
        a, b = self._keeps(*alphas)
        return (a * b + (a * (1 - b) + (1 - a) * b) * weight) / (a * b + (1 - a * b) * weight)

    def _higher_of_two(self, *alphas: Alpha) -> Alpha:
        """Return P(middle = higher | middle is one of the two known reports)."""
        a, b = self._keeps(*alphas)
        return a * (1 - b) / (a * (1 - b) + (1 - a) * b)

    def _bits(self, states: NDArray[np.uint8], formulas: Any, randomness: Randomness) -> Bits:
        levels = [how.level for how in (self.lower, self.middle, self.higher)]
        return draw_bits(states, chances_of(formulas, levels), randomness)
