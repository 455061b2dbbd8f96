"""Read consumers (a prior and a loss) from files and options, and a column of released counts for a consumer."""

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.core.exact.arrays import Array, as_array, to_floats
from utmost.core.exact.levels import Level
from utmost.design.spaces import losses, priors
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import LineMetric
from utmost.design.spaces.geography import Places
from utmost.design.spaces.losses import Loss, loss_named
from utmost.design.spaces.priors import prior_named
from utmost.design.spaces.space import Space
from utmost.errors import BadTable, NotALoss, NotAPrior, OutOfRange
from utmost.interfaces.documents.cost_files import is_file
from utmost.tables.cells.columns import SMALLER_UNIT, integer_column
from utmost.tables.files.small_tables import number_in, number_rows, small_table
from utmost.tables.frames import adapters, any_table

if TYPE_CHECKING:
    from utmost.design.optima.best_actions import Reading

WEIGHTS = "weights:"
COLUMN = "column:"

# Decimals in a file may be rounded: a prior whose sum differs from 1 by at most this becomes float64.
_ROUNDED = Fraction(1, 10**9)
# With more secrets, computing the digits of an exact named prior takes most of the time.
_MOST_EXACT = 400


def consumer_of(prior: str, loss: str, space: Space, level: Level) -> Consumer:
    """Return the consumer with this prior and this loss, each a name or a file."""
    on_counts = isinstance(space.metric, LineMetric)
    if prior.startswith(COLUMN):
        # The prior is proportional to a column of the file of places.
        name = prior.removeprefix(COLUMN)
        if not isinstance(space, Places):
            raise OutOfRange(
                "--prior column:NAME needs a space of places",
                came=name,
                remedy="Write --space places:FILE, or --prior uniform.",
            )
        belief = priors.from_counts(
            [number_in(v, f"column {name!r}, place {space.labels[k]!r}") for k, v in enumerate(space.column(name))]
        )
    elif is_file(prior):
        belief = prior_file(prior, space.size, space.names)
    elif not on_counts and prior.strip().lower() != "uniform":
        raise OutOfRange(
            "--prior must be uniform or a file, unless the secrets are counts",
            came=prior,
            remedy="Write --prior uniform.",
        )
    else:
        belief = prior_named(prior, space.size, level.is_rational and space.size <= _MOST_EXACT)
    rule = loss_of(loss, space)
    is_named = not is_file(loss) and loss.strip().lower() != "distance"
    if is_named and not on_counts and rule not in (losses.binary, losses.nib):
        required = "--loss must be binary, nib, distance or a file, unless the secrets are counts"
        raise OutOfRange(required, came=loss, remedy="Write --loss distance.")
    try:
        return Consumer(belief, rule)
    except NotALoss as error:
        where = loss if is_file(loss) else None
        raise NotALoss(error.required, where=where, remedy=error.remedy) from None


def prior_file(text: str, size: int | None = None, labels: Sequence[Hashable] | None = None) -> Array:
    """Read a prior on `size` secrets, or on as many secrets as the file names."""
    # The file has one column of probabilities, or two: the secret (its number or label) and its probability. A secret
    # that is not named has probability 0. After "weights:" before the file name, the numbers are divided by their sum.
    path = Path(text.removeprefix(WEIGHTS))
    by_label = None if labels is None else _rows_by_label(path, labels)
    rows = number_rows(path) if by_label is None else by_label
    if len(rows[0]) == 2:
        count = int(max(row[0] for row in rows)) + 1 if size is None else size
        listed: dict[Fraction, Fraction] = {}
        for at, (secret, weight) in enumerate(rows, 1):
            where = f"{path}, row {at}"
            if secret.denominator != 1 or not 0 <= secret < count:
                required, remedy = f"the first column must name secrets in 0..{count - 1}", "Number the secrets from 0."
                raise NotAPrior(required, came="another secret", where=where, remedy=remedy)
            if secret in listed:
                raise NotAPrior(
                    "each secret must be named once",
                    came="one secret twice",
                    where=where,
                    remedy="Replace the rows of this secret by one row with their sum.",
                )
            listed[secret] = weight
        weights = as_array([listed.get(Fraction(secret), Fraction(0)) for secret in range(count)])
    elif len(rows[0]) != 1:
        required = "a prior file must have one column, or two (secret, probability)"
        raise NotAPrior(
            required,
            came=len(rows[0]),
            where=str(path),
            remedy="Keep only the column of secrets and the column of probabilities.",
        )
    elif size not in (None, len(rows)):
        required, remedy = (
            f"the prior must have {size} probabilities, one for each secret",
            "Write 0 for an impossible secret.",
        )
        raise NotAPrior(required, came=len(rows), where=str(path), remedy=remedy)
    else:
        weights = as_array([row[0] for row in rows])
    is_weights, total = text.startswith(WEIGHTS), weights.sum()
    off = 0 if is_weights else abs(total - 1)
    try:
        if is_weights:
            return priors.from_counts(weights)
        return priors.prior(to_floats(weights) if 0 < off <= _ROUNDED else weights)
    except NotAPrior as error:
        came, advice = error.came, error.remedy
        if off:
            came = f"a sum {'above' if total > 1 else 'below'} 1"
            advice = f"If the numbers are weights that do not sum to 1, write {WEIGHTS}FILE."
        raise NotAPrior(error.required, came=came, where=str(path), remedy=advice) from None


