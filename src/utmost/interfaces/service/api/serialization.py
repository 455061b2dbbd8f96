"""Write the requests of a service's client, and read the service's answers."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from utmost import errors
from utmost.core.exact.arguments import text
from utmost.errors import PrivacyWarning, ServiceError, TooOften, UtmostError, warn
from utmost.interfaces.service.api.response_models import columns
from utmost.publish.counting.counted import CountedTable
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.tables.frames.any_table import adapter_of

_LONGEST_NUMBER = 10  # digits


def facts_in(answer: Any) -> dict[str, Any]:
    """Return the JSON object in an HTTP answer; raise the error that the object describes, if it describes one."""
    try:
        facts: Any = answer.json()
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        raise ServiceError("the service must answer with a JSON object", came=f"status {answer.status_code}")
    if answer.status_code < 400:
        return facts
    named = getattr(errors, str(facts.get("title")), None)
    kind = named if isinstance(named, type) and issubclass(named, UtmostError) else ServiceError
    detail, places = str(facts.get("detail", "")).rstrip("."), facts.get("wrong")
    wrong = f" ({'; '.join(map(str, places))})" if places and isinstance(places, list) else ""
    error = kind(f"{detail}{wrong}", where="service")
    again = seconds_to_wait(answer)
    raise error.after(again) if again and isinstance(error, TooOften) else error


def seconds_to_wait(answer: Any) -> int:
    """Return the seconds of the header Retry-After; 0 without one, or for a date, which only proxies send."""
    again = answer.headers.get("Retry-After", "")
    return int(again) if again.isascii() and again.isdigit() and len(again) < _LONGEST_NUMBER else 0


def table_as_json(table: Any) -> dict[str, Any]:
    """Return a table as JSON: columns, or the document of a counted table."""
    if isinstance(table, CountedTable):
        from utmost.publish.statements.counted_files import COUNTED_FORM

        return {"counted": COUNTED_FORM.document(table)}
    return {"table": columns(table)}


def table_in(answer: Mapping[str, Any], sent: Any) -> Any:
    """Return the table of an answer, in the type of the sent table or as a dict of columns; `NoisySums` for a plan."""
    if "release" in answer:
        return NoisySums.of_facts(answer["release"])
    cells: dict[str, Any] = answer["columns"]
    if sent is None or isinstance(sent, CountedTable):
        return cells
    adapter = adapter_of(sent)
    dropped = [name for name in adapter.names(sent) if str(name) not in cells]
    table = adapter.without(sent, dropped)
    names, order = adapter.names(table), list(cells)
    # Each margin column that the service added stands after its column.
    after = {name: order[order.index(name) - 1] for name in order[1:] if name not in names}
    return adapter.with_columns(table, cells, after)


def warn_as_answered(answer: Mapping[str, Any]) -> None:
    """Issue the warnings of an answer; a warning of a class that this version lacks becomes a `PrivacyWarning`."""
    for one in answer.get("warnings", ()):
        named: Any = getattr(errors, str(one["kind"]), None)
        is_known = isinstance(named, type) and issubclass(named, PrivacyWarning)
        warn(str(one["text"]), named if is_known else PrivacyWarning)


def path_part(name: object) -> str:
    return quote(text(name, "name").encode("utf-8", "surrogatepass"), safe="")
