"""What cannot be undone needs a second person, once, for just that."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from service.conftest import ALL, TABLE, TERMS, keep, publish, relax
from service.publications import Terms, propose_by, publish_by, relax_by
from service.test_description import OPEN
from service.visiting import Visitor
from utmost.counting import CountedTable
from utmost.errors import (
    AlreadyPublished,
    DataChanged,
    LedgerDamaged,
    NeedsApproval,
    NotAllowed,
    NotPublished,
    OutOfRange,
    RequestReused,
    UnknownRecord,
    WrongKind,
)
from utmost.exact import level

# What an approver is shown beforehand, and the chain of the trail, by the functions that make them.
from utmost.interfaces.service.access.first_start import new_admin
from utmost.interfaces.service.api.problems import problem_of
from utmost.interfaces.service.proposal_preview import preview
from utmost.interfaces.service.trail import check_lines
from utmost.ledger import AnswerRequest
from utmost.privacy import Unit
from utmost.service import Grant, Settings, application
from utmost.workloads import Domain, Plan

ONE_STORE = True

PLAN = Plan(Domain(sex=["men", "women"], outcome=["yes", "no"]), Unit(1, 1), {"sex": 1})
PLANNED = {"noise": ut.SumNoise(PLAN).facts()}
HALF, QUARTER, ONE = level("1/2"), level("1/4"), level(1)


def test_nothing_is_said_without_approval(service, who):
    curator = who("Ada", "curator")
    with pytest.raises(NeedsApproval):
        publish_by(service, curator, "k", "admissions", TABLE, ONE, TERMS)
    proposal = propose_by(service, curator, "p", "publish", "admissions", ONE, terms=TERMS)
    with pytest.raises(NeedsApproval):
        publish_by(service, curator, "k", "admissions", TABLE, ONE, TERMS, proposal=proposal.name)
    service.proposals.decide(who("Grace", "approver"), proposal.name, "refused", "too much")
    with pytest.raises(NeedsApproval):
        publish_by(service, curator, "k", "admissions", TABLE, ONE, TERMS, proposal=proposal.name)
    assert service.ledger.releases == ()


def test_an_approval_is_for_just_what_was_proposed(service, who):
    """Another level, name, version or promise needs another approval."""
    curator = who("Ada", "curator")
    proposal = propose_by(service, curator, "p", "publish", "admissions", QUARTER, terms=TERMS)
    service.proposals.decide(who("Grace", "approver"), proposal.name, "approved")
    asked = {"proposal": proposal.name}
    larger = Terms.read(TERMS.facts() | {"noise": TERMS.facts()["noise"] | {"cells": "2"}})
    for key, name, at, terms, more in (
        ("1", "admissions", ONE, TERMS, {}),
        ("2", "others", QUARTER, TERMS, {}),
        ("3", "admissions", QUARTER, larger, {}),
        ("4", "admissions", QUARTER, TERMS, {"version": 2}),
    ):
        with pytest.raises(NeedsApproval):
            publish_by(service, curator, key, name, TABLE, at, terms, **asked, **more)
    made = publish_by(service, curator, "5", "admissions", TABLE, QUARTER, TERMS, **asked)
    assert list(made) == ["department", "admitted", "admitted_margin"]


def test_a_decision_stands(service, who):
    proposal = propose_by(service, who("Ada", "curator"), "p", "publish", "admissions", ONE, terms=TERMS)
    approver = who("Grace", "approver")
    once = service.proposals.decide(approver, proposal.name, "approved")
    assert service.proposals.decide(approver, proposal.name, "approved") == once
    with pytest.raises(NotAllowed, match="already approved"):
        service.proposals.decide(approver, proposal.name, "refused", "too much")


def test_the_same_request_gives_the_same_answer_in_any_worker(opened, service, who):
    """Published and relaxed again under their keys, from another worker: the very values; others are refused."""
    curator = publish(service, who, QUARTER)
    first = relax(service, who, ONE)
    other = opened()
    again = relax(other, who, ONE)
    assert again["admitted"] == first["admitted"]
    with pytest.raises(RequestReused):
        propose_by(other, curator, f"r admissions {ONE}", "relax", "admissions", HALF)


def test_a_relax_needs_approval_and_the_same_values(service, who, published):
    with pytest.raises(NeedsApproval):
        relax_by(service, published, "k", "admissions", TABLE, ONE)
    changed = {"department": ["A", "B", "C"], "admitted": [601, 371, 322]}
    with pytest.raises(DataChanged):
        relax(service, who, ONE, table=changed)
    assert len(relax(service, who, ONE)["admitted"]) == 3


def test_a_curator_for_a_level_publishes_up_to_it(opened, who, service):
    alone = opened(approvals=False)
    curator, apart = who("Ada", "curator", ("admissions", HALF)), replace(TERMS, independent=True)
    for at, terms in ((ONE, apart), (HALF, TERMS)):
        with pytest.raises(NotAllowed):
            publish_by(alone, curator, "k", "admissions", TABLE, at, terms)
    publish_by(alone, curator, "k", "admissions", TABLE, HALF, apart)


def test_auditors_are_told_what_was_declared_and_not_compared(opened, who, service):
    """Two curators of different scopes hold the same values, each declaring that they are nobody else's: the auditor
    sees both, with who declared it and the other datasets; the curators do not. The list is the same where the values
    are others, so it tells nobody of values; and a curator for all releases, who is compared, is not on it."""
    alone, auditor = opened(approvals=False), who("Di", "auditor")
    apart = replace(TERMS, independent=True)
    for owner, name, dataset in (("Ada", "admissions", None), ("Eve", "wages", "people")):
        curator, terms = who(owner, "curator", (name, HALF)), replace(apart, dataset=dataset)
        publish_by(alone, curator, "k", name, TABLE, HALF, terms)
        with pytest.raises(NotAllowed):
            alone.audit.separate_datasets(curator)
    other = {"department": ["A", "B", "C"], "admitted": [1, 2, 3]}
    publish_by(alone, who("Max", "curator"), "k", "third", other, HALF, apart)
    about = {"version": 1}
    assert alone.audit.separate_datasets(auditor) == [
        about | {"release": "admissions", "dataset": "admissions", "declared_by": "Ada", "others": ["people", "third"]},
        about | {"release": "wages", "dataset": "people", "declared_by": "Eve", "others": ["admissions", "third"]},
    ]
    app = application(alone, Settings(rate=1e6, burst=10**6))
    page, none = (Visitor(app, alone.bearers.make(None, f"v {role}", role, role, ALL)[1]).get("/verify").text
                  for role in ("auditor", "curator"))  # fmt: skip
    assert "are in no other dataset" in page
    assert "<td>admissions, third</td>" in page
    assert "are in no other dataset" not in none


def test_what_was_declared_is_not_written_over(opened, who, service):
    """A refused request of another curator, for another dataset, changes nothing of what auditors are told; who
    declares the same is named beside the first, not in its place."""
    alone, auditor = opened(approvals=False), who("Di", "auditor")
    apart, scope = replace(TERMS, independent=True), ("admissions", HALF)
    publish_by(alone, who("Eve", "curator", scope), "k", "admissions", TABLE, HALF, apart)
    before = alone.audit.separate_datasets(auditor)
    assert [one["declared_by"] for one in before] == ["Eve"]
    bob, other = who("Bob", "curator", scope), replace(apart, dataset="people")
    with pytest.raises(AlreadyPublished):
        publish_by(alone, bob, "k", "admissions", TABLE, HALF, other)
    assert alone.audit.separate_datasets(auditor) == before
    for key in ("k", "l"):
        publish_by(alone, who("Ada", "curator", scope), key, "admissions", TABLE, HALF, apart)
    assert alone.audit.separate_datasets(auditor) == [before[0] | {"declared_by": "Ada"}, *before]


def test_a_part_is_approved_or_not_published(service, who):
    """Levels of parts of a partition do not add up. So one table of the same people is not published as two parts,
    each behind the back of whoever approved a whole: the part is a fact of the approval, or the table is refused."""
    curator, approver = who("Ada", "curator"), who("Grace", "approver")

    def publish_part(number, table, said, shown):
        name, terms = f"r{number}", Terms.read(PLANNED | {"dataset": "people", "part": said})
        proposal = propose_by(service, curator, f"p{number}", "publish", name, ONE, terms=terms)
        service.proposals.decide(approver, proposal.name, "approved")
        assert service.proposals.one(approver, proposal.name)[1]["promise"].get("part") == shown
        bring = {"proposal": proposal.name}
        return lambda terms=terms: publish_by(service, curator, f"k{number}", name, table, ONE, terms, **bring)

    bern, basel, whole = (CountedTable(PLAN.domain, [[1, 2], [3, 4]], PLAN.unit, part=part)
                          for part in (("town", "Bern"), ("town", "Basel"), None))  # fmt: skip
    for number, (table, said) in enumerate(((bern, None), (bern, ["town", "Basel"]), (whole, ["town", "Bern"]))):
        with pytest.raises(OutOfRange, match="part"):
            publish_part(number, table, said, said)()
    unsaid = publish_part(3, bern, None, None)
    with pytest.raises(NeedsApproval):
        unsaid(Terms.read(PLANNED | {"dataset": "people", "part": ["town", "Bern"]}))
    assert service.ledger.releases == ()
    for number, table in ((4, bern), (5, basel)):
        publish_part(number, table, table.part, list(table.part))()
    assert service.ledger.budget("people").spent == 1
    publish_part(6, whole, None, None)()
    assert service.ledger.budget("people").spent == 2


def test_a_counted_table_adds_nothing_to_what_was_approved(service, who):
    """Its unit, and its labels, which would be public, are those of the terms; a table that says more is refused."""
    curator, approver = who("Ada", "curator"), who("Grace", "approver")
    table = CountedTable(PLAN.domain, [[1, 2], [3, 4]], Unit(3, 2, "change-one"))
    whole = {
        "columns": "n",
        "public": ["sex", "outcome"],
        "noise": {"kind": "cells", "sensitivity": 3, "cells": 2, "neighbours": "change-one"},
    }
    for number, left_out in enumerate([*whole, None]):
        words = {name: said for name, said in whole.items() if name != left_out}
        if left_out in ("noise", "columns"):
            with pytest.raises(OutOfRange, match=r"unit=ut|columns=\["):
                Terms.read(words)
            continue
        terms = Terms.read(words)
        proposal = propose_by(service, curator, f"p{number}", "publish", "n", ONE, terms=terms)
        service.proposals.decide(approver, proposal.name, "approved")
        bring = {"proposal": proposal.name}
        if left_out is not None:
            with pytest.raises(OutOfRange, match=r"of_counted|at_most="):
                publish_by(service, curator, f"k{number}", "n", table, ONE, terms, **bring)
    made = publish_by(service, curator, "k", "n", table, ONE, terms, **bring)
    assert list(made) == ["sex", "outcome", "n", "n_margin"]


@pytest.mark.parametrize("part", ["town", ["town"], ["town", "Bern", "x"], ["town", 3], [["town"], "Bern"], 7])
def test_a_part_that_is_none(part):
    with pytest.raises(WrongKind, match="part"):
        Terms.read(PLANNED | {"part": part})


def test_a_key_of_what_is_answered_again_is_for_one_request_too(service, who, published):
    """A level that is stored needs no approval; its key is used up all the same, and the trail names who asked."""
    relax(service, who, ONE)
    first = relax_by(service, published, "same", "admissions", TABLE, ONE)
    assert relax_by(service, published, "same", "admissions", TABLE, ONE)["admitted"] == first["admitted"]
    for at in (QUARTER, HALF):
        with pytest.raises(RequestReused):
            relax_by(service, published, "same", "admissions", TABLE, at)


def test_what_is_not_there_is_said_so(service, who):
    with pytest.raises(UnknownRecord):
        service.proposals.decide(who("Grace", "approver"), "0" * 24, "approved")


def test_the_trail_is_a_chain(service, who, published, clock):
    """A line that is taken out, moved, changed, or made up with the service's own key is found, and named."""
    auditor = who("Di", "auditor")
    lines = list(service.audit.lines(auditor))
    assert service.audit.check_trail(auditor) == len(lines) == 6
    assert check_lines(lines) == (6, lines[-1]["chain"])
    assert check_lines(lines[2:], lines[1]["chain"])[0] == 4
    for wrong in (
        lines[:2] + lines[3:],
        [*lines[:2], lines[3], lines[2], *lines[4:]],
        [*lines[:-1], lines[-1] | {"owner": "Eve"}],
    ):
        with pytest.raises(LedgerDamaged, match="follow"):
            check_lines(wrong)
    taken = lines[3]["name"]
    gone = service.context.records.read(lambda store: store.get("trail", taken))
    service.context.records.write(lambda store: store.drop("trail", taken))
    with pytest.raises(LedgerDamaged, match=lines[4]["name"]):
        service.audit.check_trail(auditor)
    service.context.records.write(lambda store: store.put("trail", taken, gone))
    bare = {name: fact for name, fact in gone.items() if name != "chain"}
    first = f"{int(lines[0]['name']) - 1:020d}"
    service.context.records.write(lambda store: store.put("trail", first, bare))
    with pytest.raises(LedgerDamaged, match=first):
        service.audit.check_trail(auditor)


