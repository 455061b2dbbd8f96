"""Show the pages of a service: what the API gives to each role."""

import shlex
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice
from time import monotonic
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level
from utmost.core.exact.written_levels import level_text, level_words
from utmost.errors import UtmostError
from utmost.interfaces.documents.statement_readers import stated_release
from utmost.interfaces.figures import inline_svg as charts
from utmost.interfaces.figures.inline_svg import short
from utmost.interfaces.service.access.bearers import SOON
from utmost.interfaces.service.access.tokens import ALLOWED, ROLES, Token
from utmost.interfaces.service.api.request_models import SPELLED
from utmost.interfaces.service.api.request_parsing import check_query
from utmost.interfaces.service.api.requested_levels import read_level
from utmost.interfaces.service.api.response_models import columns, paged, statement_of
from utmost.interfaces.service.api.routes import After, NextPage, Served, Version, trail_lines, version_name
from utmost.interfaces.service.approvals import APPROVED, PROPOSED, Proposal
from utmost.interfaces.service.pages.page_counted import read_rule, shown_sums
from utmost.interfaces.service.pages.page_downloads import NameQuery, downloads, endings
from utmost.interfaces.service.pages.page_measures import MOST_FORM_ROWS
from utmost.interfaces.service.pages.page_publishing import known_datasets
from utmost.interfaces.service.pages.page_rendering import WAITING, render, static_files
from utmost.interfaces.service.pages.page_session import Viewer
from utmost.interfaces.service.pages.page_tools import tools
from utmost.interfaces.service.pages.shown_promise import exact_text, visible
from utmost.interfaces.service.pending_queue import DECISION, TABLE
from utmost.interfaces.service.proposal_preview import UNREADABLE, ProposalPreview, preview, with_others
from utmost.interfaces.service.published_margins import bars_of_release, margin_of_release, tables_without_bars
from utmost.interfaces.service.service import Service
from utmost.interfaces.service.token_releases import View
from utmost.publish.ledger.spending import Budget
from utmost.publish.ledger.state import Published
from utmost.publish.releases.withholding import WithholdingRule
from utmost.publish.statements.stated_words import sums_in_words

pages = APIRouter(include_in_schema=False, dependencies=[Depends(check_query)])
pages.include_router(tools)
pages.include_router(downloads)

# The page of a release shows 500 rows, and 24 bars of each of 4 columns.
_MOST_ROWS, _MOST_BARS, _MOST_CHARTS, _STEPS = 500, 24, 4, 25
_LOOKING = 2.0  # seconds after which no further level is computed
_A_PAGE = 200  # releases or proposals of a page
_NO_DIGEST = {"of": "file", "sha256": "0" * 64}  # not shown; the statement's own file has the true digest of the values


_WAITS_FOR = {DECISION: "A proposal to decide", TABLE: "A table to upload"}


@pages.get("/")
def front() -> Response:
    return RedirectResponse("/releases", 303)


@pages.get("/static/{name}")
def static_file(name: Annotated[str, Path(max_length=200)]) -> Response:
    """Send a style sheet, script or picture; its address changes with its content, so it may be cached for long."""
    if name not in static_files():
        raise HTTPException(404, "There is no such file.")
    content, kind, _ = static_files()[name]
    return Response(content, media_type=kind, headers={"Cache-Control": "public, max-age=31536000, immutable"})


@pages.get("/releases")
def releases_page(request: Request, service: Served, viewer: Viewer, after: NextPage = "") -> Response:
    """Show the releases that the token may see, with levels, margins and budgets, page by page."""
    listed, following = paged(service.releases.all(viewer), after, _A_PAGE, version_name)
    levels = service.releases.levels(viewer, *listed)
    rows = [_summary(published, shown) for published, shown in zip(listed, levels, strict=True)]
    budgets = _budgets(service, viewer, sorted({published.dataset for published in listed}))
    return render(request, "releases.html", viewer, rows=rows, budgets=budgets, following=following, after=after)


