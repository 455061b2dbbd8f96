"""The gate: every public call that has a cliff in its history, beside a neighbour that does the like, as a ratio.

A ratio of two figures of one run hardly depends on the machine or on what else it does. Each limit is some three to
five times what was measured, so that noise passes and a cliff does not. Where no neighbour does the like, a loop of
Python stands for the machine.
"""

import asyncio
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from comparison.file_lines import COMMAND
from comparison.lines import OURS, Line, is_installed

import utmost as ut
from utmost.design.optima.consumer_program import user_program
from utmost.design.spaces import losses
from utmost.programs import solve
from utmost.sampling import sample
from utmost.spaces import Consumer, grid
from utmost.workloads import Plan, bins

LEAST, MOST = 0.03, 2_000
"""Seconds that a contender is timed for at least, and how often it is called for that at most."""
TURNS = 3
AGAIN = 4  # a machine that other work shares may lend a call little for longer than three turns
EVENTS, RELEASES = 100_000, 200
COUNTED = ut.Domain(page=list(range(400)), country=["A", "B", "C"]), ut.Counting("user", at_most=10)
SEARCH = """
from itertools import combinations
import utmost as ut
domain = ut.Domain({{f"a{{at}}": ["no", "yes"] for at in range({0})}})
tables = combinations(domain.columns, {1})
ut.choose_plan(ut.Workload(domain, {{" ".join(table): 1 for table in tables}}), ut.Unit(1, 1), epsilon=1)
"""
NUMPY, HIGHS, DUCKDB, ARROW, LOOP = "NumPy's floats", "HiGHS", "DuckDB", "pyarrow", "a loop of 10^5 steps"


@dataclass(frozen=True)
class Ratio:
    """A work: the public call, the neighbour's, and how many times as long ours may take."""

    work: str
    ours: Callable[[], Any]
    who: str
    theirs: Callable[[], Any]
    limit: float


def ratios(line: Line) -> None:
    """Every public call beside a neighbour, small."""
    with tempfile.TemporaryDirectory() as folder:
        for made in MAKERS:
            for ratio in made(Path(folder)):
                measured(line, ratio)


def measured(line: Line, ratio: Ratio) -> None:
    """Both in turn, after a call each outside the clock; the least of each. What is beyond its limit is timed again."""
    often = [max(1, min(MOST, round(LEAST / max(1e-9, once(call))))) for call in (ratio.ours, ratio.theirs)]
    least = [float("inf")] * 2
    for turn in range(AGAIN * TURNS):
        if turn >= TURNS and least[0] <= ratio.limit * least[1]:
            break
        for at, call in enumerate((ratio.ours, ratio.theirs)):
            start = processor()
            for _ in range(often[at]):
                call()
            least[at] = min(least[at], (processor() - start) / often[at])
    line.took(OURS, ratio.work, least[0])
    line.took(ratio.who, ratio.work, least[1])
    line.goal(f"{ratio.work}, beside {ratio.who}", least[0] / least[1], ratio.limit, "times")


def once(call: Callable[[], Any]) -> float:
    """What the second call takes: the first one loads, and compiles."""
    call()
    start = processor()
    call()
    return processor() - start


