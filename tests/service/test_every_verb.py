"""The client has a verb for every request that the service knows, and threads of asyncio share one client."""

import asyncio
import contextlib
import re

import httpx

from service.conftest import TABLE, publish
from utmost.counting import CountedTable
from utmost.errors import UtmostError
from utmost.exact import level
from utmost.ledger import AnswerRequest, shared_requests
from utmost.privacy import Unit
from utmost.promises import Promise
from utmost.service import Grant, Settings, application, connect, served
from utmost.workloads import Domain, Workload, choose_plan, share_level

ONE_STORE = True

PROMISE = Promise("admitted", public="department", unit=Unit(1, 1))


def one_call_of_each_verb():
    """The arguments of each verb."""
    domain, at = Domain(sex=["men", "women"]), {"epsilon": 1}
    tables = {name: CountedTable(domain, [1, 2], Unit(1, 1)) for name in ("a", "b")}
    shared = share_level(
        {name: choose_plan(Workload(domain, {"sex": 1}), Unit(1, 1), epsilon=1) for name in tables}, epsilon=1
    )
    name, known = ("n",), (("n", "approved"), {})
    return {
        "me": ((), {}), "release": (name, {}), "levels": (name, {}), "spent": (name, {}), "view": (name, at),
        "margin": (name, at),
        "charge": (("d",), at | {"what": "OpenDP"}), "propose": ((AnswerRequest("n", level(1)),), {}),
        "proposals": ((), {}),
        "proposal": (name, {}), "withdraw": (name, {}), "waiting": ((), {}),
        "decide": known, "publish": (("n", TABLE, PROMISE), at), "relax": (("n", TABLE), at),
        "publish_measures": ((shared_requests(tables, shared, dataset="d"), tables), {}),
        "relax_shared": ((tables, shared), at),
        "relax_measures": (([AnswerRequest(table, level(1)) for table in tables], tables), {}),
        "rehearse": (name, at), "budgets": ((), {}), "history": ((), {}), "status": ((), {}), "verify": ((), {}),
        "receipt": ((), {}), "check": (("utmost-receipt:x",), {}), "trail": ((), {}),
        "export_trail": (("never.jsonl",), {}), "tokens": ((), {}), "make_token": (("Bo", "recipient"), {}),
        "revoke": (name, {}), "close": ((), {}),
    }  # fmt: skip


def test_every_request_of_the_service_has_a_verb(service):
    """Each verb is called once before a server that refuses everything; what was asked for is every route."""
    asked = {("GET", "/v1/trail/lines")}  # a download: `export_trail` writes the same lines, page by page

    def refused(request):
        asked.add((request.method, request.url.path))
        return httpx.Response(403, json={"type": "NotAllowed", "title": "NotAllowed", "detail": "no", "status": 403})

    ledger = connect("http://localhost", "utmost_none", transport=httpx.MockTransport(refused))
    calls = one_call_of_each_verb()
    verbs = {verb for verb in dir(ledger) if not verb.startswith("_")}
    assert verbs == {*calls, "releases", "budget", "identity"}
    for verb, (arguments, options) in sorted(calls.items(), key=lambda call: call[0] == "close"):
        if verb == "close":
            for more in (lambda: ledger.releases, lambda: ledger.budget("d"), lambda: ledger.budget("d", 2)):
                with contextlib.suppress(UtmostError):
                    more()
            with contextlib.suppress(UtmostError):
                ledger.history("n")
        with contextlib.suppress(UtmostError):
            getattr(ledger, verb)(*arguments, **options)
    described = application(service, Settings()).inside.openapi()["paths"]
    missing = [
        (method, route)
        for route, methods in described.items()
        for method in methods
        if route.startswith("/v1/")
        and not any(
            method.upper() == sent and re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", route), path) for sent, path in asked
        )
    ]
    assert missing == []
    assert len(asked) >= 25


def test_threads_of_asyncio_share_one_client(service, who):
    """There is no second client for `await`: `asyncio.to_thread` calls each verb of the one that there is."""
    presented = service.bearers.make(None, "c", "Ada", "curator", (Grant("*"),))[1]
    publish(service, who, level(1))
    with served(service) as address, connect(address, presented) as ledger:

        async def all_at_once():
            calls = (asyncio.to_thread(ledger.view, "admissions", epsilon=1) for _ in range(8))
            return await asyncio.gather(*calls)

        views = asyncio.run(all_at_once())
    assert len(views) == 8
    assert all(view.table == views[0].table for view in views)