@pages.get("/release")
def release_page(
    request: Request,
    service: Served,
    viewer: Viewer,
    name: NameQuery,
    version: Version = None,
    at: NameQuery = "",
    below: NameQuery = "",
    quartiles: NameQuery = "",
) -> Response:
    """Show one release: values at a level, promise, history, and the margins at larger levels."""
    found = service.releases.release(viewer, name, version)
    (levels,) = service.releases.levels(viewer, found)
    # Among several answers the viewer chooses one, because each belongs to its own level.
    chosen = read_level(at) if at else levels[0] if len(levels) == 1 else None
    seen = None
    if viewer.may_ever("view") and chosen in levels:
        assert chosen is not None
        seen = _shown_values(service.releases.view(viewer, name, chosen, found.version), read_rule(below), quartiles)
    events = service.audit.history(viewer, name) if viewer.may("history", name) else ()
    return render(
        request,
        "release.html",
        viewer,
        release=found,
        summary=_summary(found, levels),
        chosen=chosen,
        seen=seen,
        events=events,
        relaxing=_larger_levels(found, levels),
        budgets=_budgets(service, viewer, [found.dataset]),
        needs_second=service.proposals.required,
        lines=_program_lines(request, found, chosen) if seen and chosen else (),
        endings=endings(),
        below=below,
        quartiles=quartiles,
    )


def _program_lines(request: Request, release: Published, at: Level) -> tuple[tuple[str, str], ...]:
    """Return a curl command and a Python program that get these values from this service."""
    address = (request.app.state.address or str(request.base_url)).rstrip("/")
    query = urlencode({"epsilon": level_text(at), "version": release.version}, quote_via=quote)
    path = f"{address}/v1/releases/{quote(release.name, safe='')}/view?{query}"
    token_text = 'os.environ["UTMOST_TOKEN"]'
    epsilon_text = f'"{at.power}"' if at.base is None else f'ut.level(alpha="{at.base}").scaled("{at.power}")'
    return (
        ("curl", f'curl --header "Authorization: Bearer $UTMOST_TOKEN" {shlex.quote(path)}'),
        (
            "Python",
            f"import os, utmost as ut\n\nledger = ut.connect({address!a}, {token_text})\n"
            f"ledger.view({release.name!a}, epsilon={epsilon_text}, version={release.version})",
        ),
    )


@pages.get(WAITING)
def waiting_page(request: Request, service: Served, viewer: Viewer) -> Response:
    """Show the proposals and tables that wait for the viewer, the longest waiting first."""
    waiting = service.waiting.all(viewer)
    shown: dict[str, Any] = {
        "waiting": waiting[:_A_PAGE],
        "not_shown": len(waiting[_A_PAGE:]),
        "waits_for": _WAITS_FOR,
    }
    return render(request, "waiting.html", viewer, **shown)


@pages.get("/proposals")
def proposals_page(request: Request, service: Served, viewer: Viewer, after: NextPage = "") -> Response:
    """Show open proposals (on the first page) and decided proposals, newest first."""
    listed, following = service.proposals.page(viewer, after, _A_PAGE, newest_first=True)
    waiting = [] if after else service.proposals.waiting(viewer, _A_PAGE)
    own = _own_names(service, viewer, [*listed, *waiting])
    ready = [one for one in listed if one.state == APPROVED and (one.anyone or one.name in own)]
    shown: dict[str, Any] = {
        "waiting": waiting,
        "decided": [proposal for proposal in listed if proposal.state != PROPOSED],
        "needs_second": service.proposals.required,
        "visible": visible,
        "own": own,
        "used": {one.name for one in listed if one.state == APPROVED} - service.waiting.among(listed),
        "together": ready[:MOST_FORM_ROWS] if viewer.may_ever("publish") else [],
        "planned": _needing_counted_tables(service, viewer, ready[:MOST_FORM_ROWS]),
        "after": after,
        "following": following,
    }
    return render(request, "proposals.html", viewer, **shown)


