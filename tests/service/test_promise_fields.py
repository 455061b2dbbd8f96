"""Every field of a promise arrives, whatever door it goes through; one that is lost on its way is seen.

The fields come from `Promise`, the doors from `DOORS`. A new field gets a text of its own, and goes through each door:
one that loses it turns this test red. What a table that was counted says of itself, `Promise.of_table` fills in.
"""

import json
import pickle
import re
import warnings
from dataclasses import fields, replace
from pathlib import Path

import jsonschema
import pytest

import utmost as ut
from asking import PROMISE_TEXTS
from running import with_recipe
from service.conftest import ALL, KEY
from service.publications import document as written
from service.test_client import Inside
from service.visiting import Visitor
from utmost.counting import CountedTable, read_counted
from utmost.errors import OutOfRange, WrongKind
from utmost.exact import level
from utmost.interfaces.service.pages.page_rendering import in_fields
from utmost.interop import data_package
from utmost.ledger import AnswerRequest, Ledger, PublishRequest, shared_requests
from utmost.promises import CellNoise, SumNoise
from utmost.releases import release_detailed, release_measures, release_shared
from utmost.service import Service, Settings, application, connect
from utmost.statements import registry_entry, stated_release, statement_page
from utmost.tables.files import files
from utmost.workloads import share_level

pytestmark = pytest.mark.filterwarnings("ignore::utmost.errors.RowsObserved", "ignore::utmost.errors.FewEventsKept")

TABLE = {"id": ["a", "b"], "town": ["x", "y"], "note": ["p", "q"], "n": [1, 2]}
CSV = "id,town,note,n\na,x,p,1\nb,y,q,2\n"
DOMAIN = ut.Domain(sex=["men", "women"])
EVENTS = {
    "who": ["ann", "ben", "cem", "dan"],
    "town": ["x", "x", "y", "y"],
    "sex": ["men", "women", "men", "men"],
    "income": [3, 5, 7, 9],
    "rent": [1, 2, 3, 4],
}
COUNTING = ut.Counting("who", at_most=1, key=KEY)
PLAN = ut.choose_plan(ut.Workload(DOMAIN, {"sex": 1}), ut.Unit(1, 1), epsilon=1)
FIELDS = [each.name for each in fields(ut.Promise)]


def counted():
    """One part of a table that was counted: it says itself which, and who one individual is."""
    return ut.count_table(EVENTS, DOMAIN, COUNTING, by="sex", part={"town": ["x", "y"]})["x"]


PART = counted()
OF_CELLS = {
    "columns": "n", "public": "town", "drop": ("id", "note"), "rows": "observed", "id_column": "id",
    "keyed_by_id": True, "part": None, "individual": "one household", "proved": False,
    "noise": CellNoise(ut.Unit(3, 2), largest=1000), "until": None,
}  # fmt: skip
OF_SUMS = {
    **dict.fromkeys(("public", "drop", "id_column"), ()),
    "columns": "measured",
    "rows": "declared",
    "keyed_by_id": False,
    "part": PART.part,
    "individual": PART.individual,
    "proved": True,
    "noise": SumNoise(PLAN, largest=1000),
    "until": None,
}
TEXTS = {name: text for name, text in PROMISE_TEXTS.items() if name not in OF_CELLS}  # of fields added later
ITEMS = ut.Promise(**OF_CELLS, **TEXTS)
CELLS = ut.Promise(**OF_CELLS | {"keyed_by_id": False}, **TEXTS)
STOPPING = ut.Promise(**OF_CELLS | {"keyed_by_id": False, "until": ut.within("10 %")}, **TEXTS)
SUMS = ut.Promise(**OF_SUMS, **TEXTS)
BY_PLAN = ut.Promise(noise=PLAN).of_table(PART)
CELLS_ONCE = CELLS.with_noise(CellNoise(ut.Unit(3, 2)))  # a largest value is the bound of a ledger
OF_EVENTS = [
    ut.Promise("count", public="sex", unit=ut.Unit(1, 1), individual=individual, proved=individual != "one household")
    for individual in (
        "all rows with the same value of the column who",
        ut.Counting(each_row=True).individual,
        "one household",
    )
]
ITEMS_ONCE = ITEMS.with_noise(CELLS_ONCE.noise)
WHOLE = ut.Promise(noise=PLAN, individual=PART.individual, proved=True)
UNPUBLISHED = {"drop", "id_column", "keyed_by_id"}
"""The names of columns that nobody sees: no statement tells them."""
WORDS = [*PROMISE_TEXTS]
"""The fields that are words for people."""