def test_reads_and_refusals_are_in_the_trail_once_a_day(service, who, published, clock, opened):
    """Once for each token, release and day, whichever worker served it; and what was noted is forgotten after."""
    bo, auditor = who("Bo", "recipient", ("admissions", QUARTER)), who("Di", "auditor")

    def told(word):
        return [entry for _, entry in service.audit.trail(auditor) if entry["done"] == word]

    other = opened()
    for at in (QUARTER, level("1/8"), QUARTER):
        service.releases.view(bo, "admissions", at)
        other.releases.view(bo, "admissions", at)
    assert [(entry["owner"], entry["release"], entry["version"]) for entry in told("view")] == [("Bo", "admissions", 1)]
    service.releases.view(published, "admissions", QUARTER)
    clock.now += 86_400
    service.releases.view(bo, "admissions", QUARTER)
    assert [entry["owner"] for entry in told("view")] == ["Bo", "Ada", "Bo"]
    for _ in range(3):
        service.audit.refused(bo, "view", "NotAllowed")
        other.audit.refused(bo, "publish", "NotAllowed")
    assert [(entry["request"], entry["why"]) for entry in told("refused")] == [
        ("view", "NotAllowed"),
        ("publish", "NotAllowed"),
    ]
    assert service.context.records.read(lambda store: store.count("noted")) == 3


