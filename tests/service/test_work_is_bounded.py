"""What anybody may ask for is bounded before work begins: by length, by turn, by time, and by place in memory."""

import asyncio
import contextlib
import json
import os
import random
import threading
import time

import httpx
import pytest
from annotated_types import MaxLen

from service.conftest import ALL, publish
from service.test_description import OPEN
from service.test_http import Caller
from service.visiting import Visitor
from utmost import losses
from utmost.errors import NotAllowed, NotALoss, OutOfRange, Unsupported, UtmostError
from utmost.exact import level

# Limits and processes are tried alone, with limits of the test.
from utmost.interfaces.service.access.rate_limits import Body, BytesInMemory, Guards, RateLimits
from utmost.interfaces.service.api.problems import Refused
from utmost.interfaces.service.api.request_parsing import StrictJson
from utmost.interfaces.service.workers.page_work import answered
from utmost.interfaces.service.workers.processes import WORKERS, Worker, Workers
from utmost.service import Grant, Settings, application

ONE_STORE = True

READ = {"response": "17", "n": "100", "epsilon": "1/2", "prior": "binomial", "value": "0.3", "weights": "",
        "loss": "absolute"}  # fmt: skip
USUAL = {
    "read": READ,
    "explore": {"epsilon": "1/2", "sensitivity": "1", "cost": "absolute", "numbers": "integers"},
    "channel": {"n": "5", "epsilon": "1/2", "mechanism": "geometric"},
    "map": {"shape": "line", "size": "3", "epsilon": "1/2", "loss": "binary"},
    "trust": {"edges": "a b\nb c", "owner": "a", "nearest": "1"},
}
WORDS = [
    "", "0", "-1", "1e9", "1e150", "1e-150", "1/" + "7" * 190, "9" * 200, "1e-99999", "nan", "inf", "\x00", "١", "x",
    "power:1e9", "power:20000", "power:1000", "power:1/3", "capped:1e150", "asymmetric:1e150,1e-150", "moment:1e9",
    "moment:99", "table:0=0,1e100=1", "table:0=0", "poisson", "weights", "reals", "25x1", "5x5", "1 2 3", "hamming",
]  # fmt: skip
KEY = "5ec2e7" * 11


@pytest.fixture
def app(service):
    return application(service, OPEN)


@pytest.fixture
def presented(service):
    made = {}

    def bearer(role):
        if role not in made:
            made[role] = service.bearers.make(None, f"b {role}", f"b {role}", role, (Grant("*"),))[1]
        return made[role]

    return bearer


@pytest.fixture
def pool():
    """Processes of a test's own, ended with it."""
    made = []

    def workers(**options):
        made.append(Workers(**options))
        return made[-1]

    yield workers
    for workers in made:
        workers.close()


def parameters(dependant):
    yield from [*dependant.query_params, *dependant.path_params, *dependant.header_params]
    for further in dependant.dependencies:
        yield from parameters(further)


def test_every_parameter_has_a_bound(app):
    """Each text in an address or a header has a longest length or a pattern; each number a range."""
    seen = 0
    routes = [route for route in app.inside.routes if hasattr(route, "dependant")]
    for path, one in ((route.path, one) for route in routes for one in parameters(route.dependant)):
        kind, about = one.field_info.annotation, one.field_info.metadata
        is_bounded = any(isinstance(mark, MaxLen) or getattr(mark, "pattern", None) for mark in about)
        assert is_bounded or str not in (kind, *getattr(kind, "__args__", ())), (path, one.name)
        seen += 1
    assert seen > 30


@pytest.mark.parametrize("name", ["power:1e9", "power:20000", "power:1001"])
def test_a_power_that_takes_for_ever_is_no_loss(name):
    """By the library itself, where the word is read."""
    with pytest.raises(OutOfRange):
        losses.loss_named(name)
    with pytest.raises(NotALoss):
        losses.power(name.removeprefix("power:"))
    assert losses.power(1000).matrix(2)[0].tolist() == [0, 1]


