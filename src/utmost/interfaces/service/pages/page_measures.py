"""Several measures by page, in one transaction: by files of plans and counted tables, or of approved proposals."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response

from utmost.errors import OutOfRange
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.api.requested_levels import read_level
from utmost.interfaces.service.api.routes import Served
from utmost.interfaces.service.approvals import Proposal
from utmost.interfaces.service.pages.page_counted import brought_counted, plan_terms, planned
from utmost.interfaces.service.pages.page_rendering import see
from utmost.interfaces.service.pages.page_session import Sent, Viewer
from utmost.interfaces.service.pages.page_tables import brought_table
from utmost.interfaces.service.service import Service
from utmost.interfaces.service.terms import Brought, Terms
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.state import Published
from utmost.publish.promises.promise import Promise

measures = APIRouter(include_in_schema=False)

MOST_ROWS = 4
"""How many measures one form has; the API takes more."""


@measures.post("/publish/measures")
def publish_measures(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Publish several measures at once, where no second person is asked for: a plan and a counted table in each row."""
    viewer.check_role("publish")
    brought: dict[str, Brought] = {}
    for row in range(1, MOST_ROWS + 1):
        name = sent.text(f"release-{row}")
        if not name:
            continue
        chosen, counted = planned(sent.file(f"plan-{row}")), brought_counted(sent.file(f"table-{row}"))
        at = read_level(sent.text(f"epsilon-{row}")) if sent.text(f"epsilon-{row}") else chosen.level
        assert at is not None, "a plan says its level"
        terms = plan_terms(chosen, sent.optional("dataset"), sent.ticked("independent"))
        _add(brought, name, replace(terms, promise=terms.promise.of_part(counted.part)).brought(counted, at))
    service.releases.publish_measures(viewer, sent.text("key"), _some(brought, "release-1"))
    return see(request, "/releases", done="published")


@measures.post("/relax/measures")
def relax_measures(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Relax several releases at once, where no second person is asked for: a level and the same table in each row."""
    viewer.check_role("relax")
    brought: dict[str, Brought] = {}
    for row in range(1, MOST_ROWS + 1):
        if name := sent.text(f"release-{row}"):
            release = service.releases.release(viewer, name)
            table = _table_for(release, sent.file(f"table-{row}"))
            _add(brought, name, Brought(table, read_level(sent.text(f"epsilon-{row}")), version=release.version))
    service.releases.relax_measures(viewer, sent.text("key"), _some(brought, "release-1"))
    return see(request, "/releases", done="relaxed")


@measures.post("/proposals/tables")
def bring_tables(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Bring the tables of several approved proposals, of one kind: all are said together, or none is."""
    brought: dict[str, Brought] = {}
    verbs = set()
    for name, content in sent.files.items():
        proposal, facts = service.proposals.one(viewer, name.removeprefix("table-"))
        verbs.add(proposal.verb)
        _add(brought, proposal.release, _of_proposal(service, viewer, proposal, facts, content))
    if len(verbs) > 1:
        raise OutOfRange("tables are published together, or relaxed together", came="both", where="proposal")
    viewer.check_role(*verbs or {"publish"})
    done = service.releases.relax_measures if verbs == {"relax"} else service.releases.publish_measures
    done(viewer, sent.text("key"), _some(brought, "proposal"))
    return see(request, "/releases", done="relaxed" if verbs == {"relax"} else "published")


def _of_proposal(
    service: Service, viewer: Token, proposal: Proposal, facts: Mapping[str, Any], content: bytes
) -> Brought:
    terms = Terms.read(facts) if proposal.verb == "publish" else None
    promised = terms.promise if terms else service.releases.release(viewer, proposal.release, proposal.version)
    allowed: dict[str, Any] = {"version": proposal.version, "proposal": proposal.name}
    return (terms.brought if terms else Brought)(_table_for(promised, content), proposal.level, **allowed)


def _table_for(promised: Promise | Published, content: bytes) -> CountedTable | dict[str, list[object]]:
    """The table of a promise, or of a release: a counted one, or the columns of a CSV file."""
    return brought_counted(content) if promised.noise.needs_counted else brought_table(content, promised.columns)


def _add(brought: dict[str, Brought], name: str, table: Brought) -> None:
    if name in brought:
        raise OutOfRange("measures must have names that differ", came="two alike", where="release")
    brought[name] = table


def _some(brought: dict[str, Brought], where: str) -> dict[str, Brought]:
    if not brought:
        raise OutOfRange("a measure must be brought", came="none", where=where)
    return brought