@pages.get("/proposal")
def proposal_page(request: Request, service: Served, viewer: Viewer, name: NameQuery) -> Response:
    """Show a proposal: its complete request, its margins and budget, and the forms for deciding."""
    proposal, facts = service.proposals.one(viewer, name)
    promise = service.proposals.shown(proposal, facts) if facts else None
    decides = proposal.state == PROPOSED and viewer.may_ever("decide proposals")
    is_planned, terms = proposal.name in _needing_counted_tables(service, viewer, [proposal]), facts.get("promise")
    is_open = service.waiting.has(proposal.name)
    fixed = "labels of the domain" if is_planned else "list of rows and the public columns"
    if isinstance(terms, Mapping) and terms.get("rows") == "observed":
        fixed = "public columns"
    shown: dict[str, Any] = {
        "one": proposal,
        "promise": promise,
        "fixed": fixed,
        "sees_all": viewer.may("list"),
        "exact": exact_text(facts) if facts else "",
        "size": proposal.size,
        "digest": proposal.digest,
        "answered": service.proposals.answered(proposal),  # the levels answered so far, for a relaxation
        "seen": _preview(service, viewer, proposal, facts) if proposal.state == PROPOSED else None,
        "decides": decides,
        "is_own": bool(_own_names(service, viewer, [proposal])),
        "planned": is_planned,
        "is_open": is_open,
        "is_used": proposal.state == APPROVED and not is_open,
        "individual": isinstance(terms, Mapping) and bool(terms.get("individual")),
        "proved": isinstance(terms, Mapping) and bool(terms.get("proved")),
        "visible": visible,
    }
    return render(request, "proposal.html", viewer, **shown)


def _preview(service: Service, viewer: Token, proposal: Proposal, facts: Mapping[str, Any]) -> ProposalPreview:
    try:
        request = proposal.request(facts)
    except (UtmostError, *UNREADABLE):
        return ProposalPreview(problem="its request cannot be read")

    def may_know(dataset: str) -> bool:
        return service.releases.may_know(viewer, "read proposals", dataset, proposal.release)

    seen = preview(service.ledger, request, may_know, sees_all=viewer.may("read proposals"))
    if seen.before is None:
        return seen
    others = service.proposals.others_waiting(viewer, proposal.name, seen.before.dataset)
    return with_others(service.ledger, seen, proposal, others)


def _own_names(service: Service, viewer: Token, listed: Sequence[Proposal]) -> set[str]:
    """Return the names of those proposals that the viewer made."""
    person = service.context.records.read(lambda store: service.context.person(store, viewer))
    return {item.name for item in listed if item.is_of(person)}


def _needing_counted_tables(service: Service, viewer: Token, proposals: Sequence[Proposal]) -> set[str]:
    """Return the names of proposals whose table must be counted, because their promise or release is by a plan."""
    noise_of = {(one.name, one.version): one.noise for one in service.releases.all(viewer)} if proposals else {}
    measured = set()
    for proposal in proposals:
        if proposal.verb == "publish":
            promise = service.proposals.one(viewer, proposal.name)[1].get("promise")
            promised_noise = promise.get("noise") if isinstance(promise, Mapping) else None
            is_counted = isinstance(promised_noise, Mapping) and promised_noise.get("kind") == "sums"
        else:
            noise = noise_of.get((proposal.release, proposal.version))
            is_counted = noise is not None and noise.is_by_plan
        if is_counted:
            measured.add(proposal.name)
    return measured


@pages.get("/verify")
def verify_page(request: Request, service: Served, viewer: Viewer) -> Response:
    """Show a form to check released tables; for auditors, also forms to check the ledger and its receipts."""
    status = service.audit.status(viewer) if viewer.may("verify") else None
    receipt = service.audit.receipt(viewer) if viewer.may("verify") or viewer.may("history") else None
    separate = service.audit.separate_datasets(viewer) if viewer.may("verify") else []
    return render(request, "verify.html", viewer, ledger=status, receipt=receipt, separate=separate)


@pages.get("/history")
def history_page(
    request: Request, service: Served, viewer: Viewer, before: Annotated[int | None, Query(ge=1), SPELLED] = None
) -> Response:
    if viewer.may("history"):
        events = list(service.audit.history(viewer))
    else:
        viewer.check_role("history")
        names = {one.name for one in service.releases.all(viewer) if viewer.may("history", one.name)}
        # An event about several releases is listed once.
        found = {event.number: event for name in names for event in service.audit.history(viewer, name)}
        events = [found[number] for number in sorted(found)]
    earlier = [event for event in events if before is None or event.number < before][::-1]
    shown = earlier[:_A_PAGE]
    return render(request, "history.html", viewer, events=shown, more=len(earlier) > _A_PAGE)


