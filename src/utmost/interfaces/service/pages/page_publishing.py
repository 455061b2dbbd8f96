"""Publish by a page: a form with the promise, and a preview of margins and budget before anything is drawn."""

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response

from utmost.core.exact.field_forms import json_forms, texts_of
from utmost.core.exact.written_levels import level_text
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.api.requested_levels import read_level
from utmost.interfaces.service.api.routes import Served
from utmost.interfaces.service.pages.page_counted import read_json_file, read_part, read_plan_file
from utmost.interfaces.service.pages.page_measures import MOST_FORM_ROWS, TEXT_FIELDS, request_facts
from utmost.interfaces.service.pages.page_rendering import is_part, render
from utmost.interfaces.service.pages.page_session import FilledForm, Sent, Viewer
from utmost.interfaces.service.proposal_preview import ladder
from utmost.interfaces.service.publish_requests import proposable, read_request
from utmost.interfaces.service.service import Service
from utmost.publish.ledger.names import check_name
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest
from utmost.publish.promises.promise import PROMISE_FORM, Promise

publishing = APIRouter(include_in_schema=False)

PROMISE_TEXTS = tuple(texts_of(Promise))
"""Text fields of a promise in a form."""

_CELLS = ("sensitivity", "cells", "neighbours", "numbers", "grid", "largest")


@publishing.get("/publish")
def publish_page(request: Request, service: Served, viewer: Viewer) -> Response:
    """Show the form for publishing, or for proposing to publish."""
    viewer.check_role("publish")
    shown: dict[str, Any] = {
        "needs_second": service.proposals.required,
        "some_releases": not viewer.may("publish"),
        "datasets": known_datasets(service, viewer),
        "releases": sorted({release.name for release in service.releases.all(viewer)}),
        "rows": range(1, MOST_FORM_ROWS + 1),
        "promise_fields": {name: json_forms(Promise)[name] for name in PROMISE_TEXTS},
        "request_fields": {name: form for name, form in json_forms(PublishRequest).items() if name in TEXT_FIELDS},
    }
    return render(request, "publish.html", viewer, **shown)


def known_datasets(service: Service, viewer: Token) -> list[str]:
    """Return the datasets of the releases that a token may see; a form suggests them."""
    return sorted({release.dataset for release in service.releases.all(viewer)})


@publishing.post("/publish/preview")
def preview_page(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Show margins and budget of a publication at its level and at four levels around it; draw and write nothing."""
    viewer.check_role("publish")
    publication = proposable(read_publication_form(sent))

    def may_know(dataset: str) -> bool:
        return service.releases.may_know(viewer, "publish", dataset, publication.name)

    steps = ladder(service.ledger, publication, may_know, sees_all=viewer.may("publish"))
    previews, at = dict(steps), publication.level
    bars = [(of, [dict(preview_at.bars).get(of) for preview_at in previews.values()]) for of, _ in previews[at].bars]
    shown: dict[str, Any] = {"chosen": at, "look": previews[at], "steps": steps, "bars": bars}
    shown["dataset"] = publication.dataset
    return render(request, "preview.html", viewer, whole=not is_part(request), **shown)


def read_request_form(sent: FilledForm) -> PublishRequest | AnswerRequest:
    if sent.text("verb") == "relax":
        return AnswerRequest(sent.text("release"), read_level(sent.text("epsilon")), sent.number("version"))
    return read_publication_form(sent)


def read_publication_form(sent: FilledForm) -> PublishRequest:
    # An uploaded file replaces the fields of the promise; a plan also gives the level if the form has none.
    about = request_facts(sent, name=check_name(sent.text("name"), "name"), level=sent.text("epsilon"))
    if sent.text("kind") != "plan":
        noise: dict[str, Any] = {name: sent.optional(name) for name in _CELLS}
        noise |= {"kind": "cells", "half_step": sent.ticked("half_step")}
        words: dict[str, Any] = {name: sent.names(name) for name in ("columns", "public", "drop")}
        words |= {name: sent.optional(name) for name in ("rows", "id_column", *PROMISE_TEXTS)}
        return read_request(about | {"promise": words | {"noise": noise}})
    content, part = sent.file("plan"), sent.text("part")
    facts = read_json_file(content, "utmost plan, or a promise")
    if isinstance(facts, dict) and facts.get("kind") == PROMISE_FORM.kind:
        promise = PROMISE_FORM.of(facts, "file")
    else:
        promise, level = read_plan_file(content)
        about["level"] = about["level"] or level_text(level)
    if part:
        promise = replace(promise, part=read_part(part))
    if sent.ticked("proved"):
        promise = replace(promise, proved=True)
    if texts := {name: value for name in PROMISE_TEXTS if (value := sent.optional(name)) is not None}:
        promise = Promise.of_facts(promise.facts() | texts)
    return read_request(about | {"promise": promise.facts()})
