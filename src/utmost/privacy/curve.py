"""Two hypotheses told apart by one release: the curve of the best tests, and whose it is.

A test of X against X + s raises a false alarm with probability p and misses with probability beta. The smallest beta
for each p is a convex curve from beta(0) <= 1 to beta(1) = 0, and its slopes are likelihood ratios; everything that
this room says about a pair of hypotheses is read off it.
"""

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange, Unsupported
from utmost.exact import Interval, Level, exact, exact_integer
from utmost.noise import IntegerLaw, Laplace, RealLaw, Staircase
from utmost.privacy.laplace import LaplaceCurve
from utmost.privacy.rows import RowsCurve
from utmost.privacy.staircase import StaircaseCurve

Law = IntegerLaw | RealLaw
"""A law of additive noise, on the integers or on the reals."""


class Curve(Protocol):
    """Conforming: `StaircaseCurve` (all integer laws, and the staircase), `LaplaceCurve`, `RowsCurve`."""

    @property
    def is_rational(self) -> bool:
        """Whether the curve is rational at rational points."""

    def missed(self, false_alarm: NDArray[np.float64]) -> NDArray[np.float64]:
        """The least missed-detection probability at an array of probabilities, in floats."""

    def missed_exactly(self, false_alarm: Fraction) -> Fraction:
        """The same at one rational, where the curve is rational."""

    def excess_exactly(self, level: Level | None) -> Fraction | None:
        """sup over S of P(X + s in S) - e^epsilon P(X in S) for rational data (None: epsilon 0); None if irrational."""

    def excess_enclosed(self, level: Level | None, bits: int) -> Interval:
        """The same as an interval, for any level."""


def curve_of(law: Law | Any, shift: Any = None) -> Curve:
    """The curve of a law against its copy shifted by ``shift``, or of a pair of rows.

    Args:
        law: a law, or two rows of a channel (a `Channel` with two rows, or what it can be made of).
        shift: any integer for an integer law, any real for a real law; by default the law's sensitivity. The laws are
            symmetric, so a shift and its negative have one curve. Rows have no shift.

    Raises:
        OutOfRange: when a shift is given for rows.
        NotANumber: when the shift is no number, or no integer where the law's noise is.
    """
    if not isinstance(law, Law):
        if shift is not None:
            raise OutOfRange("a pair of rows has no shift", came=shift, where="tradeoff")
        return RowsCurve.of(law)
    return curve_of_law(law, distance(law, shift))


def distance(law: Law, shift: Any = None) -> Fraction:
    """|shift| in units of the law's outcomes; the sensitivity where none is given."""
    if shift is None:
        return Fraction(law.sensitivity)
    return abs(Fraction(exact_integer(shift, "shift")) if law.domain == "integers" else exact(shift, "shift"))


def curve_of_law(law: Law, distance: Fraction) -> StaircaseCurve | LaplaceCurve:
    """The curve of a law at a distance of at least 0, in units of its outcomes."""
    if isinstance(law, IntegerLaw):
        shape = law.profile
        return StaircaseCurve(shape.level, Fraction(2 * shape.step - 1, 2 * shape.period), distance / shape.period)
    if isinstance(law, Staircase):
        return StaircaseCurve(law.level, law.profile.gamma, distance / law.sensitivity)
    if isinstance(law, Laplace):
        return LaplaceCurve(law.level, distance / law.sensitivity)
    raise Unsupported("the curve of this law is not known", came=law)
