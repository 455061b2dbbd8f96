"""How small the error can be where one individual changes whole rows: integer combinations, one joint draw."""

from fractions import Fraction

from utmost.core.exact.arguments import instance, integer, optional
from utmost.core.exact.intervals import round_down
from utmost.core.exact.levels import Level
from utmost.core.noise.joint_cells import JointCells, RotatedPair
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.publish.workloads.bounds.workload_bounds import bounds_of
from utmost.publish.workloads.bounds.workload_evidence import changed_by_one
from utmost.publish.workloads.measuring.pair_axis import PairAxis
from utmost.publish.workloads.measuring.unit_charge import room_of_rows
from utmost.publish.workloads.workload import Workload


def integer_rows_bound(pair: PairAxis, workload: Workload, unit: Unit, level: Level) -> float | None:
    r"""A number that no plan of integer rows is below, where one individual changes whole rows along an axis.

    Independent geometric noise on integer combinations a_i of cells, linear unbiased estimates, and the sum of
    e_i |a_i.d| at most epsilon/s = E for all d that one individual may change: (1, 1) on a row, (1, -1) on a row, and
    such on several rows. With the information X, (1, 1) X (1, 1)' <= p(E), so in the coordinates of sums and of
    differences, x = (x_+ + x_-, x_+ - x_-)/2, the diagonal is at most p(E)/4; and the inverse's blocks are at least the
    blocks' inverses. So

        error >= 4 (Gamma(sums) + Gamma(differences)) / p(E),

    each term certified by `bounds_of`. It takes a workload that treats both columns alike; None for others, where a
    side is not bounded, and where nothing is negative and no record replaced: then nobody changes a row by (1, -1).

    >>> from utmost.exact import level
    >>> from utmost.workloads import Domain
    >>> pair = PairAxis.of(Domain(row=range(3), column=["a", "b"]), "column")
    >>> wanted = Workload(pair.domain, {"row column": 1})
    >>> round(RotatedPair(1).variance / integer_rows_bound(pair, wanted, Unit(1, 2), level(1)), 4)
    1.0638
    """
    instance(pair, PairAxis, "pair")
    instance(workload, Workload, "workload")
    instance(unit, Unit, "unit")
    instance(level, Level, "level")
    one_sign = unit.nonnegative and unit.neighbours == "add-remove"
    if one_sign or not all(pair.is_alike(part) for part in workload.parts):
        return None
    if unit.cells % 2:
        raise OutOfRange("an individual must change both cells of whole rows", came=f"cells={unit.cells}")
    whole = Unit(unit.sensitivity, unit.cells // 2, unit.neighbours, nonnegative=unit.nonnegative)
    rows, at = changed_by_one(whole, level)
    rows = Unit(rows.sensitivity, rows.cells)  # of replacements, those that change whole rows alone
    total = Fraction(0)
    for side in pair.sides(workload):
        if side is not None:
            bound = bounds_of(side, rows, at).any_integer_plan
            if bound is None:
                return None
            total += Fraction(bound.value)
    return round_down(4 * total)


def joint_times(unit: Unit, level: Level, rows: int | None = None) -> float:
    """The variance of one joint draw for both cells of a row, in variances of their sum and difference.

    Args:
        unit: Unit of an individual who changes both cells of whole rows.
        level: Level of the whole release.
        rows: Number of rows; more than one individual can change where None.

    Below 1, and much below at large levels; but such a draw is made once: it cannot be relaxed. See `JointCells`.

    >>> from utmost.exact import level
    >>> [round(joint_times(Unit(1, 2), level(epsilon)), 3) for epsilon in ("1/4", 1, 2, 3)]
    [1.0, 0.996, 0.947, 0.804]
    """
    instance(unit, Unit, "unit")
    instance(level, Level, "level")
    rows = optional(rows, integer, "rows")
    if unit.cells % 2:
        raise OutOfRange("an individual must change both cells of whole rows", came=f"cells={unit.cells}")
    scale = room_of_rows(unit, int(unit.charged) if rows is None else rows).scale
    row, wide = level.scaled(Fraction(2, unit.charged) * scale), unit.sensitivity
    return float(JointCells(row, 2, wide).variance) / float(RotatedPair(row, wide).variance)