def loss_of(text: str, space: Space) -> Loss | Array:
    """Return a loss by name or from a file; all named losses but "distance" are for the secrets 0, 1, ..."""
    if is_file(text):
        return as_array(number_rows(Path(text)), "loss", ndim=2)
    return losses.distance(space) if text.strip().lower() == "distance" else loss_named(text)


def default_loss(space: Space) -> str:
    """Return the name of the default loss: the size of the error."""
    return "absolute" if isinstance(space.metric, LineMetric) else "distance"


def _rows_by_label(path: Path, labels: Sequence[Hashable]) -> list[list[Fraction]] | None:
    """Return rows (index of the secret, probability) of a file that names secrets by labels; None for other files."""
    number = {str(label): k for k, label in enumerate(labels)}
    table = small_table(path)
    rows = table.rows
    if not rows or any(len(row) != 2 for _, row in rows) or rows[-1][1][0] not in number:
        return None
    if rows[0][1][0] not in number and not table.is_number(rows[0][1][1]):
        rows = rows[1:]
    for line, (label, _) in rows:
        if label not in number:
            remedy = f"The labels begin with {labels[0]}."
            raise NotAPrior(
                "every row must begin with the label of a secret",
                came=label,
                where=f"{path}, line {line}",
                remedy=remedy,
            )
    return [[Fraction(number[label]), table.number(weight, line, 2)] for line, (label, weight) in rows]


ADDED = ("answer", "low", "high", "expected_loss")

Read = Callable[[int, int], "Reading"]
"""Maps a response and the largest count n to the reading."""

Nearest = Callable[[int, int], int]
"""Maps a response and the largest count n to the nearest response with the same reading."""


def with_readings(table: Any, column: str, n: int | str, read: Read, nearest: Nearest, *, clamped: bool) -> Any:
    """Add columns to a table: the best answer, posterior interval and expected loss of each response in ``column``."""
    # n is the largest count, or the column that holds it.
    adapter = any_table.adapter_of(table)
    names = adapter.names(table)
    for name in (column, *([n] if isinstance(n, str) else [])):
        if name not in names:
            raise adapters.no_column(name, names)
    for name in ADDED:
        if name in names:
            raise BadTable(
                f"the table must have no column {name!r}", came="a column of this name", remedy="Rename this column."
            )

    def place(row: int) -> str:
        return adapter.place(table, row)

    responses = integer_column(adapter.column(table, column), column, place, not_whole=SMALLER_UNIT).tolist()
    largest = (
        integer_column(adapter.column(table, n), n, place, not_whole=SMALLER_UNIT).tolist()
        if isinstance(n, str)
        else [n] * len(responses)
    )
    for row, (z, top) in enumerate(zip(responses, largest, strict=True)):
        if top < 0 or (clamped and not 0 <= z <= top):
            raise BadTable(
                f"a clamped response must lie in 0..{top}",
                came="another response",
                where=f"{place(row)}, column {column!r}",
            )

    @cache
    def reading_of(response: int, top: int) -> tuple[int, int, int, float]:
        reading = read(response, top)
        return reading.action, *reading.interval, float(reading.loss)

    rows = [reading_of(nearest(z, top), top) for z, top in zip(responses, largest, strict=True)]
    added = {name: np.array([row[at] for row in rows]) for at, name in enumerate(ADDED)}
    return adapter.with_columns(table, added, dict.fromkeys(ADDED, column))
