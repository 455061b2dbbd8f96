r"""What Theorem 3.1 asks of a loss, and how far it reaches beyond what it asks.

The theorem is stated for losses that do not decrease in |i - r|. Its proof needs less: each row l(i, .) falls to a
smallest entry and rises after it, and that place, the row's mode, does not move left as i grows. Lemma 5.5 is the only
step that uses the loss. There, two columns l < m next to each other among those in use, with C(i, l) not "down" and
C(i, m) not "up", let mass move from m to l on the rows up to i, or from l to m on the rows after i, or, new, from both
to a column k between them: from m on the rows up to i and from l on the others. The first is no loss when the mode of
row i is at most l, the second when that of row i + 1 is at least m, and otherwise k between these two modes serves.
Rows and actions need not be equally many: the rest of the proof counts columns in use and responses of G only.
"""

import numpy as np

from utmost.design.loss_rows import LossRows, float_rows, integer_rows
from utmost.spaces import Consumer, is_monotone

THEOREM = "Theorem 3.1 of Ghosh, Roughgarden and Sundararajan (2009)"
EXTENDED = "Theorem 3.1 of Ghosh, Roughgarden and Sundararajan (2009), extended to unimodal losses with ordered modes"


def theorem_for(consumer: Consumer) -> tuple[str, tuple[str, ...]] | None:
    """The theorem that makes a remap of the geometric mechanism optimal for this consumer, its hypotheses, or None.

    Cost: O(n k).

    >>> from utmost.spaces import losses, priors
    >>> theorem_for(Consumer(priors.uniform(4), losses.nib)) is None
    True
    """
    if consumer.actions == consumer.secrets and is_monotone(consumer):
        return THEOREM, ("the loss of each secret i does not decrease in |i - r|",)
    exactly = consumer.is_exact and consumer.table is not None
    if is_unimodal(integer_rows(consumer) if exactly else float_rows(consumer)):
        return EXTENDED, ("the loss of each secret falls to a mode and rises after it", "the modes do not decrease")
    return None


def is_unimodal(rows: LossRows) -> bool:
    """Whether every row falls and then rises, at modes that do not decrease from row to row.

    A row may have a plateau of modes; the leftmost that is not left of the last row's is taken.
    """
    mode = 0
    for i in range(rows.secrets):
        row = rows.loss_row(i)
        steps = np.diff(row)
        falls, rises = np.flatnonzero(steps < 0), np.flatnonzero(steps > 0)
        first = int(falls[-1]) + 1 if falls.size else 0
        last = int(rises[0]) if rises.size else len(row) - 1
        mode = max(mode, first)
        if mode > last:
            return False
    return True
