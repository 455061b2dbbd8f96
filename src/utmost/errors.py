"""Every error that utmost raises on purpose, drawn as one tree.

::

    UtmostError
    ├── NotANumber      a value is no finite exact number            (also ValueError)
    ├── NotALevel       a value is no privacy level                  (also ValueError)
    ├── OutOfRange      a parameter lies outside its range           (also ValueError)
    ├── NotAPrior       an array is no probability distribution      (also ValueError)
    ├── NotALoss        a matrix or function is no loss              (also ValueError)
    │   └── NotMonotone a loss breaks the monotonicity of a theorem
    ├── NotAChannel     a matrix is not row-stochastic               (also ValueError)
    ├── NotAMetric      distances break an axiom of metrics          (also ValueError)
    ├── BadTable        a table cell, row or column is unusable      (also ValueError)
    ├── PromiseBroken   a mechanism does not keep the level claimed
    ├── Infeasible      no object satisfies what was asked
    ├── SolverFailed    a program was not solved; no best effort is returned
    ├── BudgetExceeded  a release would spend more than its budget
    └── Unsupported     outside what the library offers; never "treated as" something else

Each error says what was required, what came, where, and how to mend it.
"""

from typing import Any


class UtmostError(Exception):
    """Root of the tree.

    Args:
        required: what must hold, as a sentence fragment ("epsilon must be positive").
        came: the offending value, shown with ``repr`` (strings are shown as they are).
        where: the place: a parameter, a row, a column, a file.
        mend: one sentence that tells the user what to do.

    >>> str(OutOfRange("sensitivity must be at least 1", came=0, where="Geometric", mend="Pass sensitivity=1."))
    'Geometric: sensitivity must be at least 1; got 0. Pass sensitivity=1.'
    """

    def __init__(self, required: str, *, came: Any = None, where: str | None = None, mend: str | None = None) -> None:
        self.required, self.came, self.where, self.mend = required, came, where, mend
        got = "" if came is None else f"; got {_shorten(came)}"
        super().__init__((f"{where}: " if where else "") + required + got + "." + (f" {mend}" if mend else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.required, self.came, self.where, self.mend)


def _rebuild(kind: type[UtmostError], required: str, came: Any, where: str | None, mend: str | None) -> UtmostError:
    return kind(required, came=came, where=where, mend=mend)


def _shorten(value: Any) -> str:
    """The value as shown in a message: strings bare, long ones cut, so that no message is a data dump."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


class NotANumber(UtmostError, ValueError):
    """A value cannot be read as a finite exact number."""


class NotALevel(UtmostError, ValueError):
    """A value cannot be read as a privacy level."""


class OutOfRange(UtmostError, ValueError):
    """A parameter lies outside its range."""


class NotAPrior(UtmostError, ValueError):
    """An array is no probability distribution on the secrets."""


class NotALoss(UtmostError, ValueError):
    """A matrix or function is no loss."""


class NotMonotone(NotALoss):
    """A loss breaks the monotonicity that a theorem requires."""


class NotAChannel(UtmostError, ValueError):
    """A matrix is not row-stochastic."""


class NotAMetric(UtmostError, ValueError):
    """Distances break an axiom of metrics."""


class BadTable(UtmostError, ValueError):
    """A table, or one of its rows, columns or cells, cannot be used."""


class PromiseBroken(UtmostError):
    """A mechanism does not keep the privacy level that was claimed for it."""


class Infeasible(UtmostError):
    """No object satisfies what was asked."""


class SolverFailed(UtmostError):
    """A program was not solved to the accuracy asked."""


class BudgetExceeded(UtmostError):
    """A release would spend more than its budget."""


class Unsupported(UtmostError):
    """What was asked lies outside what the library offers."""