class World:
    """A folder with files, a ledger, and a service behind it."""

    def __init__(self, path, run):
        self.path, self._run = path, run
        path.mkdir()
        self.file("t.csv", CSV)
        self.file("key", KEY.hex()).chmod(0o600)
        self.file("plan.json", json.dumps(written(PLAN)))
        PART.save(path / "counted.json")
        self.in_ledger = ["--ledger", path / "l.db", "--witness", path / "w", "--key-file", path / "key"]
        self.run("ledger", "create", *self.in_ledger[1:])

    def release(self, *words):
        self.run(*with_recipe("release", *words))

    def file(self, name, text):
        (self.path / name).write_text(text, encoding="utf-8")
        return self.path / name

    def run(self, *words):
        code, shown, err = self._run(*words)
        assert code == 0, err
        return shown

    def opened(self):
        return Ledger.open(self.path / "l.db", key=KEY, witness=self.path / "w", create=True)

    def kept(self, name="r"):
        """The promise as another process reads it."""
        with self.opened() as ledger:
            return ledger.release(name).promise

    def people(self, ledger, **options):
        """A curator and an approver: the application, and the token of each."""
        service = Service(ledger, **options)
        app = application(service, Settings(rate=1e6, burst=10**6))
        roles = {"Ada": "curator", "Grace": "approver"}
        return [(app, service.bearers.make(None, who, who, role, ALL)[1]) for who, role in roles.items()]


def stated(answer):
    """The promise of a statement, read again from its JSON."""
    return stated_release(document(answer)).promise


def document(answer):
    """What an answer is published with: its statement, or of a plan the document, as JSON that was read again."""
    return json.loads(json.dumps(answer.table.facts() if answer.is_by_plan else answer.statement))


def check_pages(statement, promise):
    """The words of a promise on every page that is made of its statement."""
    release = stated_release(json.loads(json.dumps(statement)))
    pages = {
        "page": statement_page(release),
        "registry": json.dumps(registry_entry(release)),
        "screen": " ".join(fact.value for fact in release.first),
        "guarantee": str(release.guarantee),
    }
    for page, text in pages.items():
        for name in WORDS:
            if getattr(promise, name) is not None:
                assert getattr(promise, name) in text, (page, name)


def by_process(world):
    for promise, table in ((CELLS, TABLE), (SUMS, PART)):
        answer = ut.release(table, promise, epsilon=1)
        yield promise, answer.promise, ()
        yield promise, answer.release.at(2).promise, ()
        yield promise, answer.with_confidence("0.9").promise, ()
        yield promise, pickle.loads(pickle.dumps(answer)).promise, ()
        yield promise, stated(answer), UNPUBLISHED
        check_pages(document(answer), promise)


def by_once(world):
    for promise, table in ((CELLS_ONCE, TABLE), (BY_PLAN, PART)):
        answer = ut.release(table, promise, epsilon=1, once=True)
        yield promise, answer.promise, {"noise"} if promise.columns == ("n",) else ()
        yield answer.promise, stated(answer), UNPUBLISHED
        check_pages(document(answer), promise)


def by_plan(world):
    for once in (False, True):
        answer = ut.release(PART, PLAN, epsilon=1, once=once)
        yield BY_PLAN, answer.promise, ()
        yield BY_PLAN, answer.table.promise, ()
    wanted = ut.release(PART, ut.Workload(DOMAIN, {"sex": 1}), epsilon=1)
    yield BY_PLAN, wanted.promise, {"noise"}
    shared = release_shared({"v": PART}, share_level({"v": PLAN}, epsilon=1))
    yield BY_PLAN, shared["v"].promise, ()
    yield BY_PLAN, shared_requests({"v": PART}, share_level({"v": PLAN}, epsilon=1), dataset="d")[0].promise, ()


