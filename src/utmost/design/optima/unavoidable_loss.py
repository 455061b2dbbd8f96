r"""Compute how much accuracy a release at two levels must lose if it cannot have the optimal noise at both levels.

**Joint distributions of two integer noises with geometric tails, as linear forms in finitely many masses.**

The joint distribution of two noises (V_1, V_2) is described by its slices m_w(v) = P(V_1 - V_2 = w, V_2 = v). Beyond
``reach``, slices are multiplied by b_1 = exp(-eps_1) from each period D of w to the next, and within a slice masses are
multiplied by b_2 = exp(-eps_2) from each period of v to the next, so all masses are multiples of the masses with |w|,
|v| <= reach. The joint distribution is symmetric: m_{-w}(-v) = m_w(v).

**The program.**

For sensitivity D and levels eps_1 < eps_2, over joint distributions m_w(v) = P(V_1 - V_2 = w, V_2 = v),

.. math::
    \min t: \quad m_w(v) \le e^{\epsilon_2} m_w(v + d), \quad
    P(V_1 = v) \le e^{\epsilon_1} P(V_1 = v + d), \quad 0 < |d| \le D,

.. math:: E\,c(V_i) \le (1 + t)\, c_i, \quad c_i \text{ the least cost of any noise at } \epsilon_i.

The program is solved for joint distributions with geometric tails beyond ``reach``. Each joint distribution of this
form that satisfies the constraints is a private pair, so the value of the program is an upper bound of the unavoidable
loss, and some release attains this value. The value decreases as ``reach`` grows, and converges quickly.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact_integer
from utmost.core.noise.costs import Moment, absolute
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.programs.highs import solve
from utmost.core.programs.linear_program import LinearProgram
from utmost.errors import OutOfRange, Unsupported

LinearForm = dict[int, float]
"""A linear form: the coefficient of each variable, by the index of the variable."""


def combined(*terms: tuple[LinearForm, float]) -> LinearForm:
    """Return the sum of the linear forms, each multiplied by its factor."""
    total: LinearForm = {}
    for form, factor in terms:
        for variable, value in form.items():
            total[variable] = total.get(variable, 0.0) + factor * value
    return total


@dataclass(frozen=True, slots=True)
class PairForms:
    """Probabilities of two noises (V_1, V_2) as linear forms in the variables of the program."""

    period: int  # the period D
    b1: float  # factor from period to period at the lower epsilon
    b2: float  # factor from period to period at the higher epsilon, smaller than b1
    reach: int  # a multiple of D
    _numbers: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for w in range(self.reach + 1):
            for v in range(-self.reach, self.reach + 1):
                self._number(w, v)

    @property
    def size(self) -> int:
        """The number of variables: the free masses, and P(V_1 = v) for v = 0, ..., last."""
        return len(self._numbers) + self.last + 1

    @property
    def last(self) -> int:
        """The largest v for which P(V_1 = v) is a variable."""
        return self.tail_start + 3 * self.period

    def mass(self, w: int, v: int) -> tuple[int, float]:
        """Return m_w(v) as a multiple of a variable: the index of the variable, and the factor."""
        w, outside = self._inside(w)
        v, beyond = self._inside(v)
        return self._number(w, v), self.b1**outside * self.b2**beyond

    def first(self, v: int) -> LinearForm:
        """Return P(V_1 = v) as a multiple of the variable that stands for it; this form has fewer terms than
        `sum_of_first`.
        """
        periods = abs(v) // self.period
        return {len(self._numbers) + abs(v): self.b1**periods}

    def sum_of_first(self, v: int) -> LinearForm:
        """Return P(V_1 = v) as the sum over all w of m_w(v - w)."""
        far = max(self.reach, abs(v) + self.reach) + self.period
        return self._over_slices(lambda w: v - w, far, self.b1 * self.b2)

    def second(self, v: int) -> LinearForm:
        return self._over_slices(lambda _: v, self.reach + self.period, self.b1)

    @property
    def tail_start(self) -> int:
        """The least v with P(V_1 = v + kD) = A b_1^k + B b_2^k for all k >= 0, for some A and B."""
        return 2 * self.reach + self.period

    def tails(self, v: int) -> tuple[LinearForm, LinearForm]:
        """For v >= `tail_start`, return A and B with P(V_1 = v + kD) = A b_1^k + B b_2^k for all k >= 0."""
        here, next_one, gap = self.first(v), self.first(v + self.period), self.b1 - self.b2
        slow = combined((next_one, 1 / gap), (here, -self.b2 / gap))
        return slow, combined((here, self.b1 / gap), (next_one, -1 / gap))

    def _over_slices(self, v_of: Callable[[int], int], far: int, ratio: float) -> LinearForm:
        total: LinearForm = {}
        for w in range(-far, far + 1):
            number, factor = self.mass(w, v_of(w))
            # The last period represents all further periods.
            total[number] = total.get(number, 0.0) + factor / (1 - ratio if abs(w) > far - self.period else 1)
        return total

    def _inside(self, x: int) -> tuple[int, int]:
        periods = max(0, -(-(abs(x) - self.reach) // self.period))
        return (x - periods * self.period if x > 0 else x + periods * self.period), periods

    def _number(self, w: int, v: int) -> int:
        key = (-w, -v) if w < 0 or (w == 0 and v < 0) else (w, v)
        return self._numbers.setdefault(key, len(self._numbers))


_SLACK = 1e-9
_MOST_ROWS = 4_000_000  # a program with so many rows takes minutes and gigabytes
_MOST_EPSILON = 700  # for a larger epsilon, alpha underflows


def gradual_loss(
    sensitivity: Number,
    lower: Number | Level,
    higher: Number | Level,
    *,
    cost: Moment = absolute,
    keep: Literal["lower", "higher"] | None = None,
    reach: Number = 4,
) -> float:
    """Return the least t such that two noises for a gradual release cost at most 1 + t times the optimum at each level.

    A gradual release has one noise for each of two levels. Each noise satisfies its own level, and the two noises
    together satisfy the higher level.

    Args:
        sensitivity: Sensitivity D of both noises, at least 1.
        lower: Smaller epsilon, as a number or as a `Level`.
        higher: Larger epsilon, as a number or as a `Level`.
        cost: Absolute or squared cost.
        keep: "lower" or "higher": the level whose noise has the least possible cost, so that only the cost of the other
            noise increases. By default both costs may increase.
        reach: Number of periods D of each noise whose masses are free variables.

    Returns:
        The number t, with an error of about 1e-8: 0.003 means 0.3 % more cost than the optimum, and 0 means lossless.

    Raises:
        OutOfRange: if ``lower`` is not below ``higher``, or if the sensitivity is below 1.
        Unsupported: if the cost is neither absolute nor squared, or if an epsilon or the program is too large.

    Cost: a linear program of 2 (reach D)^2 masses and 8 reach^2 D^3 rows.

    >>> round(100 * gradual_loss(3, 1, "3/2"), 2)
    0.31
    """
    D, periods = exact_integer(sensitivity, "sensitivity"), exact_integer(reach, "reach")
    lower_level, higher_level = level(lower), level(higher)
    if D < 1 or periods < 1:
        came = f"sensitivity={sensitivity} and reach={reach}"
        raise OutOfRange("sensitivity and reach must be at least 1", came=came)
    if not lower_level < higher_level:
        remedy = "Pass the smaller epsilon first."
        raise OutOfRange(
            f"the second level must have a larger epsilon than {lower_level}", came=higher_level, remedy=remedy
        )
    if not isinstance(cost, Moment) or cost.order not in (1, 2):
        remedy = "Pass costs.absolute or costs.squared."
        raise Unsupported("the cost must be absolute or squared", came=cost, remedy=remedy)
    if 8 * periods**2 * D**3 > _MOST_ROWS:
        remedy = "Pass a smaller reach, or count in a coarser unit."
        raise Unsupported(
            f"the program must have at most {_MOST_ROWS} rows", came=f"reach {periods}, D = {D}", remedy=remedy
        )
    if higher_level.epsilon_float > _MOST_EPSILON:
        raise Unsupported(f"epsilon must be at most {_MOST_EPSILON}", came=higher_level, remedy="Pass smaller levels.")
    forms = PairForms(D, math.exp(-lower_level.epsilon_float), math.exp(-higher_level.epsilon_float), periods * D)
    rows = _privacy_forms(forms)
    least_values = [0.0] * len(rows)
    costs = _expected_costs(forms, int(cost.order))
    for which, at, form in zip(("lower", "higher"), (lower_level, higher_level), costs, strict=True):
        least = float(DiscreteStaircase(at, D, cost).expected_cost(cost))
        rows.append(combined((form, -1 / least), ({forms.size: 1.0}, 0.0 if keep == which else 1.0)))
        least_values.append(-1.0 - (_SLACK if keep == which else 0.0))
    fixed = [_expected_costs(forms, 0)[1]]
    for v in range(forms.last + 1):
        scale = forms.b1 ** (v // forms.period)
        fixed.append(combined((forms.first(v), -1 / scale), (forms.sum_of_first(v), 1 / scale)))
    values_of_fixed = [1.0] + [0.0] * (forms.last + 1)
    triplets = [(i, n, c) for i, row in enumerate([*rows, *fixed]) for n, c in row.items()]
    where, numbers, values = map(np.array, zip(*triplets, strict=True))
    objective = np.zeros(forms.size + 1)
    objective[-1] = 1
    low, high = [*least_values, *values_of_fixed], [math.inf] * len(rows) + values_of_fixed
    program = LinearProgram.of_triplets(objective, where, numbers, values, lower=low, upper=high)
    return max(0.0, float(solve(program).value))


def _privacy_forms(forms: PairForms) -> list[LinearForm]:
    """Return the linear forms that must be nonnegative so that both levels are satisfied."""
    D, rows = forms.period, []
    shifts = [d for d in range(-D, D + 1) if d]
    for w in range(forms.reach + 1):
        for v in range(-forms.reach - D, forms.reach + D + 1):
            number, factor = forms.mass(w, v)
            for d in shifts:
                other, weight = forms.mass(w, v + d)
                # Masses that are multiples of the same variable differ by a power of the ratio, so they satisfy
                # privacy.
                if other != number:
                    rows.append({other: weight / forms.b2 / factor, number: -1.0})
    first = {v: forms.first(v) for v in range(-2 * D, forms.tail_start + 2 * D + 1)}
    for v in range(-D, forms.tail_start + D + 1):
        rows += [combined((first[v + d], 1 / forms.b1), (first[v], -1.0)) for d in shifts]
    slow = {v: forms.tails(v)[0] for v in range(forms.tail_start, forms.tail_start + 2 * D)}
    for v in range(forms.tail_start, forms.tail_start + D):
        for d in range(1, D + 1):
            if v + d in slow:
                pair = slow[v + d], slow[v]
                rows += [combined((x, 1 / forms.b1), (y, -1.0)) for x, y in (pair, pair[::-1])]
    return rows


def _expected_costs(forms: PairForms, order: int) -> tuple[LinearForm, LinearForm]:
    """Return E|V_1|^order and E|V_2|^order as linear forms."""
    D, first, second = forms.period, [], []
    for v in range(1, forms.tail_start):
        first.append((forms.first(v), 2.0 * v**order))
    for v in range(forms.tail_start, forms.tail_start + D):
        slow, quick = forms.tails(v)
        first.append((slow, 2 * _tail_moment(v, D, forms.b1, order)))
        first.append((quick, 2 * _tail_moment(v, D, forms.b2, order)))
    for v in range(-forms.reach - D, forms.reach + D + 1):
        size = abs(v)
        second.append((forms.second(v), _tail_moment(size, D, forms.b2, order) if size > forms.reach else size**order))
    return combined(*first), combined(*((form, float(factor)) for form, factor in second))


def _tail_moment(x: int, D: int, b: float, order: int) -> float:
    """Return the sum of (x + kD)^order b^k over k >= 0, for order 0, 1 or 2."""
    once, twice = 1 / (1 - b), b / (1 - b) ** 2
    if order == 0:
        return once
    if order == 1:
        return x * once + D * twice
    return x * x * once + 2 * x * D * twice + D * D * twice * (1 + b) / (1 - b)