def test_fuzzed_pages(app, presented):
    """Right but for one parameter, each page so often: an answer in time, and none of 500 but for want of room."""
    bo, draw = Visitor(app, presented("recipient")), random.Random(22)
    for _ in range(8):
        for page, usual in USUAL.items():
            asked = usual | {draw.choice(list(usual)): draw.choice(WORDS)}
            began = time.monotonic()
            answer = bo.get(f"/{page}", params=asked)
            assert answer.status_code in (200, 422), (page, asked, answer.text[-500:])
            assert time.monotonic() - began < 60, (page, asked)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_fuzzed_works(pool, seed):
    """Many more, straight to the processes: each answered or ended in time."""
    workers, draw = pool(seconds=10.0), random.Random(seed)
    for _ in range(60):
        work = draw.choice(list(USUAL))  # a file to verify has a test of its own
        asked = USUAL[work] | {draw.choice(list(USUAL[work])): draw.choice(WORDS) for _ in range(draw.choice((1, 2)))}
        began = time.monotonic()
        with contextlib.suppress(Unsupported):
            assert workers.ask("a", work, asked)["status"] in (200, 422), asked
        assert time.monotonic() - began < 60, asked


@pytest.mark.parametrize("loss", ["asymmetric:1e3000,1", "power:1000"])
def test_a_number_beyond_floats_is_a_refusal(loss):
    assert answered("read", READ | {"loss": loss})["status"] == 422


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="no environment to read")
def test_a_worker_is_told_nothing_of_the_ledger(monkeypatch):
    """It has neither key nor password in its environment, and works without them."""
    for name in ("UTMOST_LEDGER_KEY", "UTMOST_SERVE_OIDC_SECRET_FILE", "PGPASSWORD", "DATABASE_URL", "AWS_SECRET"):
        monkeypatch.setenv(name, KEY)
    worker = Worker()
    try:
        with open(f"/proc/{worker.process.pid}/environ", "rb") as file:
            assert KEY.encode() not in file.read()
        told = worker.answer("map", USUAL["map"], 60)
        assert told["found"]["map"]["names"] == ["0", "1", "2"]
    finally:
        worker.end()
    assert worker.process.returncode is not None


def test_a_full_queue_refuses_at_once(pool):
    """One caller has so many places, all together so many; each refusal says when to come again."""
    workers = pool(most=1, waiting=2, of_one=2)
    with workers._queued("a"), workers._queued("a"):
        with pytest.raises(Refused) as refused:
            workers.ask("a", "channel", USUAL["channel"])
        assert (refused.value.status_code, refused.value.title) == (429, "TooOften")
        with workers._queued("b"), pytest.raises(Refused) as refused:
            workers.ask("c", "channel", USUAL["channel"])
        assert (refused.value.status_code, refused.value.title) == (503, "Busy")
        assert int(refused.value.headers["Retry-After"]) >= 1
    assert not workers._callers


def test_a_refusal_of_the_queue_is_a_problem(app, presented, monkeypatch):
    """For people and for programs."""
    monkeypatch.setattr(WORKERS, "_of_one", 0)
    caller = Visitor(app, presented("recipient"))
    asked = {"epsilon": "1/77"}
    assert caller.get("/channel", params=asked).status_code == 429
    answer = caller.get("/channel", params=asked, headers={"Accept": "application/json"})
    assert (answer.json()["title"], answer.headers["retry-after"]) == ("TooOften", "1")


def test_health_waits_for_no_thread(app):
    """The loop alone answers, while every thread for requests is taken."""
    free = threading.Event()

    async def asked():
        from starlette.concurrency import run_in_threadpool

        jobs = [asyncio.create_task(run_in_threadpool(free.wait, 60)) for _ in range(60)]
        await asyncio.sleep(0)
        transport = httpx.ASGITransport(app=app)
        try:
            async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
                async with asyncio.timeout(30):
                    return [await client.get(f"/health/{path}") for path in ("live", "ready")]
        finally:
            free.set()
            await asyncio.gather(*jobs)

    assert [answer.status_code for answer in asyncio.run(asked())] == [200, 200]


def pieces(read, piece=b" " * 10_000, first=b"", count=30):
    async def sent():
        yield first
        for _ in range(count):
            read.append(len(piece))
            yield piece

    return sent()