def by_counted(world):
    """The promise that a counted table makes by itself, in all forms that a table has."""
    assert counted().individual == PART.individual
    for table in (PART, read_counted(world.path / "counted.json"), pickle.loads(pickle.dumps(PART))):
        own = ut.Promise.of_counted(table)
        yield BY_PLAN, own, {"noise", "columns", "public"}
        yield BY_PLAN, ut.release(table, own, epsilon=1).promise, {"noise", "columns", "public"}
        yield BY_PLAN, ut.release(table, own, epsilon=1, once=True).promise, {"noise", "columns", "public"}


def by_several_amounts(world):
    measures = {"income": ut.mean("income", each=(0, 9)), "rent": ut.mean("rent", each=(0, 9))}
    tables = ut.count_measures(EVENTS, DOMAIN, ut.Counting("who", at_most=1), measures, by="sex")
    table = release_measures(tables, epsilon=1)
    for release in table.releases.values():
        yield WHOLE, release.promise, {"noise"}
    yield WHOLE, stated_release(json.loads(json.dumps(table.statement))).promise, {"noise"}
    check_pages(table.statement, WHOLE)
    with world.opened() as ledger:
        for table in (ledger.publish_means("m", tables, epsilon=1), ledger.view_means("m", epsilon="1/2")):
            for release in table.releases.values():
                yield WHOLE, release.promise, {"noise"}
            check_pages(table.statement, WHOLE)


def by_stages(world):
    domain = ut.Domain(town=["x", "y"], sex=["men", "women"])
    table = ut.count_table(EVENTS, domain, COUNTING, by=["town", "sex"])
    release = release_detailed(table, "town", {"sex": "-1000"}, epsilon=1)
    for stage in (release.first, release.fine, release.together):
        yield WHOLE, stage.promise, {"noise"}
    check_pages(release.facts(), WHOLE)


def by_ledger(world):
    for name, table, promise in (("r", TABLE, CELLS), ("s", PART, SUMS), ("p", PART, None)):
        with world.opened() as ledger:
            wanted = BY_PLAN if promise is None else promise
            answer = ledger.publish(name, table, promise or PLAN, epsilon=1, dataset=name, independent=True)
            yield wanted, answer.promise, ()
            yield wanted, ledger.relax(name, table, epsilon=2).promise, ()
            yield wanted, ledger.view(name, epsilon="1/2").promise, ()
            yield wanted, stated(ledger.view(name, epsilon=1)), UNPUBLISHED
        yield wanted, world.kept(name), ()


def by_items(world):
    with world.opened() as ledger:
        yield ITEMS, ledger.publish("r", TABLE, ITEMS, epsilon=1).promise, ()
    yield ITEMS, world.kept(), ()


def by_file(world):
    """Saved, read and verified: table and statement, document, and one table of a document."""
    place = world.path
    for name, promise, table in (("r", CELLS, TABLE), ("s", SUMS, PART)):
        answer = ut.release(table, promise, epsilon=1)
        for path, more in {"r": [("r.csv", {})], "s": [("s.json", {}), ("s.csv", {"marginal": "sex"})]}[name]:
            answer.save(place / path, **more)
            yield promise, ut.read_release(place / path).promise, UNPUBLISHED
            report = json.loads(world.run("verify", place / path, "--json"))
            shown = world.run("verify", place / path).replace("\n", " ")
            for name in WORDS:
                assert getattr(promise, name) in report["guarantee"]
                assert getattr(promise, name) in re.sub(" +", " ", shown)
    assert all(getattr(CELLS, name) in json.dumps(data_package(place / "r.csv")) for name in WORDS)
    CELLS.save(place / "p.json")
    yield CELLS, ut.read_promise(place / "p.json"), ()


def by_derived(world):
    """A clean table, and tables with cells withheld: each holds the release that it is made of, or names it."""
    sums = ut.release(PART, SUMS, epsilon=1)
    withheld = sums.withhold(below=5)["sex"]
    yield SUMS, stated_release(json.loads(json.dumps(withheld.statement_with(None)))).promise, UNPUBLISHED
    check_pages(withheld.statement_with(None), SUMS)
    cells = ut.release(TABLE, CELLS, epsilon=1).withhold(below=5)
    yield CELLS, stated_release(json.loads(json.dumps(cells.statement_with(None)))).promise, UNPUBLISHED
    check_pages(cells.statement_with(None), CELLS)
    sums.save(world.path / "s.json")
    world.run("clean", world.path / "s.json", "--out", world.path / "c.csv", "--given", "total: 2")
    report = json.loads(world.run("verify", world.path / "c.csv", "--release", world.path / "s.json", "--json"))
    assert all(getattr(SUMS, name) in report["guarantee"] for name in WORDS)


