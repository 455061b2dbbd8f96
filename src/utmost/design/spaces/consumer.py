"""Define a consumer of a mechanism: a prior over the secrets, and a loss, the cost of each action for each secret."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance, integer, optional
from utmost.core.exact.arrays import Array, frozen, indices, is_exact, to_floats, unpickler
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import natural
from utmost.design.spaces.losses import Loss, from_function, loss_matrix
from utmost.design.spaces.priors import prior as check_prior
from utmost.errors import NotALoss

# The matrix of a named loss is stored if it has at most this many entries. Blocks of a larger matrix are computed when
# they are needed.
_LARGEST_TABLE = 1 << 18


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Consumer(Display):
    """A prior over n secrets, and a loss of k actions for each secret; both are exact, or both are float64.

    If the prior or the loss has a float, both become float64.

    Args:
        prior: Prior of the n secrets, see `priors.prior`.
        loss: Named loss (`losses.absolute`), function l(i, r) of secret i and action r, or (n, k) matrix.
        actions: Number k of actions of a named loss or function; by default n.

    Attributes:
        prior: Prior of the n secrets, read-only.
        rule: Loss as a named loss, or None for a matrix.

    Raises:
        NotAPrior, NotALoss: if `priors.prior` or `losses.loss_matrix` raises it.
        NotALoss: if the number of rows of the loss is not n, or the number of columns is not k.

    >>> from utmost.design.spaces import losses, priors
    >>> Consumer(priors.uniform(2), losses.binary).loss.tolist()
    [[Fraction(0, 1), Fraction(1, 1)], [Fraction(1, 1), Fraction(0, 1)]]
    """

    prior: Array
    rule: Loss | None
    actions: int
    table: Array | None

    def __init__(self, prior: object, loss: object, actions: int | None = None) -> None:
        actions = optional(actions, integer, "actions")
        belief = check_prior(prior)
        rule = loss if isinstance(loss, Loss) else from_function(loss) if callable(loss) else None
        table: Array | None = None
        if rule is None:
            table = loss_matrix(loss)
        else:
            # Compute the matrix if it is small, or if its values are needed to see whether the loss is rational.
            k = _action_count(len(belief), actions)
            if len(belief) * k <= _LARGEST_TABLE or rule.exact is None:
                table = rule.matrix(len(belief), k)
        if table is not None and len(table) != len(belief):
            raise NotALoss(
                f"the loss must have {len(belief)} rows, one for each secret of the prior",
                came=len(table),
                remedy="Pass a loss and a prior on the same secrets.",
            )
        if rule is None and actions is not None and table is not None and table.shape[1] != actions:
            raise NotALoss(
                f"the loss must have {actions} columns, one for each action",
                came=table.shape[1],
                remedy="Leave out actions=: a matrix has one action for each column.",
            )
        exactly = is_exact(belief) and (is_exact(table) if table is not None else bool(rule and rule.exact))
        self._set_fields(
            belief if exactly or not is_exact(belief) else to_floats(belief),
            rule,
            table.shape[1] if table is not None else _action_count(len(belief), actions),
            table if table is None or exactly or not is_exact(table) else to_floats(table),
        )

    def _set_fields(self, prior: Array, rule: Loss | None, actions: int, table: Array | None) -> None:
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "rule", rule)
        object.__setattr__(self, "actions", int(actions))
        object.__setattr__(self, "table", table)

    @property
    def is_exact(self) -> bool:
        """Whether prior and loss are Fractions."""
        return is_exact(self.prior)

    @property
    def secrets(self) -> int:
        """The number n of secrets."""
        return len(self.prior)

    @property
    def loss(self) -> Array:
        """The whole (n, k) loss matrix, read-only."""
        return self.loss_block(slice(None), slice(None))

    def loss_block(self, secrets: slice | Array, actions: slice | Array) -> Array:
        """Return the losses of some secrets (rows) and some actions (columns), selected by slices or index arrays."""
        rows, columns = (
            np.arange(size)[part] if isinstance(part, slice) else np.ravel(indices(part, size, name))
            for part, size, name in ((secrets, self.secrets, "secrets"), (actions, self.actions, "actions"))
        )
        if self.table is not None:
            is_whole = all(isinstance(part, slice) and part == slice(None) for part in (secrets, actions))
            return self.table if is_whole else frozen(self.table[rows[:, None], columns[None, :]])
        assert self.rule is not None, "a consumer without a loss matrix has a named loss"
        return self.rule.block(rows, columns, floats=not self.is_exact)

    def to_floats(self) -> "Consumer":
        """Return the consumer in float64, with the nearest float for every entry."""
        if not self.is_exact:
            return self
        table = None if self.table is None else to_floats(self.table)
        return _rebuilt(to_floats(self.prior), self.rule, self.actions, table)

    def same_as(self, other: "Consumer") -> bool:
        """Return whether both consumers have equal priors and equal loss matrices."""
        instance(other, Consumer, "other")
        if (self.secrets, self.actions) != (other.secrets, other.actions):
            return False
        return bool((self.prior == other.prior).all() and (self.loss == other.loss).all())

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.prior, self.rule, self.actions, self.table)

    def __repr__(self) -> str:
        what = "a loss matrix" if self.rule is None else repr(self.rule)
        number_kind = "exact" if self.is_exact else "float64"
        return f"Consumer({self.secrets} secrets, {self.actions} actions, {what}, {number_kind})"


@unpickler
def _rebuilt(prior: Array, rule: Loss | None, actions: int, table: Array | None) -> Consumer:
    consumer = object.__new__(Consumer)
    consumer._set_fields(frozen(prior), rule, actions, None if table is None else frozen(table))
    return consumer


def _action_count(secrets: int, actions: int | None) -> int:
    return secrets if actions is None else natural(actions, "actions", least=1)
