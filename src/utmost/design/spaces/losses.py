"""Define losses, the cost of each action for each true secret, as named rules or matrices (secrets, actions)."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance, integer, optional, text, truth
from utmost.core.exact.arrays import Array, as_array, check_numbers, frozen, indices, is_exact, to_floats
from utmost.core.exact.display import Display
from utmost.core.exact.memory import fitting_memory
from utmost.core.exact.numbers import Number, exact, natural, refused_as
from utmost.core.exact.own_names import own_names
from utmost.design.spaces.space import Metric, Space
from utmost.errors import NotALoss, NotANumber, OutOfRange

# The name of a loss contains its numbers. They are bounded, since Python prints no integer of more than 4300 digits.
_MOST_PRICE_DIGITS = 4000
_FIRST_TOO_LONG = 10**_MOST_PRICE_DIGITS


@dataclass(frozen=True, slots=True)
class Loss(Display):
    """A loss given by a rule l(i, r) of secret i and action r, both numbered from 0.

    Attributes:
        rule: Function of two integer arrays that broadcasts over them.
        name: Name of the loss in displays.
        exact: Whether all values are rational; None if this is known only after computing the values.
        of_difference: Whether l(i, r) depends only on r - i.
    """

    rule: Callable[[Any, Any], Any]
    name: str
    exact: bool | None = None
    of_difference: bool = False

    def __call__(self, secret: Any, action: Any) -> Any:
        """Return l(secret, action), elementwise over arrays."""
        check_numbers(secret, "secret")
        check_numbers(action, "action")
        try:
            np.broadcast_shapes(np.shape(secret), np.shape(action))
        except ValueError:
            came = f"{np.shape(secret)} and {np.shape(action)}"
            raise OutOfRange("secrets and actions must have shapes that broadcast together", came=came) from None
        try:
            return self.rule(secret, action)
        except OverflowError:
            raise OutOfRange("secret and action must be numbers that a float can hold", came="larger ones") from None

    def block(self, secrets: Array, actions: Array, floats: bool = False) -> Array:
        """Return the matrix of l(i, r) for some secrets i and actions r, with its entries checked.

        Args:
            secrets: Indices of secrets, in any order.
            actions: Indices of actions, in any order.
            floats: Whether to return the nearest float64, not Fractions.
        """
        floats = truth(floats, "floats")
        i = np.ravel(indices(secrets, sys.maxsize, "secrets"))[:, None]
        r = np.ravel(indices(actions, sys.maxsize, "actions"))[None, :]
        if not i.size or not r.size:
            return loss_matrix(np.zeros((i.size, r.size), dtype=np.int64))
        if not self.of_difference:
            values = loss_matrix(np.broadcast_to(self.rule(i, r), (i.size, r.size)))
            return to_floats(values) if floats and is_exact(values) else values
        gaps = r - i
        least = int(gaps.min())
        values = loss_matrix(np.asarray(self.rule(0, np.arange(least, int(gaps.max()) + 1)))[None, :])[0]
        return frozen((to_floats(values) if floats and is_exact(values) else values)[gaps - least])

    @fitting_memory("matrix")
    def matrix(self, secrets: int, actions: int | None = None) -> Array:
        """Return the whole matrix (secrets, actions); by default there are as many actions as secrets.

        >>> absolute.matrix(2).tolist()
        [[Fraction(0, 1), Fraction(1, 1)], [Fraction(1, 1), Fraction(0, 1)]]
        """
        actions = optional(actions, integer, "actions")
        rows = natural(secrets, "secrets", least=1)
        columns = rows if actions is None else natural(actions, "actions", least=1)
        return self.block(np.arange(rows), np.arange(columns))

    def __repr__(self) -> str:
        return f"losses.{self.name}"


def loss_matrix(values: object) -> Array:
    """Return a nonnegative (secrets, actions) array as a read-only loss matrix, of Fractions if exact, else of float64.

    Raises:
        NotALoss: if an entry is negative, if there is no entry, or if the loss is no matrix of numbers.

    >>> loss_matrix([[0, "1/2"], [1, 0]]).shape
    (2, 2)
    """
    with refused_as(NotALoss):
        matrix = as_array(values, "loss", ndim=2)
    if matrix.size == 0:
        raise NotALoss(
            "a loss needs at least one secret and one action",
            came=f"shape {matrix.shape}",
            remedy="Pass a matrix with one row for each secret and one column for each action.",
        )
    for i, r in np.argwhere(matrix < 0)[:1]:
        raise NotALoss(
            f"the loss of action {r} for secret {i} must not be negative",
            came=str(matrix[i, r]),
            remedy="Add a constant to the row of this secret, which changes no best action.",
        )
    return matrix


# Exact powers take longer for larger p, and larger powers are not needed.
_LARGEST_POWER, _MOST_POWER_DIGITS = 1000, 100


def power(p: Number) -> Loss:
    """Return the loss |i - r|^p for p > 0: exact if p is an integer, else float64.

    >>> power("3/2").matrix(3)[0].tolist()
    [0.0, 1.0, 2.828...]
    """
    exponent = exact(p, "p")
    if exponent <= 0:
        raise NotALoss("the power must be positive", came=p, remedy='Pass a power such as 2 or "3/2".')
    if exponent > _LARGEST_POWER:
        raise NotALoss(f"the power must be at most {_LARGEST_POWER}", came=p, where="power")
    if max(exponent.numerator, exponent.denominator) >= 10**_MOST_POWER_DIGITS:
        raise NotALoss(
            f"the power must be written in at most {_MOST_POWER_DIGITS} digits",
            came="more",
            where="power",
            remedy="Round the number.",
        )
    whole = exponent.denominator == 1
    return Loss(partial(_power, exponent), f"power({_written(exponent)})", exact=whole, of_difference=True)


def asymmetric(over: Number, under: Number) -> Loss:
    """Return the loss of an answer r to the secret i: ``over`` for each unit above the secret, ``under`` for each unit
    below.

    >>> asymmetric(over=1, under=3).matrix(3)[1].tolist()
    [Fraction(3, 1), Fraction(0, 1), Fraction(1, 1)]
    """
    prices = _nonnegative([over, under], "over and under")
    rule = partial(_asymmetric, *prices.tolist())
    return Loss(
        rule, f"asymmetric({', '.join(map(_written, prices.tolist()))})", exact=is_exact(prices), of_difference=True
    )


def thresholded(t: Number) -> Loss:
    """Return the loss that is 0 for an answer within t of the secret, and 1 for any other answer; `binary` is
    thresholded(0).

    >>> thresholded(1).matrix(3)[0].tolist()
    [Fraction(0, 1), Fraction(0, 1), Fraction(1, 1)]
    """
    limit = _nonnegative([t], "t").item()
    return Loss(partial(_thresholded, limit), f"thresholded({_written(limit)})", exact=True, of_difference=True)


def capped(limit: Number, loss: Loss | None = None) -> Loss:
    """Return the loss min(l(i, r), limit): no error costs more than the limit. The default for l is |i - r|.

    >>> capped(2).matrix(5)[0].tolist()
    [Fraction(0, 1), Fraction(1, 1), Fraction(2, 1), Fraction(2, 1), Fraction(2, 1)]
    """
    if loss is not None:
        instance(loss, Loss, "loss")
    base = absolute if loss is None else loss
    if not isinstance(base, Loss):
        raise NotALoss(
            "the loss that is capped must be a Loss",
            came=type(base).__name__,
            remedy="Pass a named loss, such as losses.squared.",
        )
    most = _nonnegative([limit], "limit")
    known = base.exact and is_exact(most) if base.exact is not None else None
    rule = partial(_capped, most.item(), base.rule)
    return Loss(rule, f"capped({_written(most.item())}, {base!r})", exact=known, of_difference=base.of_difference)


def distance(space: Space) -> Loss:
    """Return the loss d(i, r), the distance in ``space`` of the answer r from the secret i.

    Source: [fernandes2022], equation 12 (the loss Avg).

    >>> from utmost.spaces import hamming
    >>> distance(hamming(2)).matrix(4)[0].tolist()
    [Fraction(0, 1), Fraction(1, 1), Fraction(1, 1), Fraction(2, 1)]
    """
    instance(space, Space, "space")
    rational = np.asarray(space.metric.distance(np.zeros(1, int), np.zeros(1, int))).dtype != np.float64
    return Loss(partial(_distance, space.metric), f"distance({space!r})", exact=rational)


def from_function(function: Callable[[int, int], Any], name: str = "from_function") -> Loss:
    """Return the loss given by a function l(i, r) of one secret and one action, both plain integers.

    >>> from_function(lambda i, r: 0 if r >= i else i - r).matrix(2).tolist()
    [[Fraction(0, 1), Fraction(0, 1)], [Fraction(1, 1), Fraction(0, 1)]]
    """
    name = text(name, "name")
    if not callable(function):
        raise NotALoss(
            "a loss must be a function of secret and action", came=function, remedy="Pass lambda i, r: abs(i - r)."
        )
    return Loss(partial(_by_elements, function), name)


def _absolute(i: Any, r: Any) -> Any:
    return np.abs(np.subtract(i, r))


def _power(p: Fraction, i: Any, r: Any) -> Any:
    gap = _absolute(i, r)
    if p.denominator != 1:
        return gap ** float(p)
    if np.asarray(gap).dtype.kind == "f":
        return gap**p.numerator
    small = p * int(np.max(gap, initial=1)).bit_length() < 63
    return gap**p.numerator if small else np.asarray(gap, dtype=object)[()] ** p.numerator


def _binary(i: Any, r: Any) -> Any:
    return np.not_equal(i, r).astype(np.int64)


def _nib(i: Any, r: Any) -> Any:
    return np.equal(i, r).astype(np.int64)


def _asymmetric(over: Any, under: Any, i: Any, r: Any) -> Any:
    gap = np.subtract(r, i)
    return np.maximum(gap, 0) * over + np.maximum(-gap, 0) * under


def _thresholded(limit: Any, i: Any, r: Any) -> Any:
    return np.asarray(_absolute(i, r) > limit, dtype=np.int64)[()]


def _capped(limit: Any, rule: Callable[[Any, Any], Any], i: Any, r: Any) -> Any:
    return np.minimum(rule(i, r), limit)


def _distance(metric: Metric, i: Any, r: Any) -> Any:
    try:
        if all(np.asarray(number).dtype.kind in "iub" for number in (i, r)):
            return metric.distance(i, r)
    except IndexError:
        pass
    raise OutOfRange(
        f"secret and action must be integers in 0..{metric.size - 1}, the indices of secrets in the space",
        came="other numbers",
        where="distance",
        remedy="Pass indices of secrets, such as space.labels.index(label).",
    )


def _by_elements(function: Callable[[int, int], Any], i: Any, r: Any) -> Any:
    try:
        return np.frompyfunc(function, 2, 1)(i, r)
    except TypeError as error:
        raise NotALoss(
            "a loss must be a function of two numbers, secret and action",
            came=str(error),
            remedy="Pass lambda i, r: abs(i - r), for example; or losses.distance(space), the distance in a space.",
        ) from error


def _written(number: Any) -> str:
    """Return a number as Python source. A fraction is quoted, because 1/3 without quotes would be a float."""
    if isinstance(number, float):
        return repr(number)
    return str(number) if number.denominator == 1 else repr(str(number))


def _nonnegative(prices: list[Any], name: str) -> Array:
    try:
        array = as_array(prices, name, ndim=1)
    except NotANumber as error:
        raise NotALoss(f"{name} must be finite numbers", came=error.came, remedy=error.remedy) from None
    if is_exact(array) and any(
        max(abs(price.numerator), price.denominator) >= _FIRST_TOO_LONG for price in array.tolist()
    ):
        raise NotALoss(
            f"{name} must be written in at most {_MOST_PRICE_DIGITS} digits", came="more", remedy="Round the number."
        )
    for price in array[array < 0][:1]:
        raise NotALoss(f"{name} must not be negative", came=str(price))
    return array


absolute = Loss(_absolute, "absolute", exact=True, of_difference=True)
"""The loss |i - r|; the expected loss is the mean error."""

squared = Loss(partial(_power, Fraction(2)), "squared", exact=True, of_difference=True)
"""The loss (i - r)^2; the expected loss is the mean squared error."""

binary = Loss(_binary, "binary", exact=True, of_difference=True)
"""The loss 0 for the true secret, else 1; [ghosh2009] section 2.2, and [fernandes2022] equation 10 (bin)."""

nib = Loss(_nib, "nib", exact=True, of_difference=True)
"""The loss 1 for the true secret, else 0. It is 1 - `binary`, and not monotone; [fernandes2022] equation 11."""


@dataclass(frozen=True, slots=True)
class NamedLoss:
    """A loss that has a name, with the texts that menus, error messages, help texts and pages show."""

    make: Loss | Callable[..., Loss]  # the loss, or a function that makes the loss from the numbers after the colon
    form: str  # the name as a user writes it, with placeholders for numbers
    example: str
    meaning: str  # the cost of an answer, in a few words
    for_readers: bool  # False for nib, which rewards mistakes


LOSSES = {
    row.form.partition(":")[0]: row
    for row in (
        NamedLoss(absolute, "absolute", "absolute", "the distance from the truth", True),
        NamedLoss(squared, "squared", "squared", "the square of the distance", True),
        NamedLoss(binary, "binary", "binary", "1 if the answer is wrong", True),
        NamedLoss(nib, "nib", "nib", "1 if the answer is right", False),
        NamedLoss(power, "power:1.5", "power:1.5", "the distance to the power 1.5", True),
        NamedLoss(
            asymmetric,
            "asymmetric:OVER,UNDER",
            "asymmetric:1,3",
            "1 for each unit too many, 3 for each unit too few",
            True,
        ),
        NamedLoss(thresholded, "thresholded:T", "thresholded:2", "1 if the distance exceeds 2", True),
        NamedLoss(capped, "capped:LIMIT", "capped:10", "the distance, at most 10", True),
    )
}
"""All losses that have a name."""


def loss_named(name: str) -> Loss:
    """Return the loss with a name: "absolute", "squared", "binary", "nib", or a name with numbers after a colon.

    Raises:
        OutOfRange: if no loss has this name, or if the loss does not accept the numbers.

    >>> loss_named("binary"), loss_named("asymmetric:1,3")
    (losses.binary, losses.asymmetric(1, 3))
    """
    name = text(name, "name")
    kind, colon, numbers = name.strip().lower().partition(":")
    row = LOSSES.get(kind)
    if row is not None and isinstance(row.make, Loss) and not colon:
        return row.make
    read_numbers = [number.strip() for number in numbers.split(",")] if colon else []
    if row is None or isinstance(row.make, Loss) or len(read_numbers) != len(row.example.split(",")):
        *forms, last = (one.form for one in LOSSES.values())
        raise OutOfRange(f"a loss by name must be one of {', '.join(forms)} or {last}", came=name)
    try:
        return row.make(*read_numbers)
    except (NotALoss, NotANumber) as error:
        raise OutOfRange(error.required, came=error.came, where=f"loss {name}", remedy=error.remedy) from None


__dir__ = own_names(__name__)