def by_client(world):
    with world.opened() as ledger:
        (app, ada), _ = world.people(ledger, approvals=False)
        with connect("http://localhost", ada, transport=Inside(app)) as service:
            for name, table, promise in (("r", TABLE, CELLS), ("s", PART, SUMS), ("p", PART, None)):
                wanted, more = promise or BY_PLAN, {"dataset": name, "independent": True}
                answer = service.publish(name, table, promise or PLAN, epsilon=1, **more)
                yield wanted, answer.promise, UNPUBLISHED
                yield wanted, service.view(name, epsilon="1/2").promise, UNPUBLISHED
                yield wanted, stated(service.view(name, epsilon=1)), UNPUBLISHED
    yield CELLS, world.kept("r"), ()
    yield SUMS, world.kept("s"), ()
    yield BY_PLAN, world.kept("p"), ()


def by_proposal(world):
    with world.opened() as ledger:
        (app, ada), (_, grace) = world.people(ledger)
        with (
            connect("http://localhost", ada, transport=Inside(app)) as curator,
            connect("http://localhost", grace, transport=Inside(app)) as approver,
        ):
            for name, table, promise in (("r", TABLE, CELLS), ("s", PART, SUMS)):
                proposal = curator.propose(PublishRequest(name, promise, level(1), name, independent=True))["name"]
                facts = approver.proposal(proposal)["publication"]
                yield promise, ut.Promise.of_facts(facts["promise"]), ()
                page = Visitor(app, grace).get(f"/proposal?name={proposal}").text
                assert all(getattr(promise, word) in page for word in WORDS)
                approver.decide(proposal, "approved")
                more = {"dataset": name, "independent": True, "proposal": proposal}
                curator.publish(name, table, promise, epsilon=1, **more)
                relaxed = curator.propose(AnswerRequest(name, level(4), 1))["name"]
                page = Visitor(app, grace).get(f"/proposal?name={relaxed}").text
                assert all(getattr(promise, word) in page for word in WORDS)
    yield CELLS, world.kept("r"), ()
    yield SUMS, world.kept("s"), ()


FORM = {"columns": "n", "public": "town", "drop": "id, note", "rows": "observed", "id_column": "id"}
NOISE = {"sensitivity": "3", "cells": "2", "largest": "1000", "epsilon": "1"}


def filled(page, action, sent, ada, files):
    done = ada.fill(page, action, None, files, **sent)
    assert "Published." in done.text, done.text


def by_form(world):
    """The form of the page, filled in as a browser sends it: by hand, by a file, and several measures."""
    CELLS.save(world.path / "p.json")
    SUMS.save(world.path / "s.json")

    def sent(name):
        return (name, (world.path / name).read_bytes(), "application/octet-stream")

    with world.opened() as ledger:
        ada = Visitor(*world.people(ledger, approvals=False)[0])
        page, words = ada.get("/publish"), {name: getattr(CELLS, name) for name in WORDS}
        assert all(f'name="{name}"' in page.text for name in words)
        table = {"table": sent("t.csv")}
        filled(page, "/publish", FORM | NOISE | words | {"name": "r", "independent": "on"}, ada, table)
        file = {"verb": "publish", "kind": "plan", "epsilon": "1", "independent": "on"}
        for name, promise, table in (("f", "p.json", "t.csv"), ("s", "s.json", "counted.json")):
            about = file | {"name": name, "dataset": name, "key": name, "proof": ada_proof(page)}
            done = ada.send("POST", "/publish", data=about, files={"plan": sent(promise), "table": sent(table)})
            assert "Published." in done.text, done.text
        files = {"plan-1": sent("plan.json"), "table-1": sent("counted.json")}
        filled(page, "/publish/measures", {"release-1": "v", "dataset": "v", "independent": "on"}, ada, files)
    yield CELLS, world.kept("r"), ()
    yield CELLS, world.kept("f"), ()
    yield SUMS, world.kept("s"), ()
    yield BY_PLAN, world.kept("v"), ()


