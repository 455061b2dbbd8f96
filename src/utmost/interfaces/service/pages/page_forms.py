"""Handle the forms of pages: each form performs an action of the API, once for the key in the form."""

from base64 import b64encode
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from utmost.interfaces.service.access.tokens import Grant, Token
from utmost.interfaces.service.api.request_parsing import check_query
from utmost.interfaces.service.api.requested_levels import read_level
from utmost.interfaces.service.api.routes import Served
from utmost.interfaces.service.pages.page_counted import read_counted_file
from utmost.interfaces.service.pages.page_measures import measures
from utmost.interfaces.service.pages.page_publishing import publishing, read_publication_form, read_request_form
from utmost.interfaces.service.pages.page_rendering import published, redirect, render
from utmost.interfaces.service.pages.page_session import FilledForm, Sent, Viewer
from utmost.interfaces.service.pages.page_sign_in import sign_in
from utmost.interfaces.service.pages.page_tables import read_csv_file
from utmost.interfaces.service.service import Service
from utmost.interfaces.service.workers.processes import WORKERS
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest

forms = APIRouter(include_in_schema=False, dependencies=[Depends(check_query)])
forms.include_router(sign_in)
forms.include_router(publishing)
forms.include_router(measures)

_LONGEST, _GRANTS = 4000, 3
_OPTIONAL_FILES = ("statement", "release")


def _key(sent: FilledForm) -> str:
    """Return the idempotency key of a form, so that a form that is sent twice takes effect once."""
    return sent.text("key")


@forms.post("/proposals")
def propose(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    service.proposals.propose(viewer, _key(sent), read_request_form(sent), reason=sent.text("reason"))
    return redirect(request, "/proposals", done="proposed")


@forms.post("/proposals/decision")
def decide(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    service.proposals.decide(viewer, sent.text("proposal"), sent.text("state"), sent.text("reason"))
    return redirect(request, "/proposals", done=sent.text("state"))


@forms.post("/proposals/withdrawal")
def withdraw(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    service.proposals.withdraw(viewer, sent.text("proposal"))
    return redirect(request, "/proposals", done="withdrawn")


@forms.post("/proposals/table")
def upload_table(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Publish or relax with the table of an approved proposal."""
    proposal, facts = service.proposals.one(viewer, sent.text("proposal"))
    approved_request = proposal.request(facts)
    if isinstance(approved_request, PublishRequest):
        return _publish(request, service, viewer, sent, approved_request, proposal.name)
    return _relax(request, service, viewer, sent, approved_request, proposal.name)


@forms.post("/publish")
def publish(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Publish a table without a proposal, if no second person's approval is needed."""
    return _publish(request, service, viewer, sent, read_publication_form(sent), None)


def _publish(
    request: Request,
    service: Service,
    viewer: Token,
    sent: FilledForm,
    publication: PublishRequest,
    proposal: str | None,
) -> Response:
    viewer.check_role("publish")
    content, promise, name = sent.file("table"), publication.promise, publication.name
    table = read_counted_file(content) if promise.lasting_noise.is_by_plan else read_csv_file(content, promise.columns)
    if proposal is None and isinstance(table, CountedTable):
        # Without an approval, the promise takes its part and its individual from the counted table.
        publication = replace(publication, promise=promise.of_table(table))
    views = service.releases.publish_measures(viewer, _key(sent), [publication], {name: table}, {name: proposal})
    version = views[name].release.version
    return published(request, viewer, views, "/release", name=name, version=version, done="published")


@forms.post("/relax")
def relax(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Relax a release without a proposal, if no second person's approval is needed."""
    relaxation = AnswerRequest(sent.text("release"), read_level(sent.text("epsilon")), sent.number("version"))
    return _relax(request, service, viewer, sent, relaxation, None)


def _relax(
    request: Request, service: Service, viewer: Token, sent: FilledForm, relaxation: AnswerRequest, proposal: str | None
) -> Response:
    name, found = relaxation.name, service.releases.release(viewer, relaxation.name, relaxation.version)
    viewer.check_role("relax")
    content, is_planned = sent.file("table"), found.noise.is_by_plan
    table = read_counted_file(content) if is_planned else read_csv_file(content, found.columns)
    views = service.releases.relax_measures(viewer, _key(sent), [relaxation], {name: table}, {name: proposal})
    return published(request, viewer, views, "/release", name=name, version=relaxation.version, done="relaxed")


@forms.post("/view")
def view(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Make a noisier copy of a release, at a smaller epsilon; this spends nothing."""
    name, at, version = sent.text("release"), read_level(sent.text("epsilon")), sent.number("version")
    service.releases.view(viewer, name, at, version)
    return redirect(request, "/release", name=name, version=version, at=sent.text("epsilon"))


@forms.post("/tokens")
def make_token(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Make a token, and show its secret once."""
    options: dict[str, Any] = {"days": sent.optional("days") or 90, "subject": sent.optional("subject")}
    # The text field has a release in each line, such as "admissions <= 1/4". If it is empty, the rows below it count.
    lines = [line.partition("<=") for line in sent.text("grants").splitlines() if line.strip()]
    rows = [(sent.text(f"release-{row}"), sent.text(f"up_to-{row}")) for row in range(1, _GRANTS + 1)]
    pairs = [(name.strip(), most.strip()) for name, _, most in lines] or [row for row in rows if row[0]]
    grants = tuple(Grant(name, read_level(most) if most else None) for name, most in pairs)
    missing_releases = service.releases.missing_releases(
        viewer, grants
    )  # first, so that nothing can fail after the secret is made
    made, presented = service.bearers.make(viewer, _key(sent), sent.text("owner"), sent.text("role"), grants, **options)
    return render(request, "token_made.html", viewer, made=made, presented=presented, missing_releases=missing_releases)


@forms.post("/tokens/revocation")
def revoke(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    service.bearers.revoke(viewer, sent.text("token"))
    return redirect(request, "/tokens", done="revoked")


@forms.post("/budgets")
def limit(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    dataset = sent.text("dataset")
    service.audit.limit(viewer, dataset, read_level(sent.text("epsilon")))
    return redirect(request, "/budgets", done="waits" if service.audit.is_unused(viewer, dataset) else "limited")


@forms.post("/verify/ledger")
def verify_ledger(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    found = service.audit.verify(viewer)
    shown: dict[str, Any] = {
        "found": found,
        "lines": service.audit.check_trail(viewer),
        "receipt": service.audit.receipt(viewer),
    }
    return render(request, "verified.html", viewer, **shown)


@forms.post("/verify/receipt")
def check_receipt(request: Request, service: Served, viewer: Viewer, sent: Sent) -> Response:
    """Check that the ledger still has all events of a receipt."""
    service.audit.check_receipt(viewer, sent.text("receipt")[:_LONGEST])
    return redirect(request, "/verify", done="holds")


@forms.post("/verify/table")
def verify_table(request: Request, viewer: Viewer, sent: Sent) -> Response:
    """Verify uploaded files in a process without the ledger's key; the files are not stored."""
    uploads = {"table": sent.file("table")} | {name: sent.files[name] for name in _OPTIONAL_FILES if name in sent.files}
    fields = {name: b64encode(content).decode() for name, content in uploads.items()}
    result = WORKERS.ask(f"{viewer.name} {viewer.owner}", "verify", fields, is_kept=False)
    return render(request, "statement_holds.html", viewer, **result)