def test_the_trail_names_who_and_no_value(service, who, published):
    said = [entry for _, entry in service.audit.trail(who("Di", "auditor"))]
    assert [entry["done"] for entry in said if entry["done"] != "make token"] == ["propose", "approved", "publish"]
    assert {entry["owner"] for entry in said} == {"service", "Ada", "Grace"}
    for entry in said:
        del entry["chain"]  # a digest of these lines, in which any three digits may stand
    assert not any(str(value) in str(said) for value in TABLE["admitted"])


def test_a_refused_guess_says_not_which_column_is_released_elsewhere(opened, who):
    """Many guessed columns at once, in another dataset: one refusal for all, the same whichever is right."""
    alone = opened(approvals=False)
    curator = who("Ada", "curator")
    publish_by(alone, curator, "k", "admissions", TABLE, ONE, TERMS)
    words = set()
    for right in range(3):
        guesses = {f"g{at}": [601, 370, 322] if at == right else [at, 0, 1] for at in range(3)}
        terms = Terms.read({**TERMS.facts(), "columns": list(guesses), "public": []})
        with pytest.raises(AlreadyPublished) as refused:
            publish_by(alone, curator, f"walk {right}", "other", guesses, ONE, terms)
        words.add(str(problem_of(refused.value)))
    (told,) = words
    assert not any(hint in told for hint in ("g0", "g1", "g2", "admi"))
    lines = [one for _, one in alone.audit.trail(who("Otto", "auditor"))]
    assert sum(one["done"] == "comparison failed" for one in lines) == 3


