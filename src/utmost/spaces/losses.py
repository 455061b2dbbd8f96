"""Losses: what an action costs when the secret is known. A loss matrix is (secrets, actions)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from utmost.errors import NotALoss, NotANumber
from utmost.exact import Array, Number, as_array, exact


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss as a rule l(i, r) of secret i and action r, both numbered from 0.

    Attributes:
        rule: takes two integer arrays and broadcasts over them.
        name: how it is shown.
    """

    rule: Callable[[Any, Any], Any]
    name: str = "loss"

    def __call__(self, secret: Any, action: Any) -> Any:
        """l(secret, action), elementwise over arrays."""
        return self.rule(secret, action)

    def block(self, secrets: Array, actions: Array) -> Array:
        """The matrix of l(i, r) for some secrets and some actions, validated, in its number world."""
        return loss_matrix(np.broadcast_to(self.rule(secrets[:, None], actions[None, :]), (len(secrets), len(actions))))

    def matrix(self, secrets: int, actions: int | None = None) -> Array:
        """The whole (secrets, actions) matrix; as many actions as secrets when left out.

        >>> absolute.matrix(2).tolist()
        [[Fraction(0, 1), Fraction(1, 1)], [Fraction(1, 1), Fraction(0, 1)]]
        """
        return self.block(np.arange(secrets), np.arange(secrets if actions is None else actions))

    def __repr__(self) -> str:
        return f"losses.{self.name}"


def loss_matrix(values: object) -> Array:
    """Any nonnegative (secrets, actions) array as a loss, read-only.

    Raises:
        NotALoss: for a negative entry, or an array that is no matrix of numbers.
    """
    try:
        matrix = as_array(values, "loss", ndim=2)
    except NotANumber as error:
        raise NotALoss(error.required, came=error.came, mend=error.mend) from None
    if matrix.size == 0:
        raise NotALoss("a loss needs at least one secret and one action", came=f"shape {matrix.shape}")
    for i, r in np.argwhere(matrix < 0)[:1]:
        raise NotALoss(f"the loss of action {r} for secret {i} must not be negative", came=matrix[i, r])
    return matrix


def _absolute(i: Any, r: Any) -> Any:
    return np.abs(np.subtract(i, r))


def _power(p: Any, i: Any, r: Any) -> Any:
    distance = np.abs(np.subtract(i, r))
    if p.denominator == 1:
        return distance.astype(object) ** p.numerator
    return distance ** float(p)


def _binary(i: Any, r: Any) -> Any:
    return np.not_equal(i, r).astype(np.int64)


def _nib(i: Any, r: Any) -> Any:
    return np.equal(i, r).astype(np.int64)


absolute = Loss(_absolute, "absolute")
squared = Loss(partial(_power, exact(2)), "squared")
binary = Loss(_binary, "binary")
nib = Loss(_nib, "nib")


def power(p: Number) -> Loss:
    """|i - r|^p for p > 0: exact for an integer p, float64 otherwise.

    >>> power("3/2").matrix(3)[0].tolist()
    [0.0, 1.0, 2.8284...]
    """
    exponent = exact(p, "p")
    if exponent <= 0:
        raise NotALoss("the power must be positive", came=p)
    return Loss(partial(_power, exponent), f"power({exponent})")