@pages.get("/budgets")
def budgets_page(request: Request, service: Served, viewer: Viewer) -> Response:
    """Show the spent level of each dataset, and its limit."""
    viewer.check("budgets")
    datasets = [_budget(dataset) for dataset in service.audit.status(viewer).datasets]
    return render(request, "budgets.html", viewer, budgets=datasets, datasets=known_datasets(service, viewer))


@pages.get("/tokens")
def tokens_page(request: Request, service: Served, viewer: Viewer, after: NextPage = "") -> Response:
    """Show all tokens, newest first, page by page, and a form for another token."""
    now = service.context.clock()
    listed, following = paged(service.bearers.all(viewer)[::-1], after, _A_PAGE)
    tokens = [(token, token.is_valid(now)) for token in listed]
    allowed = {role: sorted(ALLOWED[role]) for role in ROLES}
    until = service.bearers.last_admin_until()
    ends = until if until is not None and until - now < SOON else None
    names = sorted({release.name for release in service.releases.all(viewer)})
    shown: dict[str, Any] = {"tokens": tokens, "roles": allowed, "last_admin_ends": ends, "releases": names}
    return render(request, "tokens.html", viewer, **shown, following=following, after=after)


@pages.get("/trail.jsonl")
def trail_file(service: Served, viewer: Viewer) -> Response:
    """Send the complete trail, a JSON object in each line."""
    answer = trail_lines(service, viewer)
    answer.headers["Content-Disposition"] = 'attachment; filename="trail.jsonl"'
    return answer


@pages.get("/trail")
def trail_page(request: Request, service: Served, viewer: Viewer, after: After = "") -> Response:
    """Show the trail: who did what through the service, oldest first."""
    found = service.audit.trail(viewer, after, _A_PAGE)
    known = ("time", "owner", "token", "done", "chain")
    rows = [(one, {name: fact for name, fact in one.items() if name not in known}) for _, one in found]
    following = found[-1][0] if len(found) == _A_PAGE else None
    return render(request, "trail.html", viewer, rows=rows, after=after, following=following)


def _summary(release: Published, levels: tuple[Level, ...]) -> dict[str, Any]:
    """Return a release's levels, each with its margin, and its margin divided by the largest margin."""
    margins = [margin_of_release(release, at) for at in levels]
    longest = max(map(float, margins), default=1.0) or 1.0
    return {
        "release": release,
        "levels": [(at, margin, float(margin) / longest) for at, margin in zip(levels, margins, strict=True)],
    }


def _shown_values(seen: View, rule: WithholdingRule | None, ordered: str) -> dict[str, Any]:
    """Return the values of a view, their chart and the promise; withheld values are None."""
    if seen.release.noise.is_by_plan:
        nothing: dict[str, Any] = {
            "columns": {},
            "margin": seen.margin,
            "rows": [],
            "pictures": [],
            "facts": sums_in_words(seen.table.statement, seen.table),
            "per_unit": None,
            "withheld": 0,
        }
        return nothing | shown_sums(seen.table, seen.level, rule, ordered)
    found = columns(seen.table)
    released = [name for name in found if name in seen.release.columns]
    count = len(found[released[0]]) if released else 0
    others = [found[name] for name in seen.release.public if name in found]
    labels = [" ".join(str(column[k]) for column in others) or f"row {k + 1}" for k in range(count)]
    promised_noise = released[:_MOST_CHARTS] if count and seen.release.noise.has_margin_per_column else []
    if rule is not None:
        found |= {name: [cell if rule.passes(cell, seen.margin) else None for cell in found[name]] for name in released}
    pairs = {name: zip(labels, found[name], strict=True) for name in promised_noise}
    bars = {
        name: list(islice((pair for pair in pairs[name] if pair[1] is not None), _MOST_BARS)) for name in promised_noise
    }
    pictures = [
        (
            name,
            charts.error_bars(
                f"{name} at epsilon {level_words(seen.level)}, each with its margin of {short(seen.margin)} at 95 %",
                bars[name],
                seen.margin,
            ),
        )
        for name in promised_noise
    ]
    named = [name for name in seen.release.public if name in found]
    shown = [*named, *released]
    rows = list(zip(*(found[name] for name in shown), strict=True))[:_MOST_ROWS]
    return {
        "columns": shown,
        "named": len(named),
        "rows": rows,
        "count": count,
        "margin": seen.margin,
        "pictures": pictures,
        "facts": stated_release(statement_of(seen, _NO_DIGEST)),
        "per_unit": seen.release.noise.per_step(seen.level),
        "most_bars": _MOST_BARS,
        "marginals": [],
        "more_marginals": [],
        "axes": [],
        "quartiles": [],
        "withheld": sum(found[name].count(None) for name in released) if rule is not None else 0,
    }