def test_two_persons_are_two(service, who):
    """Names that read alike are one person: none is made beside another, and one that is there decides nothing."""
    proposal = propose_by(service, who("Ada", "curator"), "p", "publish", "admissions", ONE, terms=TERMS)
    for name in ("ada", "ADA", "\uff21da", "A\u034fda"):
        with pytest.raises(OutOfRange, match="'Ada'"):
            who(name, "approver")
        twin = replace(who("Grace", "approver"), owner=name)  # which no token is made for
        with pytest.raises(NotAllowed, match="second person"):
            service.proposals.decide(twin, proposal.name, "approved")
    service.proposals.decide(who("Grace", "approver"), proposal.name, "approved")


def test_an_openid_subject_is_one_person_whatever_the_owner(service, who):
    """Two tokens with owners of different names, for one subject; and a token that all share."""
    made = {}
    for owner, role in (("Ada", "curator"), ("Grace", "approver"), ("Eve", "approver")):
        subject = "https://id.example " + ("7" if owner != "Grace" else "8")
        made[owner] = service.bearers.make(None, owner, owner, role, ALL, subject=None)[0]
        made[owner] = replace(made[owner], subject=subject)  # which none is made with: one owner has a subject
        service.context.records.write(lambda store, one=made[owner]: store.put("token", one.name, one.kept()))
    with pytest.raises(OutOfRange, match="'Grace'"):
        service.bearers.make(None, "new", "Max", "approver", ALL, subject="https://id.example 8")
    proposal = propose_by(service, made["Ada"], "p", "publish", "admissions", ONE, terms=TERMS)
    shared = replace(made["Grace"], owner="https://id.example 7", subject="claim groups=x https://id.example")
    for token in (made["Eve"], shared):
        with pytest.raises(NotAllowed, match="second person"):
            service.proposals.decide(token, proposal.name, "approved")
    assert service.proposals.decide(made["Grace"], proposal.name, "approved").state == "approved"