def ada_proof(page):
    return page.text.partition('name="proof" value="')[2].partition('"')[0]


def options_of(promise, *names):
    """The options of a command that say the fields of a promise."""
    spelled = {"id_column": "id"}
    options = ["--sensitivity", 3, "--cells", 2]
    for name in names:
        value = getattr(promise, name)
        options += [
            f"--{spelled.get(name, name.replace('_', '-'))}",
            ",".join(value) if isinstance(value, tuple) else value,
        ]
    return options


def listed(value):
    """A value of an option as a recipe has it."""
    return value.split(",") if isinstance(value, str) and "," in value else value


def by_promise_command(world):
    every = [name for name in FIELDS if name not in ("noise", "part", "keyed_by_id", "until", "proved")]
    for promise, more in ((CELLS, ["--largest", 1000]), (ITEMS, ["--largest", 1000, "--noise", "items"])):
        path = world.path / f"{len(more)}.json"
        world.run("promise", *options_of(promise, *every), *more, "--out", path)
        yield promise, ut.read_promise(path), ()
        world.release(world.path / "t.csv", "--promise", path, "--epsilon", 1, *world.in_ledger,
                  "--name", f"n{len(more)}", "--out", world.path / f"o{len(more)}.csv",
                  "--independent", "--dataset", f"d{len(more)}")  # fmt: skip
        yield promise, world.kept(f"n{len(more)}"), ()
    path = world.path / "plan-promise.json"
    texts = [word for name in WORDS for word in (f"--{name.replace('_', '-')}", getattr(SUMS, name))]
    world.run("promise", world.path / "counted.json", "--plan", world.path / "plan.json", *texts,
              "--largest", 1000, "--out", path)  # fmt: skip
    yield SUMS, ut.read_promise(path), ()
    for number, where in enumerate((world.path / "q.json", world.path / "q2.json")):
        kept = [*world.in_ledger, "--name", "q", "--out", where] if number else ["--out", where]
        if not number:  # a largest value needs a ledger
            SUMS.with_noise(SumNoise(PLAN)).save(world.path / "once.json")
        file = path if number else world.path / "once.json"
        world.release(world.path / "counted.json", "--promise", file, "--epsilon", 1, *kept)
        yield SUMS, ut.read_release(where).promise, {"noise"} | UNPUBLISHED


def by_release_command(world):
    """Options and a recipe, once and in a ledger, of cells and of sums."""
    most = [
        name for name in FIELDS if name not in ("noise", "part", "keyed_by_id", "rows", "id_column", "until", "proved")
    ]
    elsewhere = {"rows", "id_column", "keyed_by_id", "noise"}  # a promise in a file says them
    options = options_of(CELLS, *most)
    recipe = "".join(
        f"{key.lstrip('-')} = {json.dumps(listed(value))}\n"
        for key, value in zip(options[::2], options[1::2], strict=True)
    )
    world.file("r.toml", "epsilon = 1\n" + recipe)
    for number, say in enumerate(([*options, "--epsilon", 1], ["--recipe", world.path / "r.toml"])):
        ledger = [*world.in_ledger, "--name", f"r{number}", "--dataset", f"r{number}", "--independent"]
        for way, more in {"cells": ["--once", "cells"], "once": [], "ledger": ledger}.items():
            out = world.path / f"{number} {way}.csv"
            world.release(world.path / "t.csv", *say, *more, "--out", out)
            yield CELLS, ut.read_release(out).promise, elsewhere | UNPUBLISHED
        yield CELLS, world.kept(f"r{number}"), elsewhere
    world.file("two.csv", "id,town,note,n,m\na,x,p,1,3\nb,y,q,2,4\n")
    two = [
        word for word in options_of(ut.Promise(**OF_CELLS | {"columns": ("n", "m")}, **TEXTS), *most)[2:] if word != 2
    ]
    two.remove("--cells")
    out = world.path / "two-out.csv"
    world.release(world.path / "two.csv", *two, "--sensitivity", 3, "--once", "row", "--epsilon", 1, "--out", out)
    yield CELLS, ut.read_release(out).promise, elsewhere | UNPUBLISHED | {"columns"}
    texts = [word for name in TEXTS for word in (f"--{name.replace('_', '-')}", TEXTS[name])]
    sums = {
        "plan": ["--plan", world.path / "plan.json"],
        "want": ["--want", "sex"],
        "cells": [],
        "one way": ["--once", "one-way"],
    }
    for name, say in sums.items():
        out = world.path / f"s {name}{'.json' if name in ('plan', 'want') else '.csv'}"
        world.release(world.path / "counted.json", *say, *texts, "--epsilon", 1, "--out", out)
        yield SUMS, ut.read_release(out).promise, UNPUBLISHED | {"noise", "columns", "public"}
        if name != "one way":
            kept = [*world.in_ledger, "--name", name, "--dataset", name, "--independent"]
            world.release(world.path / "counted.json", *say, *texts, "--epsilon", 1, *kept)
            yield SUMS, world.kept(name), {"noise", "columns", "public"}


