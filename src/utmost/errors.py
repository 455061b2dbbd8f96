"""Every error that utmost raises on purpose, drawn as one tree.

::

    UtmostError
    ├── NotANumber      a value is no finite exact number            (also ValueError)
    ├── WrongKind       an argument is of another kind altogether    (also TypeError)
    ├── NotALevel       a value is no privacy level                  (also ValueError)
    ├── OutOfRange      a parameter lies outside its range           (also ValueError)
    │   ├── NotDeclared a column is neither released, public nor dropped
    │   └── NotDetermined an answer does not follow from the sums that were measured
    ├── NotAPrior       an array is no probability distribution      (also ValueError)
    ├── NotALoss        a matrix or function is no loss              (also ValueError)
    │   └── NotMonotone a loss breaks the monotonicity of a theorem
    ├── NotAChannel     a matrix is not row-stochastic               (also ValueError)
    ├── NotAMetric      distances break an axiom of metrics          (also ValueError)
    ├── BadTable        a table cell, row or column is unusable      (also ValueError)
    ├── PromiseBroken   a mechanism does not keep the level claimed
    ├── Infeasible      no object satisfies what was asked
    ├── SolverFailed    a program was not solved; no best effort is returned
    ├── Undecided       two numbers are too near for the precision reached, and no theorem says which is larger
    ├── EntropyFailed   the operating system gives no random bytes, or the same twice
    ├── BudgetExceeded  a release would spend more than its budget
    ├── LedgerError     a ledger refuses; no answer was given
    │   ├── NotPublished      no release, or no dataset, of this name is in the ledger
    │   ├── AlreadyPublished  the release is there, and was asked for with other arguments
    │   ├── DataChanged       the values are not those that were published
    │   ├── NeedsTable        a level beyond the loosest response needs the values
    │   ├── KeyRefused        the ledger's key is missing, wrong, or open to others
    │   ├── Quarantined       the ledger has been rolled back or restored
    │   ├── LedgerDamaged     what is stored is not what was written
    │   └── LedgerUnavailable the store is locked, full, or cannot be reached
    ├── ServiceError    a service of ledgers refuses; no answer was given
    │   ├── NotAuthenticated  no token came, or none that is valid now
    │   ├── NotAllowed        the token does not allow what was asked
    │   ├── NeedsApproval     a second person must confirm it first
    │   ├── UnknownRecord     no token, proposal, offer or order of this name is there
    │   └── RequestReused     an idempotency key came again with another request
    └── Unsupported     outside what the library offers; never "treated as" something else

Each error says what was required, what came, where, and how to put it right.

A `PrivacyWarning` is no error: what was asked is done, and promises less than its name suggests. `LittleProtection`
is of a level that hides practically nobody, `RowsObserved` of a list of rows that was taken from the data,
`BudgetUnused` of a limit that no release spends, `LimitBelowSpent` of one below what is spent, `SeparateDatasets` of a
second dataset in a ledger,
`RowsRenamed` of rows that are called otherwise than when they were
published, `NothingCounted` of a table all of whose events lie outside the declared domain, `RowsLeftOut`
of one some of whose events do, `LeadingZerosRead` of values that may be codes where numbers were declared,
`FewEventsKept` of bounds that keep fewer than half of them, `DegreesAsLengths` of
coordinates that can only be degrees, `FactsFarOff` of public facts that what was released all but excludes.
"""

import sys
import warnings
from typing import Any, Self