JSON = {"content-type": "application/json"}


def test_a_long_body_is_for_those_who_bring_a_table(app, presented):
    """Others are cut off after 64 kB; whose role may never do what a body is for, before the first byte."""
    read = []
    for role, path, status, most in [
        ("curator", "/v1/releases", 422, 300_000),
        ("curator", "/v1/releases/x/relax", 422, 300_000),
        ("approver", f"/v1/proposals/{'0' * 24}/decision", 413, 80_000),
        ("admin", "/v1/tokens", 413, 80_000),
        ("auditor", "/v1/receipt/check", 413, 80_000),
        ("recipient", "/v1/releases", 403, 0),
        ("admin", "/v1/releases/x/relax", 403, 0),
        ("recipient", "/v1/proposals", 403, 0),
        ("curator", "/v1/tokens", 403, 0),
    ]:
        read.clear()
        answer = Caller(app, presented(role))("POST", path, key="k", content=pieces(read), headers=JSON)
        assert (answer.status_code, sum(read) <= most) == (status, True), (role, path, sum(read))


def test_a_long_form_is_for_those_who_bring_a_table(app, presented):
    read = []
    parts = {"Content-Type": "multipart/form-data; boundary=b"}
    for role, path, status, most in [
        ("curator", "/publish", 403, 310_000),
        ("curator", "/verify/table", 403, 310_000),
        ("approver", "/proposals/decision", 413, 80_000),
        ("recipient", "/verify/table", 413, 80_000),
        ("recipient", "/publish", 403, 0),
        ("admin", "/relax", 403, 0),
    ]:
        visitor = Visitor(app, presented(role))
        read.clear()
        head = b'--b\r\nContent-Disposition: form-data; name="table"; filename="x"\r\n\r\n'
        answer = visitor.send("POST", path, content=pieces(read, b"1" * 10_000, head), headers=parts, follow=False)
        assert (answer.status_code, sum(read) <= most) == (status, True), (role, path, sum(read))


def test_bodies_in_memory_are_counted():
    """Beyond the bound the next one is cut off, and what is answered counts no more."""
    held = BytesInMemory(150)

    async def receive():
        return {"type": "http.request", "body": b" " * 100, "more_body": False}

    def body():
        return Body(receive, 100, time.monotonic() + 60, held=held)

    first, second = body(), body()
    assert asyncio.run(first.receive())["type"] == "http.request"
    assert asyncio.run(second.receive())["type"] == "http.disconnect"
    assert second.refusal[0] == 503
    first.forget()
    second.forget()
    assert held.now == 0
    assert asyncio.run(body().receive())["type"] == "http.request"


def test_nothing_is_held_after_the_answer(app, presented):
    curator = Caller(app, presented("curator"))
    for content in (b"{}", b" " * 300_000, b"{"):
        curator("POST", "/v1/releases", key="k", content=content, headers=JSON)
    assert isinstance(app, Guards)
    assert app._held.now == 0


def test_a_body_is_read_away_from_the_loop(monkeypatch):
    """JSON and cells, in another thread than the one that answers everybody."""
    seen = []
    monkeypatch.setattr(
        "utmost.interfaces.service.api.request_models._is_cell",
        lambda cell: seen.append(threading.current_thread()) is None,
    )

    async def receive():
        return {"type": "http.request", "body": b'{"table": {"a": [1]}}', "more_body": False}

    request = StrictJson({"type": "http", "headers": [], "method": "POST"}, receive)
    assert asyncio.run(request.json()) == {"table": {"a": [1]}}
    assert seen
    assert threading.main_thread() not in seen


def test_a_token_has_its_turns_whatever_comes_beside_it(service):
    """A made-up cookie before or after, another address: the same bucket; made-up tokens have that of the address."""
    app = application(service, Settings(rate=0.001, burst=3))
    bearer = {"Authorization": f"Bearer {service.bearers.make(None, 'b', 'Bo', 'recipient', (Grant('*'),))[1]}"}
    ask = Caller(app)
    told = [ask("GET", "/v1/me", headers={"Cookie": f"utmost=guest.{k}"} | bearer).status_code for k in range(5)]
    assert told == [200, 200, 200, 429, 429]
    made_up = [ask("GET", "/v1/me", headers={"Authorization": f"Bearer x{k}"}).status_code for k in range(5)]
    assert made_up == [401, 401, 401, 429, 429]