def by_events(world):
    """Events that a command counts, and a table that was counted elsewhere."""
    world.file("events.csv", "who,sex\nann,men\nben,women\n")
    world.file("domain.json", json.dumps(DOMAIN.facts()))
    world.file("cells.csv", "sex,n\nmen,3\nwomen,5\n")
    domain = ["--domain", world.path / "domain.json"]
    *counted_here, elsewhere = OF_EVENTS
    for wanted, person in zip(counted_here, (["--person", "who", "--at-most", 1], ["--each-row"]), strict=True):
        out = world.path / f"{wanted.individual}.csv"
        events = [world.path / "events.csv", *person, *domain, "--by", "sex", "--epsilon", 1]
        world.release(*events, "--out", out)
        yield wanted, ut.read_release(out).promise, {"noise"}
        world.release(*events, "--want", "sex", "--out", world.path / f"{out.stem}.json")
        yield wanted, ut.read_release(world.path / f"{out.stem}.json").promise, {"noise", "columns", "public"}
    cells = [world.path / "cells.csv", "--count-column", "n", *domain, "--at-most", 1]
    world.run("count", *cells, "--individual", elsewhere.individual, "--out", world.path / "c.json")
    world.release(world.path / "c.json", "--epsilon", 1, "--out", world.path / "c.csv")
    yield elsewhere, ut.read_release(world.path / "c.csv").promise, {"noise"}


def by_stopping(world):
    """A promise whose release stops as soon as it is accurate: these values never are."""
    answer = ut.release(TABLE, STOPPING, epsilon=1)
    yield STOPPING, answer.promise, ()
    yield STOPPING, stated(answer), UNPUBLISHED
    answer.save(world.path / "r.csv")
    yield STOPPING, ut.read_release(world.path / "r.csv").promise, UNPUBLISHED
    STOPPING.save(world.path / "p.json")
    yield STOPPING, ut.read_promise(world.path / "p.json"), ()
    with world.opened() as ledger:
        (app, ada), (_, grace) = world.people(ledger)
        with (
            connect("http://localhost", ada, transport=Inside(app)) as curator,
            connect("http://localhost", grace, transport=Inside(app)) as approver,
        ):
            proposal = curator.propose(PublishRequest("r", STOPPING, level(1), "r"))["name"]
            facts = approver.proposal(proposal)["publication"]
            yield STOPPING, ut.Promise.of_facts(facts["promise"]), ()
            approver.decide(proposal, "approved")
            sent = curator.publish("r", TABLE, STOPPING, epsilon=1, proposal=proposal)
            yield STOPPING, sent.promise, UNPUBLISHED
        answer = ledger.publish("s", TABLE, STOPPING, epsilon=1, dataset="s", independent=True)
        yield STOPPING, answer.promise, ()
    yield STOPPING, world.kept("r"), ()
    yield STOPPING, world.kept("s"), ()
    most = [
        name for name in FIELDS if name not in ("noise", "part", "keyed_by_id", "rows", "id_column", "until", "proved")
    ]
    options = [*options_of(STOPPING, *most), "--until", "10 %"]
    world.run(
        "promise", *options, "--rows", "observed", "--id", "id", "--largest", 1000, "--out", world.path / "q.json"
    )
    yield STOPPING, ut.read_promise(world.path / "q.json"), ()
    more = [*world.in_ledger, "--name", "o", "--epsilon", 1, "--dataset", "o", "--independent"]
    world.release(world.path / "t.csv", *options, *more)
    yield STOPPING, world.kept("o"), {"rows", "id_column", "noise"}


