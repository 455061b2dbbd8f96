"""Errors as problem details (RFC 9457): a status, a name, and a sentence that quotes no value."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from starlette.exceptions import HTTPException

from utmost import errors

_STATUS: Mapping[type[errors.UtmostError], int] = {
    errors.NotAuthenticated: 401,
    errors.NotAllowed: 403,
    errors.NeedsApproval: 409,
    errors.UnknownRecord: 404,
    errors.RequestReused: 422,
    errors.NotPublished: 404,
    errors.AlreadyPublished: 409,
    errors.DataChanged: 409,
    errors.NeedsTable: 409,
    errors.Quarantined: 409,
    errors.BudgetExceeded: 409,
    errors.LedgerUnavailable: 503,
    errors.KeyRefused: 500,
    errors.LedgerDamaged: 500,
    errors.EntropyFailed: 503,
    errors.Unsupported: 422,
}

TOO_OFTEN = "Requests come too often."
BUSY = "The service is busy with others."
MEDIA_TYPE = "application/problem+json"
LINES_TYPE = "application/x-ndjson"
BROKEN = "The service cannot answer. Its operator finds the reason in the log."
_MOST_FAULTS, _MOST_TOLD = 1000, 20
_PLACES = frozenset({
    "body", "query", "path", "header", "Idempotency-Key", "epsilon", "version", "confidence", "dataset", "after",
    "most", "name", "str", "int", "float", "list",
})  # fmt: skip


class Refused(HTTPException):
    """A request that may come again later.

    Args:
        status: Status of HTTP.
        title: the name of the refusal.
        detail: Reason.
        again: Number of seconds after which to come again.

    Attributes:
        title: the name of the refusal.
    """

    def __init__(self, status: int, title: str, detail: str, again: float) -> None:
        super().__init__(status, detail, {"Retry-After": str(math.ceil(again))})
        self.title = title


def too_often(again: float) -> Refused:
    """The refusal of somebody who asks for more than a share.

    >>> too_often(0.2).headers
    {'Retry-After': '1'}
    """
    return Refused(429, "TooOften", TOO_OFTEN, again)


def busy(again: float) -> Refused:
    """The refusal where others are served."""
    return Refused(503, "Busy", BUSY, again)


def status_of(error: errors.UtmostError) -> int:
    """The HTTP status of an error: that of its nearest ancestor in the tree of errors, else 422.

    >>> status_of(errors.NeedsTable("a table is needed")), status_of(errors.NotALevel("epsilon must be positive"))
    (409, 422)
    """
    return next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 422)


def printable(text: str) -> str:
    """A text that an answer can hold: halves of a pair of UTF-16, which JSON can spell, are written out.

    >>> printable("age"), len(printable(chr(0xD800)))
    ('age', 6)
    """
    return text.encode("utf-8", "backslashreplace").decode()


def problem(status: int, title: str, detail: str, **more: Any) -> dict[str, Any]:
    """Problem details.

    Args:
        status: Status of HTTP.
        title: the name of the error, the same for all of its kind.
        detail: Requirement, what came, where, and the remedy.
        more: members beyond those of the RFC.
    """
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}


def problem_of(error: errors.UtmostError) -> dict[str, Any]:
    """The problem details of one of our errors.

    What is wrong with the service itself is said to its operator, in the log, and to nobody else.
    """
    status = status_of(error)
    if status == 500:
        return problem(status, "ServiceBroken", BROKEN)
    return problem(status, type(error).__name__, said_of(error))


def said_of(error: errors.UtmostError) -> str:
    """An error as it is told to people beyond the operator, who may not know what is kept here."""
    if isinstance(error, errors.NotPublished):  # its remedy names all that are there, whoever asks
        error = type(error)(error.required, came=error.came, where=error.where)
    return printable(str(error))


def problem_of_shape(faults: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The problem details of a request of the wrong shape: where, and what is wanted; never what came.

    Of a place only the numbers, and the words of the API description, are said: the rest is what came.
    """
    wanted = {f"{_place(fault['loc'])}: {fault['type'].replace('_', ' ')}" for fault in faults[:_MOST_FAULTS]}
    detail = "The request does not have the shape of the API description."
    return problem(422, "WrongShape", detail, wrong=sorted(wanted)[:_MOST_TOLD])


def _place(parts: Sequence[Any]) -> str:
    return ".".join(str(part) if isinstance(part, int) or part in _words() else "?" for part in parts)


@cache
def _words() -> frozenset[str]:
    """The words in which places are said: the fields and headers of the API, and the names of plain kinds."""
    from utmost.interfaces.service.api import request_models as shapes

    models = (
        kind for kind in vars(shapes).values() if isinstance(kind, type) and issubclass(kind, shapes.RequestModel)
    )
    return _PLACES | frozenset(field for kind in models for field in kind.model_fields)
