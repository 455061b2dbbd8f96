"""A consumer: what it believes (prior) and what error costs it (loss)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from utmost.errors import NotALoss
from utmost.exact import Array, is_exact, to_floats
from utmost.spaces.losses import Loss, loss_matrix
from utmost.spaces.priors import prior as check_prior


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Consumer:
    """A prior over n secrets and a loss over (n secrets, k actions), in one number world.

    The consumer is exact when its prior and its loss are; otherwise both are float64.

    Args:
        prior: (n,), see `priors.prior`.
        loss: a named loss (`losses.absolute`), a function l(i, r), or an (n, k) matrix. A named loss or function takes
            as many actions as there are secrets, and its matrix is computed when it is asked for.

    Raises:
        NotAPrior, NotALoss: see `priors.prior` and `losses.loss_matrix`; and for sizes that differ.

    >>> from utmost.spaces import losses, priors
    >>> Consumer(priors.uniform(2), losses.binary).loss.tolist()
    [[Fraction(0, 1), Fraction(1, 1)], [Fraction(1, 1), Fraction(0, 1)]]
    """

    prior: Array
    rule: Loss | None
    table: Array | None

    def __init__(self, prior: object, loss: object) -> None:
        belief = check_prior(prior)
        rule = loss if isinstance(loss, Loss) else Loss(np.vectorize(loss, otypes=[object])) if callable(loss) else None
        table = None if rule else loss_matrix(loss)
        sample = rule.block(np.arange(min(3, len(belief))), np.arange(min(3, len(belief)))) if rule else table
        assert sample is not None
        if table is not None and len(table) != len(belief):
            raise NotALoss(f"the loss must have {len(belief)} rows, one for each secret of the prior", came=len(table))
        if not (is_exact(belief) and is_exact(sample)):
            belief = to_floats(belief) if is_exact(belief) else belief
            table = to_floats(table) if table is not None and is_exact(table) else table
        object.__setattr__(self, "prior", belief)
        object.__setattr__(self, "rule", rule)
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
    def actions(self) -> int:
        """The number k of actions."""
        return self.secrets if self.table is None else int(self.table.shape[1])

    @property
    def loss(self) -> Array:
        """The whole (n, k) loss matrix."""
        return self.loss_block(slice(None), slice(None))

    def loss_block(self, secrets: Any, actions: Any) -> Array:
        """The loss of some secrets (rows) and some actions (columns), given as slices."""
        if self.table is not None:
            block: Array = self.table[secrets, actions]
            return block
        assert self.rule is not None
        block = self.rule.block(np.arange(self.secrets)[secrets], np.arange(self.actions)[actions])
        return to_floats(block) if is_exact(block) and not self.is_exact else block

    def __reduce__(self) -> tuple[Any, ...]:
        return Consumer, (self.prior, self.rule if self.rule is not None else self.table)
