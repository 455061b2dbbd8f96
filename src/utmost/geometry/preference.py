"""From a joint loss that may tell two channels apart to a consumer that does, checked, and with small numbers."""

from fractions import Fraction

import numpy as np

from utmost.channels import Channel
from utmost.exact import Array, Floats, as_array, is_exact, to_floats
from utmost.exact.limbs import denominators
from utmost.geometry.witnesses import prefers
from utmost.spaces import Consumer, priors

_BITS = (1, 3, 6, 10, 16, 24, 36, 50)


def preferring_consumer(
    loss: Array, near: tuple[Floats, Floats], A: Channel, B: Channel, slack: float
) -> Consumer | None:
    """A consumer who prefers A to B, with the loss given up to rounding and to what is the same for all actions.

    The prior is uniform. The entries are rounded to as few bits as do; an exact loss is taken as it is at last.

    Args:
        loss: (n, k), of either sign.
        near: the columns of B and of A in floats, for a first look.
        slack: for float64 channels, the tolerance of `prefers`.
    """
    rough = to_floats(loss) if is_exact(loss) else loss
    size = float(abs(rough).max())
    if not np.isfinite(size) or size == 0:
        return None
    exactly = A.is_exact and B.is_exact
    for bits in _BITS:
        rounded = np.rint(rough / size * 2.0**bits)
        if _seems_to_prefer(rounded, *near):
            consumer = _consumer(rounded.astype(np.int64), exactly)
            if prefers(consumer, A, B, slack):
                return consumer
    if is_exact(loss):
        consumer = _consumer(loss * int(np.lcm.reduce(denominators(loss).ravel())), exactly)
        return consumer if prefers(consumer, A, B, slack) else None
    return None


def _seems_to_prefer(joint: Floats, B: Floats, A: Floats) -> bool:
    """Whether floats see a preference beyond their rounding: what they do not see is left to exact losses."""
    mine, theirs = ((C.T @ joint).min(axis=1).sum() for C in (A, B))
    return bool(theirs - mine > 1e-13 * abs(joint).sum())


def _consumer(integers: Array, exactly: bool) -> Consumer:
    """Uniform prior; rows shifted to a least loss of 0; actions that are the same, once."""
    shifted = integers - integers.min(axis=1, keepdims=True)
    actions = sorted({tuple(int(x) for x in action) for action in shifted.T})
    matrix = as_array([list(row) for row in zip(*actions, strict=True)])
    uniform = priors.uniform(len(matrix))
    return Consumer(uniform, matrix) if exactly else Consumer(to_floats(uniform), to_floats(matrix))


def one_column(entries: list[Fraction], column: int, width: int) -> Array:
    """A joint loss that is zero but for one action."""
    loss = np.full((len(entries), width), Fraction(0), dtype=object)
    loss[:, column] = entries
    return loss
