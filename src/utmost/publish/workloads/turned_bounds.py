"""How small the error can be where one individual changes whole rows: integer combinations, one joint draw."""

from fractions import Fraction

from utmost.errors import OutOfRange
from utmost.laws.exact import Level, checked, round_down
from utmost.laws.noise import JointCells, RotatedPair
from utmost.laws.privacy import Unit
from utmost.publish.workloads.sums_and_differences import PairAxis
from utmost.publish.workloads.workload import Workload
from utmost.publish.workloads.workload_bounds import bounds_of


@checked
def integer_rows_bound(pair: PairAxis, workload: Workload, unit: Unit, level: Level) -> float | None:
    r"""A number that no strategy of integer rows is below, where one individual changes whole rows along an axis.

    Independent geometric noise on integer combinations a_i of atoms, linear unbiased estimates, and loads
    sum of e_i |a_i.d| of at most E = epsilon / (rows * sensitivity) for d = (1, 1) and d = (1, -1) on
    each row. With the information X, (1, 1) X (1, 1)' <= p(E), so in the coordinates of sums and of differences,
    x = (x_+ + x_-, x_+ - x_-)/2, the diagonal is at most p(E)/4; and the inverse's blocks are at least
    the blocks' inverses. So

        error >= 4 (Gamma(sums) + Gamma(differences)) / p(E),

    each term certified by `bounds_of`. It takes a workload that treats both columns alike; None for others, and where
    a side is not bounded.

    Raises:
        OutOfRange: for an odd number of cells.

    >>> from utmost.laws.exact import level
    >>> from utmost.publish.workloads import Domain
    >>> pair = PairAxis.of(Domain(row=range(3), column=["a", "b"]), "column")
    >>> wanted = Workload(pair.domain, {"row column": 1})
    >>> round(RotatedPair(1).variance / integer_rows_bound(pair, wanted, Unit(1, 2), level(1)), 4)
    1.0638
    """
    if not all(pair.is_alike(part) for part in workload.parts):
        return None
    if unit.cells % 2:
        raise OutOfRange("an individual must change both atoms of whole rows", came=f"cells={unit.cells}")
    rows = Unit(unit.sensitivity, unit.cells // 2, unit.neighbours)
    total = Fraction(0)
    for side in pair.sides(workload):
        if side is not None:
            found = bounds_of(side, rows, level).any_integer_strategy
            if found is None:
                return None
            total += Fraction(found.value)
    return round_down(4 * total)


@checked
def joint_times(unit: Unit, level: Level) -> float:
    """The variance of one joint draw for both atoms of a row, in variances of their sum and difference.

    Below 1, and much below at large levels; but such a draw is made once: it cannot be relaxed. See `JointCells`.

    Raises:
        OutOfRange: for an odd number of cells, and a sensitivity that is no integer.

    >>> from utmost.laws.exact import level
    >>> [round(joint_times(Unit(1, 2), level(epsilon)), 3) for epsilon in ("1/4", 1, 2, 3)]
    [1.0, 0.996, 0.947, 0.804]
    """
    if unit.cells % 2:
        raise OutOfRange("an individual must change both atoms of whole rows", came=f"cells={unit.cells}")
    row, wide = level.scaled(Fraction(2, unit.charged)), unit.sensitivity
    return float(JointCells(row, 2, wide).variance) / float(RotatedPair(row, wide).variance)