def processor() -> float:
    """Seconds of processor so far, of this process and of those that it started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def loop() -> int:
    """What stands for the machine."""
    return sum(step * step for step in range(100_000))


def draws(_folder: Path) -> Iterator[Ratio]:
    """Noise: a draw, ten, a million, of a staircase, and by item."""
    insecure, distribution = np.random.default_rng(0), ut.noise.Geometric(epsilon=1)
    stairs = ut.noise.DiscreteStaircase(epsilon=1, sensitivity=1000)
    for size, limit in ((10_000, 4), (100_000, 4)):
        named = f"{size:,} draws of a staircase"
        yield Ratio(named, lambda n=size: sample(stairs, n), NUMPY, lambda n=size: insecure.laplace(size=n), limit)
    yield Ratio("one draw", lambda: sample(distribution), NUMPY, insecure.laplace, 8)
    yield Ratio("ten draws", lambda: sample(distribution, 10), NUMPY, lambda: np.rint(insecure.laplace(size=10)), 16)
    for name, drawn, limit in (("a million draws", distribution, 1.5), ("a million draws of a staircase", stairs, 4)):
        yield Ratio(name, lambda drawn=drawn: sample(drawn, 10**6), NUMPY, lambda: insecure.laplace(size=10**6), limit)


def designs(_folder: Path) -> Iterator[Ratio]:
    """The best mechanism for places, with its proof, on either side of what column generation does; and a capacity."""
    for n, limit in ((9, 10), (12, 6), (25, 2)):
        draw = np.random.default_rng(n)
        space = ut.spaces.points(draw.random((n, 2)).round(3).tolist())
        ptype = ut.PrivacyType(space, epsilon=1)
        consumer = Consumer(draw.dirichlet(np.ones(n)), losses.distance(space))
        program = user_program(ptype, consumer, exactly=False)
        best = lambda s=space, c=consumer: ut.optimal_mechanism(ut.PrivacyType(s, epsilon=1), c)  # noqa: E731
        yield Ratio(f"design of {n} places", best, HIGHS, lambda p=program: solve(p), limit)
    lattice = ut.PrivacyType(grid(20, 20), alpha="1/2")
    yield Ratio("capacity of 20 x 20 places", lambda: ut.capacity(lattice), LOOP, loop, 40)


def counting(folder: Path) -> Iterator[Ratio]:
    """Events of persons, from each kind of file."""
    if not is_installed("pyarrow"):
        return
    import pyarrow as pa
    from pyarrow import csv, parquet
    from pyarrow import json as lines

    rng = np.random.default_rng(0)
    names = np.char.add("user ", rng.integers(0, EVENTS // 16, EVENTS).astype(str))
    table = pa.table(
        {
            "user": names,
            "page": rng.zipf(1.4, EVENTS) % 450,
            "country": np.array(["A", "B", "C"])[rng.integers(0, 3, EVENTS)],
        }
    )
    paths = {ending: folder / f"events.{ending}" for ending in ("parquet", "csv", "jsonl")}
    parquet.write_table(table, paths["parquet"])
    csv.write_csv(table, paths["csv"])
    paths["jsonl"].write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), encoding="utf-8")
    keys = table.column_names
    theirs: dict[str, tuple[str, Callable[[], Any], float]] = {
        "csv": (ARROW, lambda: csv.read_csv(paths["csv"]).group_by(keys).aggregate([]), 12),
        "jsonl": (ARROW, lambda: lines.read_json(paths["jsonl"]).group_by(keys).aggregate([]), 40),
    }
    if is_installed("duckdb"):
        import duckdb

        con = duckdb.connect(config={"threads": 1})
        each = f"SELECT DISTINCT * FROM '{paths['parquet']}'"
        said = f"SELECT page, country, count(*) FROM ({each}) GROUP BY ALL"
        theirs["parquet"] = (DUCKDB, lambda: con.execute(said).fetchall(), 10)
    for ending, (who, call, limit) in theirs.items():
        ours = lambda path=paths[ending]: ut.count_table(path, *COUNTED)  # noqa: E731
        yield Ratio(f"count_table of a {ending} file", ours, who, call, limit)


def items(folder: Path) -> Iterator[Ratio]:
    """A table published by a ledger with noise by item, and a release of it in memory."""
    rows = {"id": [f"person-{k:012d}" for k in range(EVENTS)], "x": np.arange(EVENTS) % 100}
    one = ut.Unit(1, 1)
    insecure, numbers = np.random.default_rng(0), count()
    ledger = ut.Ledger.open(folder / "gate.db", create=True)

    def published() -> Any:
        by_item = ut.Promise("x", drop="id", unit=one, id_column="id", keyed_by_id=True)
        return ledger.publish(f"visits {next(numbers)}", rows, by_item, epsilon=1, independent=True).table

    yield Ratio("publish by item, text", published, "NumPy sorts the texts", lambda: np.sort(np.array(rows["id"])), 20)
    table = {"x": rows["x"]}
    released = lambda: ut.release(table, ut.Promise("x", unit=one), epsilon=1, once=True)  # noqa: E731
    yield Ratio("release once", released, NUMPY, lambda: insecure.laplace(size=EVENTS), 5)
    ledger.close()


def answers(_folder: Path) -> Iterator[Ratio]:
    """What is made of a release of sums that agree: means, quantiles, a table without negative counts."""
    draw = np.random.default_rng(0)
    ages = ut.Domain(age=bins(100))
    plan = Plan(ages, ut.Unit(1, 1), {ages.finest: 1})
    release = ut.release(draw.poisson(50, ages.shape), plan, epsilon=1, once=True).table
    yield Ratio("mean over 100 cells", lambda: release.mean("age"), LOOP, loop, 45)
    yield Ratio("quantile over 100 cells", lambda: release.quantile("age", "2/3"), LOOP, loop, 20)

    def marginals(side: int) -> Any:
        domain = ut.Domain(row=list(range(side)), column=list(range(side)))
        plan = Plan(domain, ut.Unit(1, 1), dict.fromkeys(domain.marginals(), "1/4"))
        return ut.release(draw.poisson(np.exp(draw.normal(0.3, 1.5, domain.shape))), plan, epsilon=1, once=True).table

    small, large = marginals(25), marginals(50)
    yield Ratio("clean() of 2 500 cells", large.clean, "clean() of 625", small.clean, 12)


def plans(folder: Path) -> Iterator[Ratio]:
    """`utmost plan` beside the search for the same plan: error bars and bounds cost nothing of the domain's size."""
    for attributes, columns in ((10, 2), (10, 3), (20, 2), (50, 2)):
        domain = folder / f"domain{attributes}.json"
        domain.write_text(json.dumps({f"a{at}": ["no", "yes"] for at in range(attributes)}), encoding="utf-8")
        wanted = f"tables of {columns} columns"
        plan = [sys.executable, "-m", "utmost", "plan", str(domain), "--at-most", "1", "--epsilon", "1"]
        search = [sys.executable, "-c", SEARCH.format(attributes, columns)]
        yield Ratio(
            f"utmost plan of {wanted}, of {attributes}",
            lambda plan=plan, wanted=wanted: subprocess.run([*plan, "--want", wanted], check=True, capture_output=True),
            "a process that calls choose_plan()",
            lambda search=search: subprocess.run(search, check=True),
            10,
        )