def _larger_levels(release: Published, levels: tuple[Level, ...]) -> dict[str, Any] | None:
    """Return a chart of the margin by level, and margins at larger levels; None if there is nothing to relax."""
    if not levels or not release.noise.is_relaxed:
        return None
    if release.noise.is_by_plan:
        return _larger_levels_of_plan(release, levels)
    low, high = min(levels).epsilon_float / 2, max(levels).epsilon_float * 8
    steps = [round(low * (high / low) ** (k / (_STEPS - 1)), 12) for k in range(_STEPS)]
    # A float as an exact fraction has fifty bits; computing with its powers would take long.
    line = [
        (
            step,
            float(release.noise.margin(Level.of_epsilon(Fraction(step).limit_denominator(10**9)), DEFAULT_CONFIDENCE)),
        )
        for step in steps
    ]
    answered = [(at.epsilon_float, float(release.margin(at, DEFAULT_CONFIDENCE)), level_words(at)) for at in levels]
    points = [(x, y, f"epsilon {words}: within {short(y)}") for x, y, words in answered]
    title = "The margin at each level; the points are the answered levels"
    top = max(levels)
    wider = [(factor, top.scaled(factor)) for factor in (1, 2, 4, 8)]
    return {
        "picture": charts.curves(title, {"margin": line}, ("epsilon", "margin, 95 %"), points=points, log_x=True),
        "rows": [(factor, at, release.margin(at, DEFAULT_CONFIDENCE)) for factor, at in wider],
        "tables": [],
        "further": 0,
    }


def _larger_levels_of_plan(release: Published, levels: tuple[Level, ...]) -> dict[str, Any]:
    """Return the margin of each published table at larger levels; their chart is of the largest margin."""
    # The margins of one level take up to a second, so there are few, and none is begun after two seconds.
    until, top = monotonic() + _LOOKING, max(levels)
    tables = {factor: bars_of_release(release, top.scaled(factor)) for factor in (1,)}
    for factor in (2, 4, 8):
        if monotonic() < until:
            tables[factor] = bars_of_release(release, top.scaled(factor))
    rows = [(factor, top.scaled(factor), max(margin for _, margin in bars)) for factor, bars in tables.items()]
    line = [(at.epsilon_float, float(margin)) for _, at, margin in rows]
    title = "The largest margin of the published tables at each level"
    names = [name for name, _ in tables[1]]
    return {
        "picture": charts.curves(title, {"margin": line}, ("epsilon", "margin, 95 %"), log_x=True),
        "rows": rows,
        "tables": [(name, [dict(bars)[name] for bars in tables.values()]) for name in names],
        "further": tables_without_bars(release),
    }


def _budgets(service: Service, viewer: Token, datasets: list[str]) -> list[dict[str, Any]]:
    if not (viewer.may("budgets") or viewer.may("history")):
        return []
    return [_budget(service.audit.budget(viewer, dataset)) for dataset in datasets]


def _budget(found: Budget) -> dict[str, Any]:
    share = None if found.limit is None else float(found.spent) / found.limit.epsilon_float
    title = f"{short(found.spent)} spent" + ("" if found.limit is None else f" of {level_words(found.limit)}")
    bar = None if share is None else charts.meter(title, share)
    return {"dataset": found.dataset, "limit": found.limit, "spent": found.spent, "left": found.remaining, "bar": bar}
