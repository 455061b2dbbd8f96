"""Publishing by page: what a form promises, and what that would give, shown before anything is drawn."""

from typing import Any

from fastapi import APIRouter, Request, Response

from utmost.core.exact.levels import Level
from utmost.errors import OutOfRange
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.api.requested_levels import read_level
from utmost.interfaces.service.api.routes import Served
from utmost.interfaces.service.approvals import Proposal
from utmost.interfaces.service.outlook import ladder
from utmost.interfaces.service.pages.page_counted import document, of_part, plan_terms, planned
from utmost.interfaces.service.pages.page_measures import MOST_ROWS
from utmost.interfaces.service.pages.page_rendering import is_part, render
from utmost.interfaces.service.pages.page_session import Filled, Sent, Viewer
from utmost.interfaces.service.service import Service
from utmost.interfaces.service.terms import Terms
from utmost.publish.ledger.events import check_name
from utmost.publish.promises.promise_files import PROMISE_FORM

publishing = APIRouter(include_in_schema=False)

_TERMS = ("sensitivity", "cells", "neighbours", "grid", "largest", "id_column", "dataset")


@publishing.get("/publish")
def publish_page(request: Request, service: Served, viewer: Viewer) -> Response:
    """A form for a publication, or for proposing one."""
    viewer.check_role("publish")
    shown: dict[str, Any] = {
        "needs_second": service.proposals.required,
        "some_releases": not viewer.may("publish"),
        "datasets": known_datasets(service, viewer),
        "releases": sorted({release.name for release in service.releases.all(viewer)}),
        "rows": range(1, MOST_ROWS + 1),
    }
    return render(request, "publish.html", viewer, **shown)


def known_datasets(service: Service, viewer: Token) -> list[str]:
    """The datasets of the releases that a token is for, to choose from."""
    return sorted({release.dataset for release in service.releases.all(viewer)})


@publishing.post("/publish/outlook")
def outlook_page(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """What a publication would give at its level and around it, and would spend; nothing is drawn or written."""
    viewer.check_role("publish")
    (terms, at), name = promised(sent), check_name(sent.text("release"), "release")
    if terms is None:
        raise OutOfRange("a publication must say what is promised", came="nothing", where="verb")
    version = sent.number("version") or 1
    proposal = Proposal("", "publish", name, version, at, "", 0, "", viewer.owner, 0)

    def may_know(dataset: str) -> bool:
        return service.releases.may_know(viewer, "publish", dataset, name)

    steps = ladder(service.ledger, proposal, terms, may_know, sees_all=viewer.may("publish"))
    looks = dict(steps)
    bars = [(of, [dict(look.bars).get(of) for look in looks.values()]) for of, _ in looks[at].bars]
    shown: dict[str, Any] = {"chosen": at, "look": looks[at], "steps": steps, "bars": bars}
    shown["dataset"] = terms.dataset or name
    return render(request, "outlook.html", viewer, whole=not is_part(request), **shown)


def promised(sent: Filled) -> tuple[Terms | None, Level]:
    """What a form promises, and at which level; of a relaxation the level alone.

    A form with a file takes the promise from there: from a plan the level, too, where none is filled in.
    """
    if sent.text("verb") == "relax":
        return None, read_level(sent.text("epsilon"))
    if sent.text("kind") != "plan":
        return _terms(sent), read_level(sent.text("epsilon"))
    content = sent.file("plan")
    facts = document(content, "utmost plan, or a promise")
    dataset, independent, part = sent.optional("dataset"), sent.ticked("independent"), sent.text("part")
    if not isinstance(facts, dict) or facts.get("kind") != PROMISE_FORM.kind:
        chosen = planned(content)
        at = read_level(sent.text("epsilon")) if sent.text("epsilon") else chosen.level
        assert at is not None, "a plan says its level"
        return plan_terms(chosen, dataset, independent, part), at
    promise = PROMISE_FORM.of(facts, "file")
    terms = promise.facts() | {"dataset": dataset, "independent": independent}
    return Terms.read(terms | ({"part": of_part(part)} if part else {})), read_level(sent.text("epsilon"))


def _terms(sent: Filled) -> Terms:
    """The terms that a form states."""
    words: dict[str, Any] = {name: sent.optional(name) for name in _TERMS}
    lists = {name: sent.names(name) for name in ("columns", "public", "drop")}
    choices = {name: sent.optional(name) for name in ("rows", "numbers")}
    ticked = {name: sent.ticked(name) for name in ("half_step", "independent")}
    return Terms.read(words | lists | choices | ticked)