def test_the_last_admin_stays(service, who, clock):
    """Only one that can make tokens counts; with a second one the first may go, and an expired one is none."""
    admin = who("Root", "admin")
    service.bearers.make(None, "narrow", "Nina", "admin", (Grant("admissions"),))
    with pytest.raises(NotAllowed, match="last valid token"):
        service.bearers.revoke(admin, admin.name)
    second = service.bearers.make(admin, "2", "Second", "admin", ALL, days=1)[0]
    assert service.bearers.last_admin_until() == admin.expires
    clock.now += 86_401
    with pytest.raises(NotAllowed, match="last valid"):
        service.bearers.revoke(admin, admin.name)
    third = service.bearers.make(admin, "3", "Third", "admin", ALL)[0]
    assert service.bearers.revoke(admin, admin.name).revoked
    assert service.bearers.revoke(third, second.name).revoked  # it was expired: nobody loses anything
    clock.now += 91 * 86_400
    assert service.bearers.last_admin_until() is None
    presented = new_admin(service)
    assert service.bearers.authenticated(presented).may("tokens")


def test_another_admin_is_made_however_the_first_was_written(service):
    service.bearers.make(None, "first", "Admin", "admin", ALL)
    assert service.bearers.authenticated(new_admin(service)).owner == "Admin"


def test_what_a_plan_overrules_is_refused():
    """Every word of the terms is published, or refused: an approver reads nothing else than is released."""
    for beside in ({"dataset": "d"}, {"independent": True}, {"part": ("town", "Bern")}):
        stated = Terms.read(PLANNED | beside)
        assert stated.facts() != Terms.read(PLANNED).facts()
        assert Terms.read(stated.facts()) == stated
    for beside in ({"columns": "a"}, {"public": "a"}, {"drop": "a"}, {"id_column": "a"}):
        with pytest.raises(OutOfRange, match=r"noise=plan and \w+="):
            Terms.read(PLANNED | beside)
    with pytest.raises(OutOfRange, match="rows="):
        Terms.read(PLANNED | {"rows": "observed"})
    for beside in ({"sensitivity": 1}, {"grid": "1/8"}, {"half_step": True}, {"amount": {"name": "paid"}}):
        with pytest.raises(OutOfRange, match=f"got {next(iter(beside))}"):
            Terms.read({"noise": PLANNED["noise"] | beside})
    with pytest.raises(OutOfRange, match="got per"):
        Terms.read({"columns": ["x", "y"], "noise": {"kind": "points", "per": 200}})


def anything(dataset):
    return True