DESIGN = """
import numpy as np
import utmost as ut
from utmost.design.spaces import losses
from utmost.spaces import Consumer, grid
space = grid(10, 10)
consumer = Consumer(np.full(100, 1 / 100), losses.distance(space))
ut.optimal_mechanism(ut.PrivacyType(space, epsilon=1), consumer)
"""
CAPACITIES = """
import utmost as ut
from utmost.spaces import grid
for kind in ("multiplicative", "additive"):
    ut.capacity(ut.PrivacyType(grid(20, 20), alpha="1/2"), kind=kind)
"""


def research(_folder: Path) -> Iterator[Ratio]:
    """Designs and capacities by their commands, beside a process that makes the same calls."""
    places, lattice = "--space grid:10x10 --epsilon 1 --prior uniform", "--space grid:20x20 --epsilon alpha=1/2"
    for work, typed, called, limit in (
        ("utmost design of 10 x 10 places", f"design {places}", DESIGN, 3),
        ("utmost research capacity, 20 x 20", f"research capacity {lattice}", CAPACITIES, 2),
    ):
        command = [sys.executable, "-m", "utmost", *typed.split()]
        yield Ratio(
            work,
            lambda command=command: subprocess.run(command, check=True, capture_output=True),
            "a process that makes the calls",
            lambda called=called: subprocess.run([sys.executable, "-c", called], check=True),
            limit,
        )


