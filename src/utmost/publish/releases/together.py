"""Releasing columns of which one individual changes the cells of one row together, and no other cell."""

from collections.abc import Sequence
from typing import Any

from utmost.laws.noise import DiscreteStaircase, Geometric
from utmost.laws.noise.norm_staircase import BallMixture
from utmost.laws.sampling import sample
from utmost.laws.sampling.integers import Integers, add
from utmost.laws.sampling.joint_draws import sample_joint_cells
from utmost.laws.sampling.random_bits import Randomness, secure
from utmost.publish.counting.laid import Laid
from utmost.publish.promises.together_plan import TogetherPlan, grouped, plan_together
from utmost.publish.promises.turning import columns_of, ratios_of, sums_of
from utmost.publish.releases.table import CheckedTable, TableRelease

_MOST_KINDS = 16


def release_together(
    table: Any,
    *,
    columns: Sequence[str],
    public: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    rows: str = "declared",
    id_column: str | None = None,
    randomness: Randomness | None = None,
    **promise: Any,
) -> TableRelease:
    """Noise columns of counts of which one individual changes the cells of one row, and no other cell, together.

    Applicants and admitted of a department: who applies is counted in one row, in one of the columns or in both. Beside
    `release_table` with as many cells, at epsilon 1 and two columns, the error is a quarter less.

    Args:
        table, public, drop, rows, id_column, randomness: as for `release_table`.
        columns: at least two columns of integers; pairs are taken in this order.
        promise: the level, the unit, and how, as for `plan_together`.

    Raises:
        As `release_table` and `plan_together`.

    Source: docs/theory/cells-together.md.

    >>> release = release_together(
    ...     {"department": ["A", "B"], "applicants": [933, 585], "admitted": [601, 370]},
    ...     columns=["applicants", "admitted"],
    ...     public="department",
    ...     epsilon=1,
    ...     sensitivity=1,
    ... )
    >>> list(release.table)
    ['department', 'applicants', 'applicants_margin', 'admitted', 'admitted_margin']
    >>> release.plan.way.kind, release.plan.margins
    ('joint', (4, 4))
    """
    plan, bits = plan_together(columns, **promise), secure(randomness)
    read = _checked(table, plan, public, drop, rows, id_column)
    noised = _noised(plan, [read.cells[name] for name in plan.columns], bits)
    return read.released(dict(zip(plan.columns, noised, strict=True)))


def rehearse_together(
    table: Any,
    *,
    columns: Sequence[str],
    public: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    rows: str = "declared",
    id_column: str | None = None,
    **promise: Any,
) -> TableRelease:
    """Everything that `release_together` does up to the first draw: a release whose ``table`` is None.

    >>> rehearse_together({"a": [7], "b": [3]}, columns=["a", "b"], epsilon=1, sensitivity=1).plan.margins
    (4, 4)
    """
    return _checked(table, plan_together(columns, **promise), public, drop, rows, id_column).released(None)


def _checked(
    table: Any,
    plan: TogetherPlan,
    public: str | Sequence[str],
    drop: str | Sequence[str],
    rows_from: str,
    id_column: str | None,
) -> CheckedTable:
    """The table, with every check that a release makes before it draws."""
    laid = Laid.of(table, plan.columns, public, drop, plan.unit)
    return CheckedTable.of(laid, plan, drop=drop, rows_from=rows_from, id_column=id_column)


def _noised(plan: TogetherPlan, cells: Sequence[Integers], randomness: Randomness) -> list[Any]:
    """The columns with their noise, group by group."""
    noised: list[Any] = []
    for group, law in zip(grouped(cells, plan.way.groups), plan.way.laws, strict=True):
        rows = len(group[0])
        if isinstance(law, BallMixture):
            noise = sample_joint_cells(law, rows, randomness=randomness)
            noised += [add(column, noise[:, i]) for i, column in enumerate(group)]
        elif isinstance(law, DiscreteStaircase):
            noised += [add(column, sample(law, rows, randomness=randomness)) for column in group]
        else:
            noisy = [
                add(sums, sample(Geometric(ratio), rows, randomness=randomness))
                for sums, ratio in zip(sums_of(law, group), ratios_of(law), strict=True)
            ]
            noised += columns_of(law, noisy, halves=plan.halves, randomness=randomness)
    return noised
