"""Lower bounds for changes of whole rows: on plans of integer combinations of cells, and on joint draws."""

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
from utmost.publish.workloads.measuring.unit_charge import condition_of_rows
from utmost.publish.workloads.workload import Workload


def integer_rows_bound(pair: PairAxis, workload: Workload, unit: Unit, level: Level) -> float | None:
    """Bound the error of plans of integer combinations of cells, for changes of whole rows; None if unknown."""
    # The plans have independent geometric noise on integer combinations a_i of cells, linear unbiased estimates, and
    # sum of e_i |a_i.d| <= epsilon/s = E for all changes d: (1, 1) or (1, -1) on one row, or on each of several rows.
    # Let X be the information. (1, 1) X (1, 1)' <= p(E), so that in the coordinates of sums and differences,
    # x = (x_+ + x_-, x_+ - x_-)/2, the diagonal is at most p(E)/4; and the blocks of the inverse are at least the
    # inverses of the blocks. So error >= 4 (Gamma(sums) + Gamma(differences)) / p(E), each term by `bounds_of`.
    instance(pair, PairAxis, "pair")
    instance(workload, Workload, "workload")
    instance(unit, Unit, "unit")
    instance(level, Level, "level")
    one_sign = unit.nonnegative and unit.neighbours == "add-remove"
    # If all changes by one individual have one sign, none is (1, -1) on a row, and the proof fails.
    if one_sign or not all(pair.has_no_covariance(part) for part in workload.parts):
        return None
    if unit.cells % 2:
        raise OutOfRange("cells must be even: one individual changes both cells of a row", came=f"cells={unit.cells}")
    whole = Unit(unit.sensitivity, unit.cells // 2, unit.neighbours, nonnegative=unit.nonnegative)
    rows, at = changed_by_one(whole, level)
    # for a lower bound, the changes of whole rows by one record suffice: add-remove
    rows = Unit(rows.sensitivity, rows.cells)
    total = Fraction(0)
    for side in pair.sides(workload):
        if side is not None:
            bound = bounds_of(side, rows, at).any_integer_plan
            if bound is None:
                return None
            total += Fraction(bound.value)
    return round_down(4 * total)


def joint_times(unit: Unit, level: Level, rows: int | None = None) -> float:
    """Return var(cell) with one joint draw for its row, divided by var(cell) with noise on sum and difference."""
    instance(unit, Unit, "unit")
    instance(level, Level, "level")
    rows = optional(rows, integer, "rows")
    if unit.cells % 2:
        raise OutOfRange("cells must be even: one individual changes both cells of a row", came=f"cells={unit.cells}")
    scale = condition_of_rows(unit, int(unit.epsilon_parts) if rows is None else rows).scale
    row, wide = level.scaled(Fraction(2, unit.epsilon_parts) * scale), unit.sensitivity
    return float(JointCells(row, 2, wide).variance) / float(RotatedPair(row, wide).variance)