def ledgers(folder: Path) -> Iterator[Ratio]:
    """What a ledger adds: to a command, to an opening, to a publication, and with many releases beside."""
    source, out, place = folder / "million.csv", folder / "noised.csv", folder / "million.db"
    rows = enumerate(np.random.default_rng(0).integers(0, 1000, 10**6).tolist())
    source.write_text("ward,n\n" + "".join(f"w{row},{count}\n" for row, count in rows), encoding="utf-8")

    # As installed: Python reads the modules that it compiled once.
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    compiled["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")

    def command(*options: str) -> None:
        for path in (*folder.glob("noised.csv*"), *folder.glob("million.db*")):
            path.unlink()
        ut.Ledger.open(place, create=True).close()
        line = [sys.executable, *COMMAND.format(source, out).split(), *options]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL, env=compiled)

    kept = ["--ledger", str(place), "--name", "wards"]
    yield Ratio("release of 10^6 rows in a ledger", lambda: command(*kept), "the same without one", command, 6)

    promise, made = ut.Promise("n", public="ward", unit=ut.Unit(1, 1)), count()

    def publish(ledger: Any) -> None:
        number = next(made)
        ledger.publish(f"r{number}", {"ward": ["a"], "n": [number]}, promise, epsilon=1)

    few, many = (ut.Ledger.open(folder / f"{name}.db", create=True) for name in ("few", "many"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(RELEASES):
            publish(many)
        store = sqlite3.connect(folder / "commits.db", isolation_level=None)
        store.execute("PRAGMA synchronous=EXTRA")
        store.execute("CREATE TABLE kept (number INTEGER PRIMARY KEY, body BLOB)")

        def commits() -> None:
            for _ in range(3):
                store.execute("INSERT INTO kept (body) VALUES (randomblob(2000))")

        yield Ratio("publish one cell in a ledger", lambda: publish(few), "three durable commits", commits, 12)
        beside = f"a ledger of {RELEASES}, publish", lambda: publish(many), "a new ledger", lambda: publish(few)
        yield Ratio(*beside, 2)
        bodies = [body for (body,) in sqlite3.connect(folder / "many.db").execute("SELECT body FROM utmost_events")]
        opened = lambda: ut.Ledger.open(folder / "many.db").close()  # noqa: E731
        read = lambda: [json.loads(body) for body in bodies]  # noqa: E731
        yield Ratio(f"a ledger of {RELEASES}, opening", opened, "its events read by json", read, 12)
        cells = {"n": np.random.default_rng(0).integers(0, 1000, 10**6)}
        unit, levels = ut.Promise("n", unit=ut.Unit(1, 1)), count(2)
        many.publish("cells", cells, unit, epsilon=1, independent=True)
        relaxed = lambda: many.relax("cells", cells, epsilon=next(levels))  # noqa: E731
        insecure = np.random.default_rng(0)
        yield Ratio("relax 10^6 cells in a ledger", relaxed, NUMPY, lambda: insecure.laplace(size=10**6), 15)
    few.close()
    many.close()


def doors(folder: Path) -> Iterator[Ratio]:
    """The command line for one row; pages and answers of the service beside an endpoint that says the same."""
    source, out = folder / "one.csv", folder / "out.csv"
    source.write_text("ward,n\nw0,17\n", encoding="utf-8")

    def command() -> None:
        for path in folder.glob("out.csv*"):
            path.unlink()
        line = [sys.executable, *COMMAND.format(source, out).split()]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)

    numpy = [sys.executable, "-c", "import numpy"]
    yield Ratio("utmost release of one row", command, "import numpy", lambda: subprocess.run(numpy, check=True), 40)
    if not (is_installed("fastapi") and is_installed("httpx")):
        return
    from fastapi import FastAPI

    from utmost.ledger import PublishRequest
    from utmost.service import Grant, Service, Settings, application

    ledger = ut.Ledger.open(folder / "served.db", create=True)
    service = Service(ledger)
    promise = ut.Promise("n", unit=ut.Unit(1, 1))
    request = PublishRequest("visits", promise, ut.level(1), "visits", None, None, independent=False)
    made = {role: service.bearers.make(None, role, role, role, (Grant("*"),)) for role in ("curator", "approver")}
    proposal = service.proposals.propose(made["curator"][0], "p", request)
    service.proposals.decide(made["approver"][0], proposal.name, "approved")
    tables, proposals = {"visits": {"n": list(range(100))}}, {"visits": proposal.name}
    service.releases.publish_measures(made["curator"][0], "k", [request], tables, proposals)
    headers = {"Authorization": f"Bearer {made['curator'][1]}"}
    app = application(service, Settings(rate=1e6, burst=10**6))
    view = asked(app, "/v1/releases/visits/view?epsilon=1", headers)
    bare, answer = FastAPI(), view().json()
    bare.get("/view")(lambda: answer)
    endpoint = asked(bare, "/view", {})
    yield Ratio("the service, a stored view", view, "a bare endpoint", endpoint, 4)
    cookie = {"Cookie": f"utmost={made['curator'][1]}"}  # of a browser that has signed in
    yield Ratio("the service, the list of releases", asked(app, "/releases", cookie), "a bare endpoint", endpoint, 8)
    page = asked(app, "/release?name=visits&at=1", cookie)
    yield Ratio("the service, the page of a release", page, "a bare endpoint", endpoint, 12)
    ledger.close()


def asked(app: Any, address: str, headers: dict[str, str]) -> Callable[[], Any]:
    """A request to an application in this process; ten at a time, since a client and a loop are made for them."""
    import httpx

    async def ten() -> Any:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gate", headers=headers) as client:
            for _ in range(10):
                answer = await client.get(address)
        return answer.raise_for_status()

    return lambda: asyncio.run(ten())


MAKERS = (draws, designs, counting, items, answers, plans, research, ledgers, doors)
