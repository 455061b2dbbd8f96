"""The level that a law of noise keeps, and whether it is the one that was promised."""

from utmost.errors import OutOfRange, PromiseBroken
from utmost.exact import Level, Number, checked, level
from utmost.noise import IntegerLaw
from utmost.privacy.curve import Law, curve_of_law, distance


@checked
def kept_level(law: Law, shift: Number | None = None) -> Level:
    """The smallest level that the law keeps against the shift, and against every smaller one.

    For the sensitivity D it is ceil(|shift| / D) times the law's level for a staircase, on the integers or the reals,
    and |shift| / D times it for the Laplace and the geometric law. At D itself, the default, it is the law's level.

    Raises:
        OutOfRange: for the shift 0, where there is nothing to tell apart and every level is kept.

    Source: [geng2012], (24) and (76); shifts beyond the sensitivity: docs/theory/trade-off.md.

    >>> from utmost.noise import DiscreteStaircase, Geometric
    >>> [kept_level(law(epsilon=1, sensitivity=3), shift=4) for law in (DiscreteStaircase, Geometric)]
    [Level(epsilon=2), Level(epsilon=4/3)]
    """
    kept = curve_of_law(law, distance(law, shift)).kept
    if kept is None:
        raise OutOfRange("the shift must not be 0: there every level is kept", came=shift, where="kept_level")
    return kept


@checked
def check_promise(
    law: Law, epsilon: Number | Level | None = None, *, alpha: Number | None = None, shift: Number | None = None
) -> None:
    """Check that a law keeps a level, and no stricter one: the bound on its likelihood ratios holds and is attained.

    The level of the largest likelihood ratio is compared with the promised one, exactly; and on the integers the law's
    own probabilities are compared at an outcome where that ratio is attained, as Fractions where they are rational and
    as intervals where they are not.

    Args:
        law: a law of noise.
        epsilon, alpha: the level promised; by default the law's own.
        shift: how far apart neighbouring query answers may be; by default the law's sensitivity.

    Raises:
        PromiseBroken: when a likelihood ratio exceeds e^epsilon, or none attains it: then noise is wasted.

    >>> from utmost.noise import Geometric
    >>> check_promise(Geometric(epsilon=1, sensitivity=3))
    >>> check_promise(Geometric(epsilon=1, sensitivity=3), epsilon=1, shift=4)
    Traceback (most recent call last):
    utmost.errors.PromiseBroken: check_promise: the law must keep epsilon=1; got epsilon=4/3. ...
    """
    promised = law.level if epsilon is None and alpha is None else level(epsilon, alpha)
    kept = kept_level(law, shift)
    if promised < kept:
        raise PromiseBroken(
            f"the law must keep {promised}", came=str(kept), where="check_promise", mend="Use more noise."
        )
    if kept < promised:
        raise PromiseBroken(
            f"the law must attain {promised}", came=str(kept), where="check_promise", mend="Use less noise."
        )
    if isinstance(law, IntegerLaw):
        _check_probabilities(law, int(distance(law, shift)), kept)


def _check_probabilities(law: IntegerLaw, shift: int, kept: Level) -> None:
    """P(X = y) alpha = P(X = y + shift) at the last y of the first step, by the law's own probabilities."""
    y = law.profile.step - 1
    if kept.is_rational and law.profile.level.is_rational:
        attained = law.pmf(y) * kept.alpha_fraction() == law.pmf(y + shift)
    else:
        near, far, alpha = law.pmf_interval(y), law.pmf_interval(y + shift), kept.alpha_interval()
        attained = not (near * alpha).is_below(far) and not far.is_below(near * alpha)
    if not attained:
        raise PromiseBroken(f"the probabilities at {y} and {y + shift} must be alpha apart", came=law, where="pmf")
