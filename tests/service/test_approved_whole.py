"""Whoever approves is shown the promise that is released: every field of it, changed, is a change on the page."""

import html
import json
import re
from dataclasses import fields, replace
from fractions import Fraction
from hashlib import sha256

import pytest

import utmost as ut
from asking import PROMISE_TEXTS
from asking import promised as a_promise
from documents.test_codec import changed
from service.conftest import TABLE, TERMS, keep
from service.publications import Terms, propose_by, relax_by
from service.test_description import OPEN
from service.test_http import Caller
from service.visiting import Visitor
from utmost.errors import NotAllowed, OutOfRange, UnknownRecord, Unsupported
from utmost.exact import level

# Every field of every request is compared with what an approver is shown, by the functions that make it.
from utmost.interfaces.service.pages.shown_promise import exact_text, of_release, of_request, visible
from utmost.interfaces.service.publish_requests import LONGEST_REQUEST
from utmost.privacy import Amount, Unit
from utmost.promises import DistributionNoise, Noise, Promise, key_noise, selected_cell_noise, together_noise, within
from utmost.publish.promises.noise_kinds import KINDS, kind_named
from utmost.releases import Texts
from utmost.service import application
from utmost.workloads import Domain, Plan, ages

ONE_STORE = True

ONE = level(1)
DOMAIN = Domain(sex=["men", "women"], age=["young", "old"])


def plan(unit=None, domain=DOMAIN, shares=None):
    return Plan(domain, unit or Unit(1, 2), {"sex": "3/4", "": "1/4"} if shares is None else shares)


def promised(**words):
    return a_promise(**{"columns": ["n"], "unit": Unit(2, 3)} | words)


def named(distribution):
    return Promise(["n"], noise=DistributionNoise(Unit(3, 1), distribution))


def of_plan(plan):
    return Promise(noise=plan)


REAL = {"numbers": "reals", "grid": "1/4"}
CHANGE = Unit(2, 3, "change-one")
# Two promises that differ in one field alone, and a word that stands on the page for each of them.
PROMISES = {
    "columns": (promised(), promised(columns=["n", "m"]), "m"),
    "public": (promised(public=["town"]), promised(public=["town", "salary"]), "salary"),
    "drop": (promised(), promised(drop=["notes"]), "notes"),
    "rows": (promised(), promised(rows="observed"), "found in the data"),
    "id_column": (promised(), promised(id_column="person"), "person"),
    "keyed_by_id": (promised(id_column="person"), promised(id_column="person", keyed_by_id=True), "yes"),
    "noise": (promised(), promised(unit=Unit(5, 3)), "5"),
    "part": (promised(), promised(part=("town", "Bern")), "Bern of town"),
    "proved": (promised(), promised(proved=True), "proved: utmost counts the table"),
    "until": (promised(), promised(until=within("7 %", steps=3)), "7 % of its released value"),
    **{name: (promised(), promised(**{name: text}), text) for name, text in PROMISE_TEXTS.items()},
}
UNITS = {
    "sensitivity": (Unit(2, 3), Unit(7, 3), "7"),
    "cells": (Unit(2, 3), Unit(2, 8), "8"),
    "neighbours": (Unit(2, 3), CHANGE, "change-one"),
    "amount": (Unit(2, 3), Unit(2, 3, amount=Amount("paid", "0.05")), "paid"),
    "nonnegative": (CHANGE, replace_unit := Unit(2, 3, "change-one", nonnegative=True), "can lower a cell: no"),
    "in_total": (Unit(2, 3), Unit(2, 3, in_total=4), "4"),
    "exactly": (replace_unit, Unit(2, 3, "change-one", nonnegative=True, exactly=True), "the total: public"),
}
AMOUNTS = {
    "name": (Amount("paid"), Amount("earned"), "earned"),
    "step": (Amount("paid", "1"), Amount("paid", "0.05"), "0.05"),
    "between": (Amount("paid"), Amount("paid", between=(0, 40)), "40"),
    "distinct": (Amount("paid"), Amount("paid", distinct=17), "17"),
    "missing": (Amount("paid", between=(0, 40)), Amount("paid", between=(0, 40), missing=True), "left out"),
}
PAIRS = together_noise(["n", "m"], unit=Unit(1, 2))
NAMED = selected_cell_noise(["key", "n"], Texts("ab", most=3))
KEYS = key_noise(["key", "n"], delta="1e-6")
NOISES = {
    "half_step": (promised(unit=Unit(3, 1)), promised(unit=Unit(3, 1), half_step=True), "half steps"),
    "grid": (promised(**REAL), promised(**REAL | {"grid": "1/8"}), "1/8"),
    "largest": (promised(), promised(largest=4711), "4711"),
    "numbers": (promised(), promised(**REAL), "reals"),
    "unit": (promised(), promised(unit=Unit(7, 3)), "7"),
    "plan": (of_plan(plan()), of_plan(plan(shares={"sex": "1/2", "": "1/2"})), "1/2 of the level"),
    "chance": (KEYS, key_noise(["key", "n"], delta="1e-7"), "1/10000000"),
    "shares": (KEYS, key_noise(["key", "n"], delta="1e-6", shares=64), "64"),
    "universe": (NAMED, selected_cell_noise(["key", "n"], Texts("abc", most=3)), "abc"),
    "false_keys": (NAMED, selected_cell_noise(["key", "n"], Texts("ab", most=3), false_keys=3), "3"),
    "columns": (PAIRS, together_noise(["n", "other"], unit=Unit(1, 2)), "other"),
    "distribution": (named("Geometric"), named("DiscreteStaircase(step=1)"), "DiscreteStaircase(step=1)"),
    "way": (PAIRS, together_noise(["n", "m"], unit=Unit(1, 2), noise="independent"), "independent"),
    "cost": (PAIRS, together_noise(["n", "m"], unit=Unit(1, 2), cost="squared"), "squared"),
}  # fmt: skip
# Not promised by themselves: they follow from the others, or are not served.
FOLLOWS = {"lattice", "per", "dimensions"}


