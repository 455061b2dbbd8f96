"""Pages that publish several releases in one transaction, from plans and counted tables or for approved proposals."""

from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response

from utmost.core.exact.field_forms import json_forms
from utmost.core.exact.written_levels import level_text
from utmost.errors import AlreadyPublished, OutOfRange
from utmost.interfaces.service.api.requested_levels import read_level
from utmost.interfaces.service.api.routes import Served
from utmost.interfaces.service.pages.page_counted import read_counted_file, read_plan_file
from utmost.interfaces.service.pages.page_rendering import published
from utmost.interfaces.service.pages.page_session import FilledForm, Sent, Viewer
from utmost.interfaces.service.pages.page_tables import read_csv_file
from utmost.interfaces.service.publish_requests import read_request
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.means_tables import means_requests
from utmost.publish.ledger.names import check_name
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest
from utmost.publish.ledger.state import Published
from utmost.publish.promises.promise import Promise

T = TypeVar("T")

measures = APIRouter(include_in_schema=False)

MOST_FORM_ROWS = 4
"""Number of rows of a form, each for one release; the API accepts more releases."""

TEXT_FIELDS = tuple(json_forms(PublishRequest).keys() - {"promise", "level", "independent", "request"})
"""Fields of a request to publish that are texts in a form. The level has its own field, and the key of the form
replaces the request's name."""


def request_facts(sent: FilledForm, *, name: str, level: str) -> dict[str, Any]:
    """Read from a form all fields of a publish request except the promise."""
    texts = {field: sent.optional(field) for field in TEXT_FIELDS}
    return texts | {"name": name, "level": level, "independent": sent.ticked("independent")}


@measures.post("/publish/measures")
def publish_measures(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Publish the counted tables of all rows of a form together, each by its plan if the row has one."""
    viewer.check_role("publish")
    requests, tables = list[PublishRequest](), dict[str, Any]()
    for row in range(1, MOST_FORM_ROWS + 1):
        if name := sent.text(f"release-{row}"):
            counted, level = read_counted_file(sent.file(f"table-{row}")), sent.text(f"epsilon-{row}")
            if f"plan-{row}" in sent.files:
                by_plan, level_of_plan = read_plan_file(sent.file(f"plan-{row}"))
                promise, level = by_plan.of_table(counted), level or level_text(level_of_plan)
            else:
                promise = Promise.of_counted(counted)
            fields = request_facts(sent, name=name, level=level)
            requests.append(read_request({**fields, "promise": promise.facts()}))
            _add(tables, name, counted)
    some = _some(requests, "release-1")
    views = service.releases.publish_measures(viewer, sent.text("key"), some, tables, {})
    return published(request, viewer, views, "/releases", done="published")


@measures.post("/publish/means")
def publish_means(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Publish the means of several counted tables as one table at one level, if no approval is needed."""
    viewer.check_role("publish")
    name, tables = check_name(sent.text("name"), "name"), dict[str, CountedTable]()
    if any(release.name == name for release in service.releases.all(viewer)):
        remedy = "Give the table of means another name, in the same dataset."
        raise AlreadyPublished(
            "the name of a table of means must differ from the names of releases",
            came="the name of a release",
            where="name",
            remedy=remedy,
        )
    for file in _some(
        [file for file in map("table-{}".format, range(1, MOST_FORM_ROWS + 1)) if file in sent.files], "table"
    ):
        counted = read_counted_file(sent.file(file))
        if (amount := counted.unit.amount) is None or not counted.unit.is_shared:
            remedy = (
                "Choose the files that utmost count --mean wrote; choose the files of other measures in the form below."
            )
            raise OutOfRange(
                "each counted table must be the table of a mean",
                came="another counted table",
                where="table",
                remedy=remedy,
            )
        _add(tables, amount.name, counted)
    of_means = means_requests(name, tables, read_level(sent.text("epsilon")), dataset=sent.optional("dataset"))
    requests = list[PublishRequest]()
    for one in of_means:
        facts = request_facts(sent, name=one.name, level=level_text(one.level))
        requests.append(read_request({**facts, "dataset": one.dataset, "promise": one.promise.facts()}))
    of_releases = {one.name: table for one, table in zip(requests, tables.values(), strict=True)}
    views = service.releases.publish_measures(viewer, sent.text("key"), requests, of_releases, {})
    return published(request, viewer, views, "/releases", done="published")


@measures.post("/relax/measures")
def relax_measures(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Relax the releases of all rows of a form together, with their tables, if no approval is needed."""
    viewer.check_role("relax")
    requests, tables = list[AnswerRequest](), dict[str, Any]()
    for row in range(1, MOST_FORM_ROWS + 1):
        if name := sent.text(f"release-{row}"):
            release = service.releases.release(viewer, name)
            requests.append(AnswerRequest(name, read_level(sent.text(f"epsilon-{row}")), release.version))
            _add(tables, name, _table_for(release, sent.file(f"table-{row}")))
    views = service.releases.relax_measures(viewer, sent.text("key"), _some(requests, "release-1"), tables, {})
    return published(request, viewer, views, "/releases", done="relaxed")


@measures.post("/proposals/tables")
def upload_tables(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Publish, or relax, with the tables of several approved proposals, all or none."""
    publications, relaxations = list[PublishRequest](), list[AnswerRequest]()
    tables, proposals = dict[str, Any](), dict[str, str | None]()
    for name, content in sent.files.items():
        proposal, facts = service.proposals.one(viewer, name.removeprefix("table-"))
        approved = proposal.request(facts)
        if isinstance(approved, PublishRequest):
            publications.append(approved)
            table = _table_for(approved.promise, content)
        else:
            relaxations.append(approved)
            table = _table_for(service.releases.release(viewer, approved.name, approved.version), content)
        _add(tables, approved.name, table)
        proposals[approved.name] = proposal.name
    if publications and relaxations:
        raise OutOfRange(
            "either all proposals must publish, or all proposals must relax",
            came="both kinds",
            where="proposal",
            remedy="Send the two kinds of proposals in two forms.",
        )
    viewer.check_role("relax" if relaxations else "publish")
    key = sent.text("key")
    if relaxations:
        views = service.releases.relax_measures(viewer, key, relaxations, tables, proposals)
    else:
        views = service.releases.publish_measures(viewer, key, _some(publications, "proposal"), tables, proposals)
    return published(request, viewer, views, "/releases", done="relaxed" if relaxations else "published")


def _table_for(promised: Promise | Published, content: bytes) -> CountedTable | dict[str, list[object]]:
    """Read an uploaded file as a counted table, or as columns of a CSV file, as a promise or release requires."""
    return read_counted_file(content) if promised.noise.is_by_plan else read_csv_file(content, promised.columns)


def _add(tables: dict[str, Any], name: str, table: Any) -> None:
    if name in tables:
        raise OutOfRange(
            "each release must be chosen once",
            came="one release twice",
            where="release",
            remedy="Leave out one of the two files.",
        )
    tables[name] = table


def _some(requests: list[T], where: str) -> list[T]:
    if not requests:
        raise OutOfRange(
            "at least one file must be chosen", came="none", where=where, remedy="Choose the table of a proposal."
        )
    return requests
