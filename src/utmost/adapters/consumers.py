"""A consumer from the command line: its prior and its loss, each by name or from a file."""

from fractions import Fraction
from pathlib import Path

from utmost.adapters.number_files import number_rows
from utmost.errors import NotALoss, NotAPrior, OutOfRange
from utmost.exact import Array, Level, as_array, to_floats
from utmost.spaces import Consumer, LineMetric, Loss, Space, losses, priors
from utmost.spaces.loss_names import loss_named
from utmost.spaces.prior_names import prior_named

WEIGHTS = "weights:"

_ENDINGS = (".csv", ".tsv", ".txt")
# Decimals in a file may have been rounded: a prior that misses 1 by no more is taken as float64.
_ROUNDED = Fraction(1, 10**9)
# Beyond so many secrets the digits of an exact named prior take longer than all the rest.
_MOST_EXACT = 400


def consumer_of(prior: str, loss: str, space: Space, level: Level) -> Consumer:
    """The consumer of a space with this prior and this loss, each a name or a file.

    Raises:
        OutOfRange: for a name that is none.
        NotAPrior, NotALoss, BadTable: for a file that is no prior or no loss of this space.
    """
    belief, rule = _prior(prior, space, level), _loss(loss, space)
    try:
        return Consumer(belief, rule)
    except NotALoss as error:
        where = loss if is_file(loss) else None
        raise NotALoss(error.required, where=where, mend=error.mend) from None


def is_file(text: str) -> bool:
    """Whether a prior or a loss is meant as a file: by its ending."""
    return Path(text).suffix.lower() in _ENDINGS


def prior_file(text: str, size: int | None = None) -> Array:
    """The prior in a file, for so many secrets, or for as many as it names.

    The file has one column of probabilities, or two: the number of the secret and its probability (or weight); secrets
    that are not named have probability 0. With "weights:" before its name its numbers are divided by their sum.

    Raises:
        NotAPrior: for another number of secrets, negative numbers, and a sum other than 1.
        BadTable: for a file that is no table of numbers.
    """
    path = Path(text.removeprefix(WEIGHTS))
    rows = number_rows(path)
    try:
        weights = as_array(_by_secret(rows, size) if len(rows[0]) == 2 else _in_order(rows, size))
        return priors.from_counts(weights) if text.startswith(WEIGHTS) else _checked(weights)
    except NotAPrior as error:
        raise NotAPrior(error.required, came=error.came, where=str(path), mend=error.mend) from None


def loss_of(text: str, space: Space) -> Loss | Array:
    """The loss that a name or a file gives; a name but "distance" regards the secrets' numbers 0, 1, ...

    Raises:
        OutOfRange: for a name that is none.
        BadTable: for a file that is no table of numbers.
    """
    if is_file(text):
        return as_array(number_rows(Path(text)), "loss", ndim=2)
    return losses.distance(space) if text.strip().lower() == "distance" else loss_named(text)


def _prior(text: str, space: Space, level: Level) -> Array:
    if is_file(text):
        return prior_file(text, space.size)
    exactly = level.is_rational and space.size <= _MOST_EXACT
    if not isinstance(space.metric, LineMetric) and text.strip().lower() != "uniform":
        raise OutOfRange("a prior by name must be uniform on a space other than counts", came=text)
    return prior_named(text, space.size - 1, exactly)


def _loss(text: str, space: Space) -> Loss | Array:
    rule = loss_of(text, space)
    named = not is_file(text) and text.strip().lower() != "distance"
    if named and not isinstance(space.metric, LineMetric) and rule not in (losses.binary, losses.nib):
        raise OutOfRange("a loss by name must be binary, nib or distance on a space other than counts", came=text)
    return rule


def _in_order(rows: list[list[Fraction]], size: int | None) -> list[Fraction]:
    if len(rows[0]) != 1:
        raise NotAPrior("a prior file must have one column, or two (secret, probability)", came=f"{len(rows[0])}")
    if size not in (None, len(rows)):
        raise NotAPrior(f"the prior must have {size} probabilities, one for each secret", came=len(rows))
    return [row[0] for row in rows]


def _by_secret(rows: list[list[Fraction]], size: int | None) -> list[Fraction]:
    count = int(max(row[0] for row in rows)) + 1 if size is None else size
    weights: dict[Fraction, Fraction] = {}
    for at, (secret, weight) in enumerate(rows):
        if secret.denominator != 1 or not 0 <= secret < count:
            raise NotAPrior(
                f"the first column must name secrets in 0..{count - 1}", came="another", where=f"row {at + 1}"
            )
        if secret in weights:
            raise NotAPrior("each secret must be named once", came="one twice", where=f"row {at + 1}")
        weights[secret] = weight
    return [weights.get(Fraction(secret), Fraction(0)) for secret in range(count)]


def _checked(probabilities: Array) -> Array:
    total = probabilities.sum()
    off = abs(total - 1)
    try:
        return priors.prior(to_floats(probabilities) if 0 < off <= _ROUNDED else probabilities)
    except NotAPrior as error:
        mend = f"For numbers that are not normalised write {WEIGHTS}FILE." if off else error.mend
        came = f"a sum {'above' if total > 1 else 'below'} 1" if off else None
        raise NotAPrior(error.required, came=came, mend=mend) from None