def as_promise(promise):
    """A promise, or that of a noise which says itself whom it protects."""
    return promise if isinstance(promise, Promise) else Promise(list(promise.columns), noise=promise)


def read(promise, **more):
    """What a page shows of a promise as words, without the text letter for letter."""
    shown = of_request(Terms(as_promise(promise), **more).request("x", ONE, 1).facts(), "Ada")
    return [shown.guarantee, *(f"{line.of}: {line.words}" for line in (*shown.first, *shown.experts)),
            *(f"{listed.of}: {name}" for listed in shown.lists for name in listed.names)]  # fmt: skip


def check_changed(before, after, word, **more):
    """Check that what is shown of two promises differs in a line, which has the word."""
    first, second = read(before), read(after, **more)
    news = [line for line in second if line not in first]
    assert any(word in line for line in news), (word, news)


def test_every_field_of_a_promise_is_shown():
    assert PROMISES.keys() == {field.name for field in fields(Promise)}
    for before, after, word in PROMISES.values():
        check_changed(before, after, word)
    check_changed(promised(), promised(), "Ada has declared", independent=True)
    check_changed(promised(), promised(), "people", dataset="people")


@pytest.mark.parametrize("of", [*UNITS])
def test_every_field_of_a_unit_is_shown(of):
    """Of a plan, which keeps the unit in its own text; of columns where they keep it."""
    assert UNITS.keys() == {field.name for field in fields(Unit)}
    before, after, word = UNITS[of]
    check_changed(*(of_plan(plan(unit)) for unit in (before, after)), word)
    if of in ("sensitivity", "cells", "neighbours", "amount"):
        check_changed(promised(unit=before), promised(unit=after), word)