def by_engine(world):
    """A frame that an engine evaluates, once and in memories; and a file that is read piece by piece."""
    polars = pytest.importorskip("polars")
    frame = polars.LazyFrame(TABLE)
    answer = ut.release(frame, ITEMS_ONCE, epsilon=1, once=True)
    yield ITEMS_ONCE, answer.promise, {"noise"}
    answer.save(world.path / "lazy.csv")
    yield ITEMS_ONCE, ut.read_release(world.path / "lazy.csv").promise, {"noise"} | UNPUBLISHED
    yield ITEMS_ONCE, ut.release(frame, ITEMS_ONCE, epsilon=1).promise, ()
    with world.opened() as ledger:
        yield ITEMS_ONCE, ledger.publish("r", frame, ITEMS_ONCE, epsilon=1).promise, ()
        relaxed = ledger.relax("r", frame, epsilon=2)
        yield ITEMS_ONCE, relaxed.promise, ()
        relaxed.save(world.path / "relaxed.csv")
        yield ITEMS_ONCE, ut.read_release(world.path / "relaxed.csv").promise, UNPUBLISHED
    (folder := world.path / "lake").mkdir()
    polars.DataFrame(TABLE).write_parquet(folder / "t.parquet")
    answer = ut.release(files.large_pieces(folder), CELLS_ONCE, epsilon=1, once=True)
    yield CELLS_ONCE, answer.promise, {"noise"}
    answer.save(world.path / "pieces.parquet")
    yield CELLS_ONCE, ut.read_release(world.path / "pieces.parquet").promise, {"noise"} | UNPUBLISHED


def by_ledger_commands(world):
    """Answers at other levels, by commands."""
    for name, table, promise, file in (("r", TABLE, CELLS, "t.csv"), ("s", PART, SUMS, "counted.json")):
        with world.opened() as ledger:
            ledger.publish(name, table, promise, epsilon=1, dataset=name, independent=True)
        end = "csv" if name == "r" else "json"
        asked = [*world.in_ledger, "--name", name]
        world.run("relax", world.path / file, *asked, "--epsilon", 2, "--out", world.path / f"{name}2.{end}")
        world.run("view", *asked, "--epsilon", "1/2", "--out", world.path / f"{name}3.{end}")
        for number in (2, 3):
            yield promise, ut.read_release(world.path / f"{name}{number}.{end}").promise, UNPUBLISHED


DOORS = {
    "ut.release": by_process, "once": by_once, "plan": by_plan, "counted": by_counted,
    "several amounts": by_several_amounts, "two stages": by_stages, "ledger": by_ledger, "items": by_items,
    "stopping": by_stopping, "engines": by_engine, "ledger commands": by_ledger_commands, "files": by_file,
    "clean and withheld": by_derived, "client": by_client, "proposal": by_proposal, "form": by_form,
    "utmost promise": by_promise_command, "utmost release": by_release_command, "events": by_events,
}  # fmt: skip


def value(promise, name):
    """The value of a field, which two promises have alike: plans are equal as they are written."""
    return promise.noise.facts() if name == "noise" else getattr(promise, name)