def test_an_approver_sees_what_it_would_come_to(service, who, published):
    """Error bars, the budget before and after, and warnings; and why a proposal could not be carried out."""
    service.ledger.budget("admissions", 2)
    seen = preview(service.ledger, AnswerRequest("admissions", ONE, 1), anything)
    assert seen.bars == (("each released value", service.ledger.margin("admissions", epsilon=1)),)
    assert (seen.before.spent, seen.after.spent, seen.after.limit, seen.warnings) == (Fraction(1, 4), 1, level(2), ())
    terms = replace(TERMS, dataset="admissions")
    seen = preview(service.ledger, terms.request("more", level(11), 1), anything)
    assert seen.after is None
    assert "must add up to at most" in seen.problem
    assert [warning[:43] for warning in seen.warnings] == ["This level protects practically nobody: eps"]
    terms = Terms.read(PLANNED)
    assert [name for name, _ in preview(service.ledger, terms.request("plan", ONE, 1), anything).bars] == ["sex"]
    two = Plan(PLAN.domain, Unit(1, 1), {"sex outcome": "1/4", "sex": "1/2", "": "1/4"})
    terms = Terms.read({"noise": ut.SumNoise(two).facts()})
    cells = CountedTable(two.domain, np.zeros((2, 2), dtype=int), Unit(1, 1))
    published = ut.release(cells, two, epsilon=1).bars()
    assert preview(service.ledger, terms.request("two", ONE, 1), anything).bars == tuple(
        (name or "total", margin) for name, margin in published.items()
    )
    assert "gone" in preview(service.ledger, AnswerRequest("gone", ONE, 1), anything).problem
    second = preview(service.ledger, replace(TERMS, dataset="ages").request("more", ONE, 1), anything)
    assert second.warnings == (
        "'ages' and 'admissions' are charged as different people: no budget adds up the levels of both.",
    )
    unseen = preview(service.ledger, replace(TERMS, dataset="ages").request("more", ONE, 1), anything, sees_all=False)
    assert unseen.warnings == ()


def test_terms_that_cannot_be_read_cannot_be_proposed_and_break_no_page(service, who):
    """A plan without a domain or with half a letter; one that is in the records is shown all the same."""
    unit = '"unit":{"cells":1,"sensitivity":"1","neighbours":"add-remove"}'
    texts = [
        '{"unit":{"cells":1,"sensitivity":"1"},"shares":[]}',
        '{"shares":[[["\\ud800"],"1"]],' + unit + "}",
        '{"domain":{"a":[1]},"shares":[[["a"],"1"]],"unit":{"sensitivity":"1","cells":1,"neighbours":"\\ud800"}}',
        "[" * 100_000,
        "{}",
    ]
    curator = who("Ada", "curator")
    for number, text in enumerate(texts):
        facts = {"noise": {"kind": "sums", "plan": text}}
        with pytest.raises((OutOfRange, WrongKind)):
            propose_by(service, curator, f"{number}", "publish", "a", ONE, terms=Terms.read(facts))
        facts = {"promise": facts, "dataset": chr(0xD800)}
        keep(service, number, "publish", facts)
    grace = Visitor(application(service, OPEN), service.bearers.make(None, "g", "Grace", "approver", ALL)[1])
    assert grace.get("/proposals").text.count("Publish a at") == len(texts)
    for number in range(len(texts)):
        seen = grace.get(f"/proposal?name={number:024}")
        assert seen.status_code == 200
        assert "could not be carried out" in seen.text
        assert "cannot be approved" in seen.text


def pages_of(visitor):
    """The list of proposals, and the page of each."""
    listed = visitor.get("/proposals").text
    names = dict.fromkeys(re.findall(r"/proposal\?name=([0-9a-f]{24})", listed))
    return listed, [visitor.get(f"/proposal?name={name}").text for name in names]