@pytest.mark.parametrize("of", [*AMOUNTS])
def test_every_field_of_an_amount_is_shown(of):
    assert AMOUNTS.keys() == {field.name for field in fields(Amount)}
    before, after, word = AMOUNTS[of]
    plans = [
        plan(
            Unit(40, 2, amount=amount),
            Domain(sex=["men", "women"], paid=["above 0", "below 40", *(["missing"] if amount.missing else [])]),
            {"sex paid": 1},
        )
        for amount in (before, after)
    ]
    check_changed(*(of_plan(one) for one in plans), word)


def test_every_field_of_each_kind_of_noise_is_shown():
    """Of all kinds that there are: whoever adds one, or a field, adds it here."""
    kinds = [kind for kind in map(kind_named, KINDS) if issubclass(kind, Noise)]
    there = {field.name for kind in kinds for field in fields(kind)}
    assert there <= NOISES.keys() | FOLLOWS, there - NOISES.keys() - FOLLOWS
    for before, after, word in NOISES.values():
        check_changed(before, after, word)


def leaves(facts, path=()):
    """Every leaf of JSON values, with where it stands."""
    if isinstance(facts, dict) or (isinstance(facts, list) and facts):
        parts = facts.items() if isinstance(facts, dict) else enumerate(facts)
        for name, part in parts:
            yield from leaves(part, (*path, name))
    else:
        yield path, facts


@pytest.mark.parametrize(
    "promise",
    [
        promised(public=["town"], drop=["notes"], id_column=["a", "b"], part=("town", "Bern"), largest=9, **REAL),
        of_plan(plan(Unit(2, 3, "change-one", Amount("paid"), True, 5, False))),
        KEYS, NAMED, PAIRS, named("DiscreteStaircase(step=1)"),
    ],
)  # fmt: skip
def test_every_leaf_of_the_terms_is_shown(promise):
    """Whatever stands anywhere in the JSON that is approved: another leaf is another line, and stands in it."""
    facts = Terms(as_promise(promise)).request("x", ONE, 1).facts()
    nested = json.loads(json.dumps(facts))
    if plan := nested["promise"]["noise"].get("plan"):
        nested["promise"]["noise"]["plan"] = json.loads(plan)
    for path, leaf in leaves(nested):
        told = changed(nested, path, "zq-7")
        noise = told["promise"]["noise"]
        if isinstance(noise.get("plan"), dict):
            noise["plan"] = json.dumps(noise["plan"])
        shown = of_request(told, "Ada")
        words = [line.words for line in (*shown.first, *shown.experts)] + [
            name for listed in shown.lists for name in listed.names
        ]
        assert any("zq-7" in line for line in words), (path, leaf)
        assert "zq-7" in exact_text(told)
        assert shown.digest != of_request(facts, "Ada").digest


@pytest.fixture
def grace(service, bearer):
    return Visitor(application(service, OPEN), bearer("Grace", "approver"))


def page_of(grace, name):
    return html.unescape(grace.get(f"/proposal?name={name}").text)


