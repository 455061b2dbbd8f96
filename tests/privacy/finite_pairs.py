"""A distribution against its shifted copy as two finite rows with the same curve, in rationals, found cell by cell.

Far outside, cells one period apart have the same likelihood ratio, so a geometric series of cells is one outcome.
"""

from fractions import Fraction


def integer_pair(distribution, shift):
    """The two rows of an integer distribution with rational probabilities: only ``distribution.pmf`` is used."""
    period = distribution.profile.period
    reach = abs(shift) + 2 * period + 1
    b = distribution.pmf(reach + period) / distribution.pmf(reach)
    return _pair(distribution.pmf, shift, reach, period, b)


def real_pair(distribution, shift):
    """The two rows of a staircase on the reals with rational b, gamma and shift: cells on which both are constant."""
    D, b, gamma = distribution.sensitivity, distribution.level.alpha_fraction(), Fraction(distribution.gamma)
    cell = D / (gamma.denominator * (Fraction(shift) / D).denominator)
    height = (1 - b) / (2 * D * (gamma + b * (1 - gamma)))

    def mass(n):
        middle = abs((n + Fraction(1, 2)) * cell) / D
        turns, part = divmod(middle, 1)
        return cell * height * b ** (int(turns) + (part >= gamma))

    period = int(D / cell)
    return _pair(mass, int(shift / cell), int(abs(shift) / cell) + 2 * period + 1, period, b)


def _pair(mass, shift, reach, period, b):
    inner = range(-reach, reach + 1)
    outer = [*range(reach + 1, reach + 1 + period), *range(-reach - period, -reach)]
    rows = [[mass(x - s) for x in inner] + [mass(x - s) / (1 - b) for x in outer] for s in (0, shift)]
    assert all(sum(row) == 1 for row in rows)
    return rows
