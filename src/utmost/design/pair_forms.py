r"""Joint laws of two integer noises with geometric tails, as linear forms in finitely many masses.

A pair (V_1, V_2) is described by its slices m_w(v) = P(V_1 - V_2 = w, V_2 = v). Beyond ``reach`` the slices fall by
b_1 from each period D of w to the next, and within a slice the masses fall by b_2 from each period of v to the next, so
that all of them are multiples of the masses with |w|, |v| <= reach. The pair is symmetric: m_{-w}(-v) = m_w(v).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

Form = dict[int, float]
"""A linear form: coefficients by number of variable."""


def combined(*terms: tuple[Form, float]) -> Form:
    """The sum of forms times factors.

    >>> combined(({0: 1.0}, 2.0), ({0: 1.0, 1: 1.0}, -1.0))
    {0: 1.0, 1: -1.0}
    """
    total: Form = {}
    for form, factor in terms:
        for place, value in form.items():
            total[place] = total.get(place, 0.0) + factor * value
    return total


@dataclass(frozen=True, slots=True)
class PairForms:
    """The forms of one family of pairs.

    Attributes:
        period: D.
        strict, loose: b_1 > b_2, the ratios from period to period.
        reach: a multiple of D.
    """

    period: int
    strict: float
    loose: float
    reach: int
    _numbers: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for w in range(self.reach + 1):
            for v in range(-self.reach, self.reach + 1):
                self._number(w, v)

    @property
    def size(self) -> int:
        """How many masses are free."""
        return len(self._numbers)

    def mass(self, w: int, v: int) -> tuple[int, float]:
        """m_w(v) as a multiple of a free mass: (number, factor)."""
        w, outside = self._inside(w)
        v, beyond = self._inside(v)
        return self._number(w, v), self.strict**outside * self.loose**beyond

    def first(self, v: int) -> Form:
        """P(V_1 = v)."""
        far = max(self.reach, abs(v) + self.reach) + self.period
        return self._over_slices(lambda w: v - w, far, self.strict * self.loose)

    def second(self, v: int) -> Form:
        """P(V_2 = v)."""
        return self._over_slices(lambda _: v, self.reach + self.period, self.strict)

    @property
    def settled(self) -> int:
        """From here on P(V_1 = v + kD) = A b_1^k + B b_2^k."""
        return 2 * self.reach + self.period

    def tails(self, v: int) -> tuple[Form, Form]:
        """(A, B) for v >= settled."""
        here, next_one, gap = self.first(v), self.first(v + self.period), self.strict - self.loose
        slow = combined((next_one, 1 / gap), (here, -self.loose / gap))
        return slow, combined((here, self.strict / gap), (next_one, -1 / gap))

    def _over_slices(self, place: Callable[[int], int], far: int, ratio: float) -> Form:
        total: Form = {}
        for w in range(-far, far + 1):
            number, factor = self.mass(w, place(w))
            # The last period stands for all periods beyond.
            total[number] = total.get(number, 0.0) + factor / (1 - ratio if abs(w) > far - self.period else 1)
        return total

    def _inside(self, x: int) -> tuple[int, int]:
        periods = max(0, -(-(abs(x) - self.reach) // self.period))
        return (x - periods * self.period if x > 0 else x + periods * self.period), periods

    def _number(self, w: int, v: int) -> int:
        key = (-w, -v) if w < 0 or (w == 0 and v < 0) else (w, v)
        return self._numbers.setdefault(key, len(self._numbers))
