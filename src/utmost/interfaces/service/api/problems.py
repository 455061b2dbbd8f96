"""Turn errors into problem details (RFC 9457): a status, a name, and a sentence without confidential values."""

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

from starlette.exceptions import HTTPException

from utmost import errors
from utmost.publish.ledger.budgets import RAISING

_STATUS: Mapping[type[errors.UtmostError], int] = {
    errors.NotAuthenticated: 401,
    errors.NotAllowed: 403,
    errors.TooOften: 429,
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
BUSY = "The service is busy with other requests."
MEDIA_TYPE = "application/problem+json"
LINES_TYPE = "application/x-ndjson"
BROKEN = "The service cannot answer. Its operator finds the reason in the log."
_MOST_FAULTS, _MOST_LISTED = 1000, 20  # an answer 422 lists the first 20 wrong fields
_PLACES_AND_TYPES = frozenset({"body", "query", "path", "header", "str", "int", "float", "list"})
_PATH_WORDS = _PLACES_AND_TYPES | {
    "Idempotency-Key", "epsilon", "version", "confidence", "dataset", "after", "most", "name",
}  # fmt: skip


class Refused(HTTPException):
    """Refuses a request that the caller may send again after some seconds."""

    def __init__(self, status: int, title: str, detail: str, again: float) -> None:
        super().__init__(status, detail, {"Retry-After": str(math.ceil(again))})
        self.title = title


def too_often(again: float) -> Refused:
    """Return the refusal (429) of a caller who sent too many requests."""
    return Refused(429, "TooOften", TOO_OFTEN, again)


def busy(again: float) -> Refused:
    """Return the refusal (503) of a request while the service answers others."""
    return Refused(503, "Busy", BUSY, again)


def status_of(error: errors.UtmostError) -> int:
    """Return the HTTP status of an error: the entry of its nearest base class in `_STATUS`, or 422 without one."""
    return next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 422)


def printable(text: str) -> str:
    """Return a text that JSON can contain: lone surrogates of UTF-16 are written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def problem(status: int, title: str, detail: str, **more: Any) -> dict[str, Any]:
    """Return problem details; `more` are members beyond those of the RFC."""
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}


def problem_of(error: errors.UtmostError) -> dict[str, Any]:
    """Return the problem details of an error; with status 500, only the operator's log has the cause."""
    status = status_of(error)
    if status == 500:
        return problem(status, "ServiceBroken", BROKEN)
    return problem(status, type(error).__name__, public_words(error))


def public_words(error: errors.UtmostError) -> str:
    """Return the words of an error for people other than the operator."""
    if isinstance(error, errors.NotPublished):  # its remedy lists all releases, also those hidden from the caller
        error = type(error)(error.required, came=error.came, where=error.where)
    where = error.where if isinstance(error, errors.LedgerUnavailable | errors.Quarantined) else None
    if where is not None and where != "receipt" and where[0] not in "'\"":  # quotes are around a release
        # Clients see neither the place of the store nor what its operator can do.
        remedy = "Tell the operator of the service, who finds the cause by: utmost ledger status."
        error = type(error)(error.required, remedy=remedy)
    return printable(str(error).replace(RAISING, "ask an administrator of the service"))


def problem_of_shape(faults: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return problem details of a request that failed validation: each wrong field, and what is required there."""
    # The path of a wrong field shows only indices, words of the API description, and short names of query parameters.
    # Other parts of the path came from the caller and may be confidential: they are shown as "?".
    wrong, known = set[str](), _known_path_words()
    for fault in faults[:_MOST_FAULTS]:
        kind, place = fault["type"], list[str]()
        for part in fault["loc"]:
            is_name = place == ["query"] and len(part) <= _LONGEST_NAME and part.isidentifier()
            place.append(str(part) if isinstance(part, int) or part in known or is_name else "?")
        words = _FAULTS.get(kind, kind.replace("_", " "))
        if kind in _LIMITS:  # a limit of the API description; it repeats nothing of the request
            words = _LIMITS[kind].format(**fault.get("ctx", {}))
        elif kind == "missing" and fault["loc"][-1] == "Idempotency-Key":
            words = "missing; send a new text with each request, and the same text if you repeat it"
        if kind == "extra_forbidden":
            own, name = fault.get("ctx", {}), fault["loc"][-1]
            unknown = own.get("name", str(name))
            near = get_close_matches(unknown, own.get("known", known - _PLACES_AND_TYPES - {unknown}), 1)
            words += f"; did you mean {near[0]}?" if near else ""
        wrong.add(f"{'.'.join(place)}: {words}")
    detail = "The request does not have the shape of the API description."
    return problem(422, "WrongShape", detail, wrong=sorted(wrong)[:_MOST_LISTED])


_LONGEST_NAME = 40
_FAULTS = {
    "json_invalid": "no strict JSON: a name that comes twice, NaN, a number of thousands of digits, or other text",
    "model_attributes_type": "no JSON object: send one, with Content-Type: application/json",
}


_LIMITS = {
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "string_too_long": "must have a length of at most {max_length}",
    "string_too_short": "must have a length of at least {min_length}",
    "too_long": "must have a length of at most {max_length}",
    "too_short": "must have a length of at least {min_length}",
    "string_pattern_mismatch": "must match {pattern}",
}


@cache
def _known_path_words() -> frozenset[str]:
    """Return the words that a field's path may show: fields and headers of the API, and names of simple types."""
    from utmost.interfaces.service.api import request_models as shapes

    models = (
        kind for kind in vars(shapes).values() if isinstance(kind, type) and issubclass(kind, shapes.RequestModel)
    )
    return _PATH_WORDS | frozenset(field for kind in models for field in kind.model_fields)