def test_an_approver_for_some_releases_is_told_of_no_others(service, who, published, bearer):
    """Neither the budget of a dataset that others spend, nor the names of datasets and releases that are there."""
    service.ledger.budget("admissions", 3)
    curator = who("Cy", "curator", ("x",))
    for key, dataset in (("1", "admissions"), ("2", "ADMISSIONS"), ("3", None)):
        terms = replace(TERMS, dataset=dataset, independent=True)
        propose_by(service, curator, key, "publish", "x", level("1/10"), terms=terms)
    with pytest.raises(NotPublished):
        propose_by(service, curator, "4", "relax", "x", ONE)
    listed, seen = pages_of(Visitor(application(service, OPEN), bearer("Dan", "approver", ("x",))))
    text = "".join(seen)
    assert len(seen) == 3
    assert text.count("its budget is not shown to you") == 2
    assert text.count("spent after") == 1
    assert "limit of admissions" not in text
    assert "admissions" not in listed
    assert text.count("admissions") == 2  # as the curator wrote it: in words, and letter for letter
    _, whole = pages_of(Visitor(application(service, OPEN), bearer("Eve", "approver")))
    assert "limit of admissions" in "".join(whole)


def test_what_waits_is_shown_before_what_was_decided_and_many_make_a_page(service, who, bearer, monkeypatch, clock):
    monkeypatch.setattr("utmost.interfaces.service.pages.pages._A_PAGE", 4)
    curator, approver = who("Ada", "curator"), who("Grace", "approver")
    for key in range(8):
        clock.now += 1
        name = propose_by(service, curator, f"{key}", "publish", f"x{key}", level(1000), terms=TERMS).name
        if key in (3, 4, 5):
            service.proposals.decide(approver, name, "refused", "too much")
    grace = Visitor(application(service, OPEN), bearer("Grace", "approver"))
    page = grace.get("/proposals").text
    places = [page.find(f"Publish x{key} ") for key in (7, 6, 2, 1, 5, 4)]
    assert sorted(places) == places
    assert places[0] > 0
    assert "Publish x3 " not in page
    following = re.search(r'"(/proposals\?after=[0-9a-f]{24})"', page)[1]
    assert "Publish x3 " in grace.get(following).text
    assert "practically nobody" in grace.proposal().text


def test_a_curator_for_some_releases_spends_no_others_dataset(opened, who, published, service):
    """Nor learns what it has left; a dataset of another name is theirs to begin."""
    service.ledger.budget("admissions", 3)
    alone = opened(approvals=False)
    eve = who("Eve", "curator", ("mine", None))
    for dataset, level_ in (("admissions", level(100)), ("admissions", ONE)):
        terms = replace(TERMS, dataset=dataset, independent=True)
        with pytest.raises(NotAllowed, match="dataset") as refused:
            publish_by(alone, eve, f"k{level_}", "mine", TABLE, level_, terms)
        assert "3" not in str(refused.value)
    assert service.ledger.budget("admissions").spent == Fraction(1, 4)
    other = {"department": ["A", "B", "C"], "admitted": [1, 2, 3]}
    publish_by(alone, eve, "new", "mine", other, ONE, replace(TERMS, dataset="people", independent=True))
    assert service.ledger.budget("people").spent == 1


def test_an_approver_for_some_releases_reads_no_names_of_limits_that_wait(service, who, published, bearer):
    service.ledger.budget("a secret cohort", 1)
    propose_by(service, who("Ada", "curator"), "1", "publish", "x", ONE, terms=TERMS)
    seen = [
        Visitor(application(service, OPEN), bearer(f"Dan {len(some)}", "approver", *some)).proposal().text
        for some in ((("x",),), ())
    ]
    assert ["a secret cohort" in page for page in seen] == [False, True]


def test_a_name_that_reads_as_anothers_is_refused_without_that_one(opened, who, service):
    """To whoever is for all releases the other is named: it may be theirs, misspelt."""
    service.ledger.budget("SALARIES", 2)
    alone = opened(approvals=False)
    for owner, some, told in (("Eve", [("salaries", None)], False), ("Max", [], True)):
        token = who(owner, "curator", *some)
        with pytest.raises(OutOfRange, match=r"Write the name|Choose another") as rehearsed:
            alone.releases.rehearse(token, "salaries", ONE)
        with pytest.raises(OutOfRange, match=r"Write the name|Choose another") as published_:
            publish_by(alone, token, "k", "salaries", TABLE, ONE, replace(TERMS, independent=True))
        assert ["SALARIES" in str(refused.value) for refused in (rehearsed, published_)] == [told, told]
