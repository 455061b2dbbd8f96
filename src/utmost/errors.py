"""The tree of errors that utmost raises on purpose.

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
    ├── PromiseBroken   a mechanism does not satisfy the level claimed
    ├── Infeasible      no object satisfies all requirements
    ├── SolverFailed    a program was not solved; no approximate result is returned
    ├── Undecided       two numbers are too close for the precision reached, and no theorem says which is larger
    ├── EntropyFailed   the operating system gives no random bytes, or the same bytes twice
    ├── BudgetExceeded  a release would spend more than its budget
    ├── LedgerError     a ledger refuses; no answer was given
    │   ├── NotPublished      no release, or no dataset, of this name is in the ledger
    │   ├── AlreadyPublished  the ledger has this release already, made with other arguments
    │   ├── DataChanged       the values differ from those that were published
    │   ├── NeedsTable        the answer does not follow from stored answers: pass the table
    │   ├── KeyRefused        the ledger's key is missing, wrong, or readable by others
    │   ├── Quarantined       the ledger has been rolled back or restored
    │   ├── LedgerDamaged     the stored bytes differ from those written
    │   └── LedgerUnavailable the store is locked, full, or cannot be reached
    ├── ServiceError    a service of ledgers refuses; no answer was given
    │   ├── NotAuthenticated  the request has no token, or none that is valid now
    │   ├── NotAllowed        the token does not allow the request
    │   │   └── TooOften      requests come too often, or too many passed tables differed from published ones today
    │   ├── NeedsApproval     a second person must confirm it first
    │   ├── UnknownRecord     the service has no token, proposal, offer or order of this name
    │   └── RequestReused     an idempotency key was used again for another request
    └── Unsupported     the library does not do this; it never does something similar instead
        └── NotServed         the client of a service has no such call (also AttributeError)

Each error says what was required, what was passed, where, and how to correct it.

A `PrivacyWarning` is not an error: the call succeeds, and its result protects individuals less, or contains less
information, than a user may expect. The subclasses of `PrivacyWarning` name the reason.
"""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self