class UtmostError(Exception):
    """Root of the tree.

    Args:
        required: Condition that must hold, as a sentence fragment ("epsilon must be positive").
        came: the offending value, shown with ``repr`` (strings are shown as they are).
        where: the place: a parameter, a row, a column, a file.
        remedy: one sentence that says what to do.

    >>> str(OutOfRange("sensitivity must be at least 1", came=0, where="Geometric", remedy="Pass sensitivity=1."))
    'Geometric: sensitivity must be at least 1; got 0. Pass sensitivity=1.'
    """

    def __init__(self, required: str, *, came: Any = None, where: str | None = None, remedy: str | None = None) -> None:
        self.required, self.came, self.where, self.remedy = required, came, where, remedy
        got = "" if came is None else f"; got {_shorten(came)}"
        super().__init__((f"{where}: " if where else "") + required + got + "." + (f" {remedy}" if remedy else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.required, self.came, self.where, self.remedy)


def _rebuild(kind: type[UtmostError], required: str, came: Any, where: str | None, remedy: str | None) -> UtmostError:
    if not (isinstance(kind, type) and issubclass(kind, UtmostError) and isinstance(required, str)):
        raise WrongKind("a pickle must hold the parts of the value that it is of", came=type(required).__name__)
    return kind(required, came=came, where=where, remedy=remedy)


def _shorten(value: Any) -> str:
    """The value as shown in a message: strings bare, long ones cut, so that no message is a data dump."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:  # Python prints no integer of more than 4300 digits
        return f"{type(value).__name__} of too many digits to print"
    except Exception:  # a nest too deep, an object that cannot print itself
        return f"{type(value).__name__} that cannot be printed"
    return text if len(text) <= 120 else f"{text[:117]}..."


def quoted(value: Any) -> str:
    """The ``repr`` of whatever came, for a message; the name of its type where it has none."""
    try:
        return repr(value)
    except Exception:  # what is printed is the user's, and so is what it raises
        return type(value).__name__


class NotANumber(UtmostError, ValueError):
    """A value cannot be read as a finite exact number."""


class WrongKind(UtmostError, TypeError):
    """An argument is of a kind that the parameter does not take."""


class NotALevel(UtmostError, ValueError):
    """A value cannot be read as a privacy level."""


class OutOfRange(UtmostError, ValueError):
    """A parameter lies outside its range."""


class NotDeclared(OutOfRange):
    """A column of a table is neither to be released, nor declared public, nor to be left out."""


class NotDetermined(OutOfRange):
    """An answer was asked for that the measured sums do not determine."""


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


class Undecided(UtmostError):
    """Two numbers lie too near to each other for the precision reached, and no theorem tells them apart."""


class EntropyFailed(UtmostError):
    """The operating system's random source fails or repeats itself. Nothing has been released."""


class BudgetExceeded(UtmostError):
    """A release would spend more than its budget."""


class LedgerError(UtmostError):
    """A ledger refuses what was asked, or cannot do it. Nothing has been spent, and asking again is safe."""


class NotPublished(LedgerError, LookupError):
    """No release of this name and version, or no dataset of this name, is in the ledger."""


class AlreadyPublished(LedgerError):
    """The release, the request or the values are in the ledger already, and came with other arguments.

    Attributes:
        known_as: Place where the same values were released, for whoever holds the ledger's key, in words without
            a value; it is in no message, since whoever may bring guesses would be told which of them is right.
        at_other_level: whether the release is there just as it came, and was answered at another level.
    """

    known_as: str | None = None
    at_other_level: bool = False

    def known(self, where: str) -> Self:
        """The error, which knows where the values are."""
        self.known_as = where
        return self


class DataChanged(LedgerError):
    """The values brought are not those that the ledger committed to."""


class NeedsTable(LedgerError):
    """A level beyond the loosest response was asked for without the values."""


class KeyRefused(LedgerError):
    """The ledger's key is missing, wrong, too short, or readable by others."""


class Quarantined(LedgerError):
    """The ledger has been rolled back or restored, and takes no new response before it is resumed."""


class LedgerDamaged(LedgerError):
    """The store holds something else than was written."""


class LedgerUnavailable(LedgerError):
    """The store is locked, full, or cannot be reached. The same call may be made again.

    Attributes:
        is_absent: whether no ledger is there: none is made unless somebody creates it.
    """

    is_absent: bool = False


class ServiceError(UtmostError):
    """A service refuses what was asked. Nothing has been spent, and asking again is safe."""


class NotAuthenticated(ServiceError):
    """No token came with a request, or none that is valid now."""


class NotAllowed(ServiceError):
    """The token that came with a request does not allow it."""


class NeedsApproval(ServiceError):
    """The request cannot be undone, and a second person has not confirmed it."""


class UnknownRecord(ServiceError, LookupError):
    """A service keeps no token, proposal, offer or order of this name."""


class RequestReused(ServiceError):
    """An idempotency key came a second time, with a request that is another one."""


class Unsupported(UtmostError):
    """The request lies outside what the library offers."""


class PrivacyWarning(UserWarning):
    """The request is done, and promises less than its name suggests."""


class NothingCounted(PrivacyWarning):
    """Every event of a table lies outside the declared domain, so that it is a table of zeros."""


class RowsLeftOut(PrivacyWarning):
    """Some rows lie outside the declared domain, or have no value there, and are not counted."""


class LeadingZerosRead(PrivacyWarning):
    """Some values begin with a zero that is not read: they may be codes, where numbers were declared."""


class FewEventsKept(PrivacyWarning):
    """The bounds on one person keep fewer than half of the events, or of the amounts."""


class DegreesAsLengths(PrivacyWarning):
    """Coordinates that are taken for lengths can only be degrees."""


class FactsFarOff(PrivacyWarning):
    """A public fact lies far outside the margins of what was released, so that a clean table by it is another one."""


class BudgetUnused(PrivacyWarning):
    """A limit is set on a dataset that no release of the ledger names."""


class LimitBelowSpent(PrivacyWarning):
    """A limit is set below what the dataset has spent."""


class SeparateDatasets(PrivacyWarning):
    """A ledger charges a new dataset beside others: people who are in several have no limit together."""


class RowsRenamed(PrivacyWarning):
    """Texts beside the values are not those of the table that was published."""


class LittleProtection(PrivacyWarning):
    """Practically nobody is protected at this level."""


class RowsObserved(PrivacyWarning):
    """The list of rows was taken from the data, and the promise does not cover it."""


_BETWEEN = ("utmost.", "contextlib")  # what runs between whoever calls and what warns


def warn(text: str, category: type[PrivacyWarning]) -> None:
    """Warn whoever called the library: of the nearest line outside of it."""
    frame, above = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_BETWEEN):
        frame, above = frame.f_back, above + 1
    warnings.warn(text, category, stacklevel=above)


def __dir__() -> list[str]:
    own = (name for name, value in globals().items() if getattr(value, "__module__", None) == __name__)
    return sorted(name for name in own if not name.startswith("_"))