def test_nothing_of_a_long_promise_is_cut(service, who, grace):
    """Forty-five marginals, thirty public columns, five hundred labels: each stands on the page, and in the JSON."""
    labels = [f"label {number}" for number in range(500)]
    names = [f"axis{number}" for number in range(9)]
    domain = Domain({"town": labels} | {name: ["a", "b"] for name in names})
    marginals = [f"{one} {other}" for at, one in enumerate(names) for other in names[at + 1 :]] + names
    plan = Plan(domain, CHANGE, dict.fromkeys(marginals, Fraction(1, len(marginals))))
    public = [f"column {number}" for number in range(29)] + ["salary"]
    ada = who("Ada", "curator")
    of_plan = propose_by(service, ada, "1", "publish", "x", ONE, terms=Terms.read({"noise": plan, "independent": True}))
    of_columns = propose_by(
        service,
        ada,
        "2",
        "publish",
        "y",
        ONE,
        terms=Terms.read({"columns": "n", "public": public, "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}}),
    )
    seen = page_of(grace, of_plan.name)
    assert all(f"<li>{marginal}, with" in seen for marginal in marginals)
    assert all(f"<li>{label}<" in seen for label in labels)
    said = (
        "multiplies or divides the chance",
        "change-one",
        "Ada has declared that these people are in no other dataset",
        "spent after",
    )
    places = [seen.index(word) for word in (*said[:3], marginals[0])]
    assert places == sorted(places), "guarantee, unit and declaration before the lists"
    assert all(word in seen for word in said)
    seen = page_of(grace, of_columns.name)
    assert all(f"<li>{name}</li>" in seen for name in public)
    caller = Caller(application(service, OPEN), grace.presented)
    told = caller("GET", f"/v1/proposals/{of_columns.name}").json()
    assert told["publication"]["promise"]["public"] == public
    assert ["salary" in listed["names"] for listed in told["promise"]["lists"]][:1] == [True]


def test_the_page_says_what_an_approver_confirms(service, who, published, grace, bearer):
    """Who one individual is, what is taken on the proposer's word, and what else the same people may have spent."""
    ada = who("Ada", "curator")
    made = propose_by(service, ada, "1", "publish", "x", ONE, terms=TERMS)
    seen = " ".join(page_of(grace, made.name).split())
    for word in (
        "If you approve, only Ada can upload the table.",
        "One individual may be a person, a household or a visit: ask Ada which.",
        "the list of rows and the public columns would be the same without any one individual",
        "Ada has not declared that these people are in no other dataset.",
        "<li>admissions: 0.25</li>",
        "If one of them is about the same people, refuse, and ask for one budget.",
        "none is set: any further release is allowed",
        "By approving you confirm that you asked Ada, who told you:",
    ):
        assert word in seen, word
    observed = Terms(promised(rows="observed"))
    seen = page_of(grace, propose_by(service, ada, "2", "publish", "y", ONE, terms=observed).name)
    assert "the public columns were not taken" in seen
    assert "the list of rows and" not in seen
    some = Visitor(application(service, OPEN), bearer("Dan", "approver", ("x", None)))
    assert "admissions" not in page_of(some, made.name)


def test_an_amount_has_its_own_unit_and_bins_have_words_for_open_ends(service, who, grace):
    """The page said 10000000, without a unit, where the guarantee says 100000; and "at most" over counts and sums."""
    group = ages("born", [0, 65, None], on="2025-01-01")
    people = {"born": ["1980-01-01"], "income": [3]}
    measure = ut.mean("income", each=(0, 100_000), step="0.01")
    counted = ut.count_table(people, Domain(age=group), ut.Counting(each_row=True), measure=measure)
    terms = Terms(Promise.of_counted(counted))
    made = propose_by(service, who("Ada", "curator"), "1", "publish", "incomes", ONE, terms=terms)
    seen = " ".join(re.sub("<[^>]*>", " ", page_of(grace, made.name)).split())
    for word in (
        "one individual changes a cell by at most 100000 of income, 10000000 steps",
        "declaration of age: 5 ages: 0 ages: 65 ages: no end",
        "age: income_mean, to be divided by count: ± 299574",
    ):
        assert word in seen, word
    assert "confidence: at most" not in seen


def test_the_bound_of_all_cells_has_the_unit_of_its_amount_and_no_number_is_too_long_to_show():
    """The bound was in steps, without a unit; and a written exponent took a page minutes."""
    unit = Unit(500_000, 2, amount=Amount("spent", "0.01"), in_total=700_000)
    facts = Terms(as_promise(of_plan(plan(unit)))).request("x", ONE, 1).facts()
    lines = [line.words for line in of_request(facts, "Ada").first]
    assert {"5000 of spent, 500000 steps", "7000 of spent, 700000 steps"} < {*lines}
    forged = json.loads(json.dumps(facts).replace("500000", "1e2000000000"))
    assert "1e2000000000" in [line.words for line in of_request(forged, "Ada").first]


def test_a_relaxation_shows_the_promise_of_the_release(service, who, published, grace):
    """At its level; and of a release that is not there nothing can be approved."""
    ada = who("Ada", "curator")
    there = propose_by(service, ada, "1", "relax", "admissions", level(3))
    seen = page_of(grace, there.name)
    for word in (
        "at most 20.1 (epsilon",
        "<li>department</li>",
        "<li>admitted</li>",
        "add-remove",
        "spends the budget of",
    ):
        assert word in seen, word
    gone = keep(service, 9, "relax", {}, release="tomorrow")
    seen = page_of(grace, gone)
    assert "You cannot approve this proposal" in seen
    assert ">Approve" not in seen
    approver = who("Grace", "approver")
    with pytest.raises(Unsupported, match="relaxation"):
        service.proposals.decide(approver, gone, "approved")
    assert service.proposals.decide(approver, gone, "refused", "not there").state == "refused"


def test_what_is_not_shown_whole_cannot_be_approved(service, who, grace):
    """Terms that are too long, that are gone, or that cannot be read: refused here, by page, and by the API."""
    long = TERMS.facts() | {"public": ["x" * 1000] * (LONGEST_REQUEST // 1000)}
    with pytest.raises(OutOfRange, match="524288"):
        propose_by(service, who("Ada", "curator"), "l", "publish", "x", ONE, terms=Terms.read(long))
    kept = TERMS.request("a", ONE, 1).facts()
    kept = [
        kept | {"promise": kept["promise"] | {"public": long["public"]}},
        kept | {"promise": {"columns": 7}},
        {"columns": 7},
    ]
    names = [keep(service, number, "publish", facts) for number, facts in enumerate(kept, 1)]
    app = application(service, OPEN)
    for name in names:
        page = grace.get(f"/proposal?name={name}")
        assert grace.fill(page, "/proposals/decision", {"state": "approved"}).status_code == 422
        answer = Caller(app, grace.presented)("POST", f"/v1/proposals/{name}/decision", json={"state": "approved"})
        assert answer.status_code == 422, answer.text


def test_signs_that_do_not_show_are_written_out(service, who, grace):
    """A column whose name hides something looks like no other column."""
    names = ["sal\u200bary", "\u202eyralas", "salary ", "salary", "a, b"]
    terms = Terms.read({"columns": "n", "public": names, "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}})
    made = propose_by(service, who("Ada", "curator"), "1", "publish", "x", ONE, terms=terms)
    seen = page_of(grace, made.name)
    items = re.findall("<li>([^<]*)</li>", seen)
    assert items[1:6] == ["sal\\u200bary", "\\u202eyralas", '"salary "', "salary", "a, b"]
    assert "\u202e" not in seen
    assert visible("") == '""'


def test_every_field_of_a_release_that_is_relaxed_is_shown(service, who, published):
    release = service.ledger.release("admissions", 1)
    shown = of_release(release, ONE)
    words = [line.words for line in (*shown.first, *shown.experts)] + [
        name for listed in shown.lists for name in listed.names
    ]
    assert {"admitted", "department", "admissions", "3"} <= {*words}
    before = json.dumps([shown.kept()])
    promise, words = release.promise, {"columns": "admitted", "public": "department", "unit": Unit(1, 1)}
    promises = [Promise(**words | changes) for changes in (
        {"columns": "zq"}, {"public": "zq"}, {"rows": "observed"}, {"id_column": "zq"}, {"part": ("zq", "b")},
    )]  # fmt: skip
    assert Promise(**words) == promise
    others = [replace(release.request, promise=other) for other in promises] + [replace(release.request, dataset="zq")]
    requested = [replace(release, facts={**release.facts, **one.facts()}, dataset=one.dataset) for one in others]
    for other in (replace(release, rows=77), *requested):
        assert json.dumps([of_release(other, ONE).kept()]) != before, other


def test_another_person_withdraws_nothing(service, who, published, grace, bearer):
    """Its proposer does, by API and page, before the table is brought; then nobody can approve or use it."""
    ada, bob, approver = who("Ada", "curator"), who("Bob", "curator"), who("Grace", "approver")
    made = [propose_by(service, ada, f"{k}", "relax", "admissions", level(k)) for k in (2, 3, 4)]
    for other in (bob, approver, who("Ida", "curator", ("other",))):
        with pytest.raises((NotAllowed, UnknownRecord)):
            service.proposals.withdraw(other, made[0].name)
    service.proposals.decide(approver, made[1].name, "approved")
    for one in made[:2]:
        assert service.proposals.withdraw(ada, one.name).state == "withdrawn"
        assert service.proposals.withdraw(ada, one.name).state == "withdrawn"
        with pytest.raises(NotAllowed):
            service.proposals.decide(approver, one.name, "approved")
    with pytest.raises(Exception, match="approved"):
        relax_by(service, ada, "k", "admissions", TABLE, level(3), proposal=made[1].name)
    own = Visitor(application(service, OPEN), bearer("Ada", "curator"))
    page = own.get(f"/proposal?name={made[2].name}")
    assert "Withdrawn." in own.fill(page, "/proposals/withdrawal").text
    assert service.waiting.all(approver) == []
    done = next(one for one in service.proposals.all(ada) if one.verb == "publish")
    with pytest.raises(NotAllowed, match="cannot be withdrawn"):
        service.proposals.withdraw(ada, done.name)


def test_a_refusal_has_a_reason_that_its_proposer_reads(service, who, grace, bearer):
    made = propose_by(service, who("Ada", "curator"), "1", "publish", "x", ONE, terms=TERMS)
    page = grace.get(f"/proposal?name={made.name}")
    assert grace.fill(page, "/proposals/decision", {"state": "refused"}).status_code == 422
    assert "Refused." in grace.fill(page, "/proposals/decision", {"state": "refused"}, reason="epsilon 1/2 does").text
    own = Visitor(application(service, OPEN), bearer("Ada", "curator"))
    assert "epsilon 1/2 does" in own.get("/proposals").text
    assert "Reason of Grace: epsilon 1/2 does" in own.get(f"/proposal?name={made.name}").text
    told = Caller(own.app, own.presented)("GET", f"/v1/proposals/{made.name}").json()
    assert told["proposal"]["decision_reason"] == "epsilon 1/2 does"


def test_proposals_of_one_person_are_bounded_by_number_size_and_day(service, who, monkeypatch, clock):
    """Whatever token and spelling of the name; what was decided or withdrawn makes room, and others are not held up."""
    ada, same, bob, approver = (
        who("Ada", "curator"), who("Ada", "curator", ("x",)), who("Bob", "curator"), who("Grace", "approver")
    )  # fmt: skip
    monkeypatch.setattr("utmost.interfaces.service.proposals.MOST_WAITING_OF_ONE", 3)
    terms = replace(TERMS, independent=True)
    names = [propose_by(service, one, f"{k}", "publish", "x", ONE, terms=terms).name
             for k, one in enumerate((ada, same, ada))]  # fmt: skip
    for one in (ada, same):
        with pytest.raises(NotAllowed, match="withdraw some"):
            propose_by(service, one, "more", "publish", "x", ONE, terms=terms)
    assert propose_by(service, ada, "0", "publish", "x", ONE, terms=terms).name == names[0], "asked again"
    propose_by(service, bob, "b", "publish", "x", ONE, terms=terms)
    service.proposals.withdraw(ada, names[0])
    service.proposals.decide(approver, names[1], "refused", "no")
    for key in ("4", "5"):
        propose_by(service, ada, key, "publish", "x", ONE, terms=terms)
    monkeypatch.setattr("utmost.interfaces.service.proposals.MOST_WAITING_OF_ONE", 100)
    monkeypatch.setattr("utmost.interfaces.service.proposals.MOST_CHARACTERS_OF_ONE", 3 * 1000)
    large = Terms.read(terms.facts() | {"public": ["y" * 2000]})
    with pytest.raises(NotAllowed, match="3000 characters"):
        propose_by(service, ada, "6", "publish", "x", ONE, terms=large)
    monkeypatch.setattr("utmost.interfaces.service.proposals.MOST_A_DAY", 6)
    propose_by(service, ada, "7", "publish", "x", ONE, terms=terms)
    with pytest.raises(NotAllowed, match="a day"):
        propose_by(service, ada, "8", "publish", "x", ONE, terms=terms)
    clock.now += 86_400
    propose_by(service, ada, "8", "publish", "x", ONE, terms=terms)


def test_a_list_reads_a_page_and_no_terms(service, who, monkeypatch):
    """However many there are; whoever is for one release reads those of that one alone."""
    ada, eve = who("Ada", "curator"), who("Eve", "approver", ("mine",))
    for number in range(30):
        release = "mine" if number in (3, 17) else f"x{number}"
        propose_by(service, ada, f"{number}", "publish", release, ONE, terms=TERMS)
    everything = [one.name for one in service.proposals.all(ada)]
    transaction, kinds = service.context.records.read(type), []
    read = transaction._read
    monkeypatch.setattr(transaction, "_read", lambda store, kind, *more: kinds.append(kind) or read(store, kind, *more))
    page, following = service.proposals.page(ada, most=1)
    assert ([one.name for one in page], following) == (everything[:1], everything[0])
    assert len(kinds) <= 4
    assert "publication" not in kinds
    page, following = service.proposals.page(ada, following, 5)
    assert [one.name for one in page] == everything[1:6]
    kinds.clear()
    assert [one.release for one in service.proposals.page(eve)[0]] == ["mine"] * 2
    assert len(kinds) <= 4
    with pytest.raises(UnknownRecord):
        service.proposals.page(eve, everything[0])


def test_the_page_names_what_else_waits_for_the_same_budget(service, who, grace, bearer):
    """Two proposals, each within the limit, and together beyond it: both pages say so, until one is withdrawn."""
    ada, limit = who("Ada", "curator"), level(1)
    service.ledger.budget("loans", limit)
    terms = replace(TERMS, dataset="loans")
    made = [propose_by(service, ada, name, "publish", name, level("3/4"), terms=terms) for name in ("t1", "t2")]
    service.proposals.decide(who("Grace", "approver"), made[0].name, "approved")
    seen = " ".join(page_of(grace, made[1].name).split())
    assert "t1, ε = 0.75" in seen
    assert "at most</th><td>1.5<" in seen
    assert "All waiting proposals for loans together exceed its limit." in seen
    some = Visitor(application(service, OPEN), bearer("Dan", "approver", ("t2",)))
    told = " ".join(some.get(f"/proposal?name={made[1].name}").text.split())
    assert ("t1" in told, "proposals that your token does not show" in told) == (False, False)  # nor the budget
    service.proposals.withdraw(ada, made[0].name)
    alone = page_of(grace, made[1].name)
    assert ("t1" in alone, "together exceed" in alone) == (False, False)


def test_the_page_of_a_relaxation_has_all_that_the_page_of_a_publication_has(service, who, published, grace):
    """The levels so far and what they cost together, the whole request with its digest, and what an approver says."""
    made = propose_by(service, who("Ada", "curator"), "1", "relax", "admissions", ONE)
    seen = " ".join(page_of(grace, made.name).split())
    for words in (
        "This release was answered at ε = 0.25. All its answers together cost the largest ε, not the sum: ε = 1.",
        "By approving you confirm that you asked Ada",
        "The complete request, letter for letter",
        "The promise also assumes that",
    ):
        assert words in seen, words
    exact = html.unescape(re.search(r'<pre class="exact">(.*?)</pre>', page_of(grace, made.name), re.DOTALL)[1])
    digest = re.search(r"SHA-256 ([0-9a-f]{64})", seen)[1]
    whole = json.loads(exact)
    assert sha256(json.dumps(whole, sort_keys=True, separators=(",", ":")).encode()).hexdigest() == digest
    assert (whole["level"], whole["name"], whole["promise"]["columns"]) == ("1", "admissions", ["admitted"])