def check_arrives(door, path, run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for wanted, found, unsaid in door(World(path, run)):
            for name in FIELDS:
                if name not in unsaid:
                    assert value(found, name) == value(wanted, name), name


def test_each_field_has_a_value_that_is_not_its_default():
    plain = ut.Promise(noise=CellNoise(ut.Unit(1, 1)))
    for name in FIELDS:
        assert any(getattr(promise, name) != getattr(plain, name) for promise in (CELLS, ITEMS, SUMS, STOPPING)), name


def test_each_field_is_on_the_page_of_statements_and_has_a_type_in_the_api(tmp_path, run):
    page = (Path(__file__).parents[2] / "docs/reference/statement.md").read_text(encoding="utf-8")
    of_file = re.search(r"^\| promise, `utmost promise` \|.*$", page, re.MULTILINE)[0]
    world = World(tmp_path / "w", run)
    with world.opened() as ledger:
        described = world.people(ledger)[0][0].inside.openapi()["components"]["schemas"]
    schema = described["PublishBody"]["properties"]["promise"]
    typed = schema["properties"]
    assert [*typed] == FIELDS
    for promise in (CELLS, ITEMS, SUMS, STOPPING):  # `proved` was said to be true or false, which is refused
        jsonschema.Draft202012Validator(schema).validate(json.loads(json.dumps(promise.facts())))
    for name in FIELDS:
        assert {"type", "anyOf", "oneOf"} & {*typed[name]}, name
        assert re.search(rf"`promise\.{name}`", page) or name in UNPUBLISHED, name
        assert f"`{name}`" in of_file, name


@pytest.mark.parametrize("name", WORDS)
def test_an_empty_text_is_refused_by_the_name_of_its_option(name, run):
    with pytest.raises(OutOfRange):
        ut.Promise("n", unit=ut.Unit(1, 1), **{name: ""})
    option = f"--{name.replace('_', '-')}"
    code, shown, said = run("promise", "--columns", "n", "--sensitivity", 1, "--cells", 1, option, "")
    assert (code, shown, option in said, "No such option" in said) == (2, "", True, False), said


def remedied(error):
    """Who one individual is, as the message of an error says that it should be written."""
    return re.search(r'individual="([^"]+)"', error.value.remedy)[1]


@pytest.mark.parametrize("wrong", ["", "one household.", " one household", "one\nhousehold", "x" * 201])
def test_who_one_individual_is_fits_a_sentence(wrong):
    for made in (lambda words: ut.Promise("n", unit=ut.Unit(1, 1), individual=words),
                 lambda words: CountedTable(DOMAIN, [1, 2], ut.Unit(1, 1), individual=words)):  # fmt: skip
        with pytest.raises(OutOfRange) as error:
            made(wrong)
        assert made(remedied(error)).individual == "one household"
    with pytest.raises(WrongKind):
        ut.Promise("n", unit=ut.Unit(1, 1), individual=1)


def test_a_promise_says_no_other_individual_than_was_counted(tmp_path, run):
    with pytest.raises(OutOfRange, match=r"Promise\.of_counted"):
        ut.release(PART, replace(BY_PLAN, individual="one household"), epsilon=1)
    assert ut.release(PART, ut.Promise.of_counted(PART), epsilon=1).promise.individual == PART.individual
    assert ut.release(PART, replace(BY_PLAN, individual=None), epsilon=1).promise == BY_PLAN
    world = World(tmp_path / "w", run)
    code, _, said = world._run(
        *with_recipe("release", world.path / "counted.json", "--individual", "one household", "--epsilon", 1)
    )
    assert code == 2
    assert "utmost promise COUNTED.json" in " ".join(said.split())
    world.run("promise", world.path / "counted.json", "--out", world.path / "promise.json")
    world.release(world.path / "counted.json", "--promise", world.path / "promise.json", "--epsilon", 1)
    world.file("events.csv", "who,sex\nann,men\n")
    world.file("domain.json", json.dumps(DOMAIN.facts()))
    events = [world.path / "events.csv", "--each-row", "--domain", world.path / "domain.json"]
    code, _, said = world._run("count", *events, "--individual", "one household", "--out", world.path / "c.json")
    assert (code, "Leave out --individual" in said.replace("\n", " ")) == (2, True)
    world.run("count", *events, "--out", world.path / "c.json")


def test_the_page_asks_who_one_individual_is_where_nobody_says_it():
    for individual, is_asked in ((None, True), ("one household", False)):
        promise = ut.Promise("n", unit=ut.Unit(1, 1), individual=individual)
        page = statement_page(stated_release(ut.release({"n": [1]}, promise, epsilon=1).statement))
        assert ("Ask who one individual is" in page) == is_asked


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_every_field_arrives(door, tmp_path, run):
    check_arrives(door, tmp_path / "w", run)


@pytest.mark.parametrize("cell", ["1,5", "1'200", "1.200,50", "$5", 1.5])
def test_a_page_names_no_call_of_the_library(cell):
    """Whoever uploads a table in a browser cannot declare marks of numbers; a page asks for plain numbers."""
    with pytest.raises(ut.errors.UtmostError) as refused:
        ut.release({"n": [cell]}, ut.Promise("n", unit=ut.Unit(1, 1)), epsilon=1)
    told = in_fields(str(refused.value))
    assert "ut." not in told
    assert "decimal point" in told or "“The values”" in told
