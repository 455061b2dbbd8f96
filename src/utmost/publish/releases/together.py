"""Releasing columns of which one individual changes the cells of one row together, and no other cell."""

from collections.abc import Sequence
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.sampling.random_bits import Randomness
from utmost.publish.promises.declared_columns import listed_names
from utmost.publish.promises.noise_together import once_together
from utmost.publish.promises.promise import Promise
from utmost.publish.releases.table import ReleasedOnce, release_table


def release_together(
    table: Any,
    *,
    columns: Sequence[str],
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    confidence: Number = "0.95",
    randomness: Randomness | None = None,
    public: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    rows: str = "declared",
    **noise: Any,
) -> ReleasedOnce:
    """Noise columns of counts of which one individual changes the cells of one row, and no other cell, together.

    Applicants and admitted of a department: who applies is counted in one row, in one of the columns or in both. Beside
    `release_table` with as many cells, at epsilon 1 and two columns, the error is a quarter less. It is
    ``release_table(table, Promise(columns, noise=once_together(columns, ...)))``.

    Args:
        table, epsilon, alpha, confidence, randomness, public, drop, rows: as for `release_table`.
        columns: at least two columns of integers; pairs are taken in this order.
        noise: the unit, and how, as for `once_together`; and ``id_column=``.

    Raises:
        As `release_table` and `plan_together`.

    Source: docs/theory/cells-together.md.

    >>> from utmost import Unit
    >>> release = release_together(
    ...     {"department": ["A", "B"], "applicants": [933, 585], "admitted": [601, 370]},
    ...     columns=["applicants", "admitted"],
    ...     public="department",
    ...     epsilon=1,
    ...     unit=Unit(1, 2),
    ... )
    >>> list(release.table)
    ['department', 'applicants', 'applicants_margin', 'admitted', 'admitted_margin']
    >>> release.plan.way.kind, release.plan.margins
    ('joint', (4, 4))
    """
    names, identifier = listed_names(columns, "columns"), noise.pop("id_column", None)
    least = once_together(names, **noise)
    promise = Promise(names, public=public, drop=drop, rows=rows, id_column=identifier, noise=least)
    return release_table(table, promise, epsilon=epsilon, alpha=alpha, confidence=confidence, randomness=randomness)
