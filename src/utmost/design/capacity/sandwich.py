"""From an approximate weighting to an exactly private mechanism and an exactly feasible dual, close on both sides."""

from fractions import Fraction

from utmost.design.capacity.checker import largest_power
from utmost.design.capacity.mechanisms import KernelMechanism
from utmost.design.capacity.row_sums import BITS, row_sums
from utmost.errors import SolverFailed
from utmost.exact import Array, objects
from utmost.privacy import PrivacyType

_UNIT = 1 << (BITS + 32)


def sandwich(ptype: PrivacyType, weights: Array) -> tuple[KernelMechanism, Array]:
    r"""A mechanism and a dual of the multiplicative capacity next to weights w >= 0 with E w near 1, E = alpha^d.

    Let L <= E w <= H. The dual is w / L. The mechanism is [E diag(theta w), r] with the rest r = 1 - theta E w, which
    lies between 1 - theta H and 1 - theta L and so is private as soon as 1 - theta H >= A (1 - theta L), A being alpha
    to the shortest distance: theta = (1 - A) / (H - A L). Both are exact when E w = 1.

    Args:
        ptype: n secrets.
        weights: (n,) nonnegative Fractions.
    """
    low, high = row_sums(ptype, weights, 1)
    least, most = min(low), max(high)
    if least == most == 1:
        return KernelMechanism(ptype, weights), weights
    if least <= 0:
        raise SolverFailed("a weighting must reach every secret", came=float(least))
    near = largest_power(ptype) if ptype.space.size > 1 else Fraction(0)
    spare = (most - least) / 8 + Fraction(1, 1 << BITS)  # for what is rounded off below
    theta = (1 - near) / (most + spare - near * (least - spare))
    inner = [Fraction(int(theta * w * _UNIT), _UNIT) for w in weights.tolist()]
    return KernelMechanism(ptype, objects(inner), has_rest=True), raised(weights, least)


def raised(weights: Array, least: Fraction) -> Array:
    """w / L, rounded up: a dual of the multiplicative capacity, where L <= E w."""
    return objects([Fraction(int(w / least * _UNIT) + 1 if w else 0, _UNIT) for w in weights.tolist()])


def lowered(ptype: PrivacyType, dual: Array) -> Array:
    """z / H, rounded down: a dual of the additive capacity, where F z <= H, F = alpha^-d; z itself where F z <= 1."""
    most = max(row_sums(ptype, dual, -1)[1])
    if most <= 1:
        return dual
    return objects([Fraction(int(z / most * _UNIT), _UNIT) for z in dual.tolist()])