def test_limits_are_each_by_itself():
    limits = RateLimits(0.001, 1)
    limits.count_token("a")
    limits.count_token("b")
    limits.count_stranger({"client": ("192.0.2.1", 1)})
    with pytest.raises(Refused):
        limits.count_token("a")
    with pytest.raises(Refused):
        limits.count_stranger({"client": ("192.0.2.1", 2)})
    assert [limits.wait("192.0.2.1") > 0 for _ in range(11)] == [False] * 10 + [True]


def test_a_very_long_address_is_refused(app):
    scope = {"type": "http", "method": "GET", "path": "/v1/me", "query_string": b"x" * 70_000, "headers": []}
    told = []

    async def send(message):
        told.append(message)

    asyncio.run(app(scope, None, send))
    assert (told[0]["status"], json.loads(told[1]["body"])["title"]) == (414, "TooLong")


def test_levels_are_counted_for_each_recipient(opened, clock):
    """One who has had so many made is told no, again and again; what is there, and others, go on."""
    service = opened(most_levels=2)
    who = lambda owner, role: service.bearers.make(None, owner, owner, role, (Grant("*"),))[0]  # noqa: E731
    publish(service, who, level(1))
    bo, cy, view = who("Bo", "recipient"), who("Cy", "recipient"), service.releases.view
    for at in ("1/2", "1/3", "1/2", "1"):
        view(bo, "admissions", level(at))
    with pytest.raises(NotAllowed):
        view(bo, "admissions", level("1/4"))
    for at in ("1/4", "1/5"):
        view(cy, "admissions", level(at))
    view(bo, "admissions", level("1/5"))
    assert len(service.ledger.levels("admissions")) == 5


def test_a_refused_level_is_not_counted(opened, clock):
    """Nothing was drawn. The refusal of one more names the levels that were drawn, and who can allow more."""
    service = opened(most_levels=2)
    who = lambda owner, role: service.bearers.make(None, owner, owner, role, (Grant("*"),))[0]  # noqa: E731
    publish(service, who, level(1))
    bo, view = who("Bo", "recipient"), service.releases.view
    for digits in range(60, 64):
        with pytest.raises(UtmostError) as refused:
            view(bo, "admissions", level(f"1e-{digits}"))
        assert not isinstance(refused.value, NotAllowed)
    for at in ("1/2", "1/3"):
        view(bo, "admissions", level(at))
    with pytest.raises(
        NotAllowed, match=r"got one more level\. .* had made: 1/2, 1/3\. The operator .* UTMOST_SERVE_MOST_LEVELS\.$"
    ):
        view(bo, "admissions", level("1/5"))
    assert Settings.of_environment({"UTMOST_SERVE_MOST_LEVELS": "70"}).most_levels == 70


def test_lists_have_the_levels_that_were_published_and_ones_own(opened, clock):
    """Copies that others asked for would reveal what others ask, and fill each list."""
    service = opened()
    who = lambda owner, role: service.bearers.make(None, owner, owner, role, (Grant("*"),))[0]  # noqa: E731
    publish(service, who, level("1/2"))
    bo, cy = who("Bo", "recipient"), who("Cy", "recipient")
    for at in ("1/3", "1/4"):
        service.releases.view(bo, "admissions", level(at))
    service.releases.view(cy, "admissions", level("1/4"))
    (release,) = service.releases.all(cy)
    shown = {who: [str(at.power) for at in service.releases.levels(who, release)[0]] for who in (bo, cy)}
    assert shown == {bo: ["1/4", "1/3", "1/2"], cy: ["1/4", "1/2"]}
    page = Visitor(application(service, Settings()), service.bearers.make(None, "x", "Di", "recipient", ALL)[1])
    assert "1/3" not in page.get("/releases").text
    assert page.get("/release/table.csv?name=admissions&at=1/3").status_code == 404