class UtmostError(Exception):
    """Base class of all errors of utmost.

    Args:
        required: Condition that must hold, as a sentence fragment ("epsilon must be positive").
        came: Value that was passed, shown with ``repr`` (strings are shown as they are).
        where: Parameter, row, column or file that the error is about.
        remedy: One sentence that says what to do.

    >>> str(OutOfRange("sensitivity must be at least 1", came=0, where="Geometric", remedy="Pass sensitivity=1."))
    'Geometric: sensitivity must be at least 1; got 0. Pass sensitivity=1.'
    """

    def __init__(self, required: str, *, came: Any = None, where: str | None = None, remedy: str | None = None) -> None:
        self.required, self.came, self.where, self.remedy = required, came, where, remedy
        got = ""
        if came is not None:
            try:
                text = came if isinstance(came, str) else repr(came)
            except ValueError:  # Python prints no integer of more than 4300 digits
                text = f"{type(came).__name__} of too many digits to print"
            except Exception:  # the value is nested too deeply, or its own repr fails
                text = f"{type(came).__name__} that cannot be printed"
            if len(text) > 120:
                shown = text[:117]
                space = shown.rfind(" ")  # do not end within a word, unless the word is very long
                text = (shown[:space].rstrip(",;") + " ...") if space > 80 else f"{shown}..."
            got = f"; got {text}"
        super().__init__((f"{where}: " if where else "") + required + got + "." + (f" {remedy}" if remedy else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.required, self.came, self.where, self.remedy)


def _rebuild(kind: type[UtmostError], required: str, came: Any, where: str | None, remedy: str | None) -> UtmostError:
    if not (isinstance(kind, type) and issubclass(kind, UtmostError) and isinstance(required, str)):
        raise WrongKind("a pickle must hold the fields of its value", came=type(required).__name__)
    return kind(required, came=came, where=where, remedy=remedy)


def quoted(value: Any) -> str:
    """Return the ``repr`` of a value for a message, or the name of its type if ``repr`` fails."""
    try:
        return repr(value)
    except Exception:  # the ``__repr__`` of a user's class may raise anything
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
    """A column of a table is neither released, nor public, nor dropped."""


class NotDetermined(OutOfRange):
    """An answer does not follow from the measured sums."""


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
    """No object satisfies all requirements."""


class SolverFailed(UtmostError):
    """A program was not solved to the required accuracy."""


class Undecided(UtmostError):
    """Two numbers are too close for the precision reached, and no theorem says which is larger."""


class EntropyFailed(UtmostError):
    """The operating system's random source fails or repeats itself. Nothing has been released."""


class BudgetExceeded(UtmostError):
    """A release would spend more than its budget."""


class LedgerError(UtmostError):
    """A ledger refuses a request or cannot answer it. Nothing has been spent, and repeating the request is safe."""


class NotPublished(LedgerError, LookupError):
    """No release of this name and version, or no dataset of this name, is in the ledger."""


class AlreadyPublished(LedgerError):
    """The release, the request or the values are in the ledger already, with other arguments.

    Attributes:
        known_as: Dataset and release with the same values, for the holder of the ledger's key. No message contains
            this text, because it would tell somebody who guesses values whether a guess is right.
        at_other_level: Whether the ledger has the same release at another level.
    """

    known_as: str | None = None
    at_other_level: bool = False

    def known(self, where: str) -> Self:
        """Set `known_as` to the dataset and release that have the same values, and return this error."""
        self.known_as = where
        return self


class DataChanged(LedgerError):
    """The values passed differ from those that were published."""


class NeedsTable(LedgerError):
    """The table must be passed: the answer does not follow from the answers that the ledger stores."""


class KeyRefused(LedgerError):
    """The ledger's key is missing, wrong, too short, or readable by others."""


class Quarantined(LedgerError):
    """The ledger was rolled back or restored. It makes no new response until it is resumed."""


class LedgerDamaged(LedgerError):
    """The bytes in the ledger's store differ from those that utmost wrote."""


class LedgerUnavailable(LedgerError):
    """The store is locked, full, or cannot be reached. Repeating the call is safe.

    Attributes:
        is_absent: Whether there is no ledger at the path. A ledger is only created on request.
    """

    is_absent: bool = False


class ServiceError(UtmostError):
    """A service refuses a request. Nothing has been spent, and repeating the request is safe."""


class NotAuthenticated(ServiceError):
    """A request has no token, or its token is not valid now."""


class NotAllowed(ServiceError):
    """The token of a request does not allow this request."""


class TooOften(NotAllowed):
    """Requests come too often, or too many tables passed by one person today differed from the published ones.

    Attributes:
        again: Seconds to wait before the request may be repeated.
    """

    again: float = 1.0

    def after(self, seconds: float) -> Self:
        """Set the number of seconds to wait before the request may be repeated, and return this error."""
        self.again = seconds
        return self


class NeedsApproval(ServiceError):
    """The request cannot be undone, and needs the confirmation of a second person."""


class UnknownRecord(ServiceError, LookupError):
    """A service has no token, proposal, offer or order of this name."""


class RequestReused(ServiceError):
    """An idempotency key was used before, for another request."""


class Unsupported(UtmostError):
    """The library does not do what was requested."""


class NotServed(Unsupported, AttributeError):
    """The method needs the file or the key of a local ledger, so the client of a service does not have it."""


class PrivacyWarning(UserWarning):
    """The call succeeds, and its result protects individuals less, or contains less information, than a user may
    expect.
    """


class NothingCounted(PrivacyWarning):
    """A table has no events, or all lie outside the declared domain, so all counts are zero."""


class RowsLeftOut(PrivacyWarning):
    """Some rows are not counted: their values are missing or outside the declared domain."""


class LeadingZerosRead(PrivacyWarning):
    """Some values begin with a zero that is dropped: they may be codes, although numbers were declared."""


class SimilarPersons(PrivacyWarning):
    """Identifiers of persons differ only in their spelling: one individual may count as several persons."""


class FewEventsKept(PrivacyWarning):
    """The bounds on one person keep fewer than half of the events, or of the amounts."""


class DegreesAsLengths(PrivacyWarning):
    """Coordinates are read as lengths, but can only be degrees."""


class FactsFarOff(PrivacyWarning):
    """A public fact lies far outside the margins of the released table, so a table that is adjusted to the fact will
    differ much from the released one.
    """


class BudgetUnused(PrivacyWarning):
    """A limit is set on a dataset that no release of the ledger names."""


class LimitBelowSpent(PrivacyWarning):
    """A limit is set below the epsilon that the dataset has spent."""


class SeparateDatasets(PrivacyWarning):
    """A ledger charges a new dataset in addition to others: no limit covers people who are in several datasets."""


class RowsRenamed(PrivacyWarning):
    """Row labels differ from those of the published table."""


class IndividualLeftOut(PrivacyWarning):
    """A counted table is published under a promise that does not state who was counted."""


class LittleProtection(PrivacyWarning):
    """An epsilon is so large that it protects practically nobody."""


class RowsObserved(PrivacyWarning):
    """The list of rows was taken from the data, and the promise does not protect it."""


class RowsSorted(PrivacyWarning):
    """The rows are sorted by a released column, and the promise does not protect their order."""


class WitnessMissing(PrivacyWarning):
    """The witness of a ledger is missing: a stored answer was repeated, and a new one will be refused."""


_COLLECTED: ContextVar[list[PrivacyWarning] | None] = ContextVar("_COLLECTED", default=None)


@contextmanager
def collected_warnings() -> Iterator[list[PrivacyWarning]]:
    """Collect the privacy warnings of a ``with`` block in a list, each once, instead of issuing them.

    Other threads and tasks keep theirs, unlike with `warnings.catch_warnings`.
    """
    outer, found = _COLLECTED.get(), list[PrivacyWarning]()
    _COLLECTED.set(found)
    try:
        yield found
    finally:
        _COLLECTED.set(outer)


_BETWEEN = ("utmost.", "contextlib")  # modules that a warning does not point to


def warn(text: str, category: type[PrivacyWarning]) -> None:
    """Issue a warning that points to the nearest calling line outside of utmost, or add it to `collected_warnings`."""
    found = _COLLECTED.get()
    if found is not None:
        if all((type(one), str(one)) != (category, text) for one in found):
            found.append(category(text))
        return
    frame, above = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_BETWEEN):
        frame, above = frame.f_back, above + 1
    warnings.warn(text, category, stacklevel=above)


def __dir__() -> list[str]:
    own = (name for name, value in globals().items() if getattr(value, "__module__", None) == __name__)
    return sorted(name for name in own if not name.startswith("_"))
