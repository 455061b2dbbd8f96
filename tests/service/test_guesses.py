"""What a thief with a token learns by guessing: few answers a day, however asked, and none before an approval."""

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace

import pytest

from service.conftest import TABLE, TERMS
from service.publications import Terms, propose_by, publish_by, relax_by
from service.test_description import OPEN
from service.test_http import Caller
from service.visiting import Visitor
from utmost.errors import NotAllowed, OutOfRange, TooOften, UtmostError
from utmost.exact import level
from utmost.privacy import Unit
from utmost.promises import Promise, within
from utmost.service import application

ONE = level(1)
ONE_STORE = True


def kind_of(call):
    """The name of the error that a call ends in, or "done"."""
    try:
        call()
    except UtmostError as error:
        return type(error).__name__
    return "done"


@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_a_burst_of_comparisons_is_told_no_more_than_five_a_day(opened, who):
    """Eighteen wrong guesses at once, of two workers: five are compared, and the table itself is refused, too."""
    alone, other = opened(approvals=False), opened(approvals=False)
    ada = who("Ada", "curator")
    publish_by(alone, ada, "k", "admissions", TABLE, ONE, TERMS)

    def guess(number):
        service = (alone, other)[number % 2]
        table = TABLE | {"admitted": [601, 370, number]}
        return kind_of(lambda: relax_by(service, ada, f"g{number}", "admissions", table, level(2)))

    with ThreadPoolExecutor(18) as threads:
        told = [*threads.map(guess, range(18))]
    assert told.count("DataChanged") == 5
    assert told.count("TooOften") == 13
    assert kind_of(lambda: relax_by(alone, ada, "own", "admissions", TABLE, level(2))) == "TooOften"


def test_after_five_guesses_what_compares_nothing_new_is_answered(opened, who, bearer, clock):
    """A finished request repeated under its key, and a first publication in a dataset with a limit; a guess under a key
    that was answered is counted by itself, and a bundle, which could hold a guess, waits for the next day."""
    alone = opened(approvals=False)
    ada = who("Ada", "curator")
    first = publish_by(alone, ada, "k", "admissions", TABLE, ONE, TERMS)
    wrong, other = TABLE | {"admitted": [1, 2, 3]}, TABLE | {"admitted": [70, 80, 91]}

    def relaxed(key, table):
        return kind_of(lambda: relax_by(alone, ada, key, "admissions", table, level(2)))

    assert relaxed("right", TABLE) == "done"
    assert [relaxed(f"{number}", wrong) for number in range(6)] == ["DataChanged"] * 5 + ["TooOften"]
    assert relaxed("0", TABLE) == "TooOften", "its key was answered by a refusal alone"
    assert publish_by(alone, ada, "k", "admissions", TABLE, ONE, TERMS) == first
    assert kind_of(lambda: publish_by(alone, ada, "n", "wages", other, ONE, TERMS)) == "TooOften"
    for dataset in ("wages", "twin"):
        alone.audit.limit(who("Root", "admin"), dataset, ONE)
    assert kind_of(lambda: publish_by(alone, ada, "n", "wages", other, ONE, TERMS)) == "done"
    assert kind_of(lambda: publish_by(alone, ada, "twin", "twin", TABLE, ONE, TERMS)) == "AlreadyPublished"
    bundle = [TERMS.request(name, ONE) for name in ("x", "y")]
    two = {"x": TABLE | {"admitted": [1, 2, 4]}, "y": TABLE}
    bundled = lambda: alone.releases.publish_measures(ada, "b", bundle, two, dict.fromkeys("xy"))  # noqa: E731
    assert kind_of(bundled) in ("TooOften", "OutOfRange")
    assert [relaxed("right", wrong) for _ in range(6)] == ["DataChanged"] * 5 + ["TooOften"]
    assert relaxed("right", TABLE) == "TooOften"
    assert publish_by(alone, ada, "k", "admissions", TABLE, ONE, TERMS) == first
    answer = Caller(application(alone, OPEN), bearer("Ada", "curator"))(
        "POST", "/v1/releases/admissions/relax", key="late", json={"level": "2", "table": wrong}
    )
    left = 86_400 - int(clock.now) % 86_400
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, f"{left}")
    clock.now += left
    assert relaxed("tomorrow", TABLE) == "done"


def test_a_table_that_fails_anyway_is_no_free_guess(opened, who):
    """Rows of one identifier are refused before values are compared: right and wrong guesses end alike."""
    alone = opened(approvals=False)
    ada = who("Ada", "curator")
    publish_by(alone, ada, "k", "admissions", TABLE, ONE, TERMS)
    terms = Terms(Promise("n", unit=Unit(1, 1), keyed_by_id=True, id_column="who", public="who"))
    for at, guess in enumerate(([601, 370, 322], [1, 2, 3])):
        call = lambda: publish_by(alone, ada, f"{at}", "g", {"who": [5, 5, 6], "n": guess}, ONE, terms)  # noqa: E731, B023
        assert kind_of(call) == "BadTable"


def test_a_bundle_that_fails_anyway_is_no_free_guess(opened, who):
    """One table holds the guess, and another one has two rows of one identifier: right and wrong guesses end alike."""
    alone = opened(approvals=False)
    ada = who("Ada", "curator")
    publish_by(alone, ada, "k", "admissions", TABLE, ONE, TERMS)
    keyed = Terms(Promise("n", unit=Unit(1, 1), keyed_by_id=True, id_column="who", public="who"), dataset="d")
    asked = [replace(TERMS, dataset="d").request("g", ONE), keyed.request("h", ONE)]
    for at, guess in enumerate(([601, 370, 322], [1, 2, 3])):
        tables = {"g": TABLE | {"admitted": guess}, "h": {"who": [5, 5, 6], "n": [7, 8, 9]}}
        call = lambda: alone.releases.publish_measures(ada, f"{at}", asked, tables, dict.fromkeys("gh"))  # noqa: E731, B023
        assert kind_of(call) == "BadTable"


ADMITTED = ([601, 370, 322], [1, 2, 3])  # a right guess at the published column, and a wrong one
WAGES = replace(TERMS, dataset="wages")
STOPPING = Promise("admitted", public="department", unit=Unit(1, 1), until=within("9 %", steps=9))


def with_wages(service, who):
    """A service whose admissions are published, and wages up to their limit; gives the curator's token."""
    ada = who("Ada", "curator")
    publish_by(service, ada, "k", "admissions", TABLE, ONE, TERMS)
    publish_by(service, ada, "w", "wages", TABLE | {"admitted": [7, 8, 9]}, ONE, WAGES)
    service.audit.limit(who("Root", "admin"), "wages", ONE)
    return ada


@pytest.mark.parametrize(
    ("at", "terms", "refused"),
    [
        (ONE, WAGES, "BudgetExceeded"),
        (level("1e-49"), Terms(STOPPING, "d"), "OutOfRange"),
    ],
    ids=["budget", "level"],
)
def test_terms_that_fail_anyway_are_no_free_guess(opened, who, at, terms, refused):
    """What the limit or the noise does not allow is refused before values are compared."""
    alone = opened(approvals=False)
    ada = with_wages(alone, who)
    for number, guess in enumerate(ADMITTED):
        table = TABLE | {"admitted": guess}
        assert kind_of(lambda: publish_by(alone, ada, f"{number}", "x", table, at, terms)) == refused  # noqa: B023


@pytest.mark.parametrize("name", ["Admissions", "Y", "y", "wages: income"])
@pytest.mark.parametrize("guess", ADMITTED, ids=["right", "wrong"])
def test_a_bundle_of_other_terms_is_no_free_guess(opened, who, name, guess):
    """The first table holds the guess; the second one has the name of another release, or protects otherwise."""
    alone = opened(approvals=False)
    ada = who("Ada", "curator")
    publish_by(alone, ada, "k", "admissions", TABLE, ONE, TERMS)
    second = replace(TERMS, dataset="d")
    if name == "wages: income":
        unit = Unit(2, cells=1, neighbours="change-one")
        second = Terms(Promise("admitted", public="department", unit=unit), "d")
    asked = [replace(TERMS, dataset="d").request("y", ONE), second.request(name, ONE)]
    tables = {"y": TABLE | {"admitted": guess}, name: TABLE | {"admitted": guess}}
    call = lambda: alone.releases.publish_measures(ada, "b", asked, tables, dict.fromkeys(tables))  # noqa: E731
    assert kind_of(call) == "OutOfRange"


def test_after_five_guesses_a_dataset_without_a_limit_takes_no_new_table(opened, who, clock):
    """There a level of almost nothing would pay for a guess; a limit, or the next day, lets it through."""
    alone = opened(approvals=False)
    ada = who("Ada", "curator")
    publish_by(alone, ada, "k", "admissions", TABLE, ONE, TERMS)

    def told(number, table):
        terms = replace(TERMS, dataset="junk")
        return kind_of(lambda: publish_by(alone, ada, f"n{number}", f"junk{number}", table, level("1e-9"), terms))

    assert [told(number, TABLE) for number in range(6)] == ["AlreadyPublished"] * 5 + ["TooOften"]
    wrong = TABLE | {"admitted": [1, 2, 3]}
    assert told(6, wrong) == "TooOften"
    alone.audit.limit(who("Root", "admin"), "junk", ONE)
    assert told(7, wrong) == "done"
    alone.audit.limit(who("Root", "admin"), "wages", ONE)
    assert kind_of(lambda: publish_by(alone, ada, "other", "other", wrong, level("1e-9"), TERMS)) == "TooOften"
    clock.now += 86_400
    assert told(8, wrong) == "done"


def test_other_terms_are_no_guess(opened, who):
    """A release under other terms is refused whatever its values are: that is not counted."""
    alone = opened(approvals=False)
    ada = who("Ada", "curator")
    publish_by(alone, ada, "k", "admissions", TABLE, ONE, TERMS)
    for number in range(6):
        again = lambda: publish_by(alone, ada, f"{number}", "admissions", TABLE, level(2), TERMS)  # noqa: E731, B023
        assert kind_of(again) == "AlreadyPublished"


@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_a_burst_of_right_tables_is_let_through(opened, who):
    """One after the other, where too many come at once."""
    alone = opened(approvals=False)
    ada = who("Ada", "curator")
    publish_by(alone, ada, "k", "admissions", TABLE, ONE, TERMS)

    def right(number):
        return kind_of(lambda: relax_by(alone, ada, f"g{number}", "admissions", TABLE, level(2 + number)))

    with ThreadPoolExecutor(9) as threads:
        assert [*threads.map(right, range(9))] == ["done"] * 9


def test_a_comparison_that_was_cut_off_is_counted(opened, who, clock, monkeypatch):
    """Its process was ended, say: it may have been told. The next day begins anew."""
    alone = opened(approvals=False)
    ada = who("Ada", "curator")
    publish_by(alone, ada, "k", "admissions", TABLE, ONE, TERMS)
    monkeypatch.setattr("utmost.interfaces.service.token_releases._TO_COMPARE", 0.0)
    cut_off = [alone.releases._comparing(ada, "k", lambda store: False, "admissions") for _ in range(5)]
    for one in cut_off:
        copy_context().run(one.__enter__)
    relaxed = lambda key: kind_of(lambda: relax_by(alone, ada, key, "admissions", TABLE, level(2)))  # noqa: E731
    assert relaxed("a") == "LedgerUnavailable"
    clock.now += 601  # ten minutes, after which it counts as failed
    assert relaxed("b") == "TooOften"
    clock.now += 86_400
    assert relaxed("c") == "done"
    del cut_off


@pytest.mark.parametrize("dataset", ["admissions", "ADMISSIONS", "nothing"])
def test_before_an_approval_nobody_learns_which_datasets_there_are(service, who, published, dataset):
    """A curator for one release, with any proposal or none: the same answer for one that is there and one that is not,
    with the same table and with a broken one."""
    eve, approver = who("Eve", "curator", ("mine",)), who("Grace", "approver")
    terms = replace(TERMS, dataset=dataset, independent=True)
    made = propose_by(service, eve, dataset, "publish", "mine", ONE, terms=terms)
    for number, (table, proposal) in enumerate(((TABLE, None), (TABLE, made.name), ({"admitted": ["x"]}, made.name))):

        def call(table=table, proposal=proposal, key=f"{dataset} {number}"):
            return publish_by(service, eve, key, "mine", table, ONE, terms, proposal=proposal)

        assert kind_of(call) == "NeedsApproval"
    service.proposals.decide(approver, made.name, "approved")
    broken = lambda: publish_by(service, eve, f"{dataset} 9", "mine", {"admitted": ["x"]}, ONE, terms,  # noqa: E731
                                              proposal=made.name)  # fmt: skip
    assert kind_of(broken) == "BadTable", "what is wrong with the table is said first"


def test_without_approvals_a_guess_at_a_dataset_is_a_comparison(opened, who, published):
    """Five a day; and a guess at one that is not there publishes, under the name of who guessed."""
    alone, eve = opened(approvals=False), who("Eve", "curator", ("mine",))
    terms = replace(TERMS, dataset="admissions", independent=True)
    for number in range(5):
        with pytest.raises(NotAllowed, match="dataset"):
            publish_by(alone, eve, f"{number}", "mine", TABLE, ONE, terms)
    with pytest.raises(TooOften, match="in a day"):
        publish_by(alone, eve, "6", "mine", TABLE, ONE, replace(terms, dataset="nothing"))
    lines = [one for _, one in alone.audit.trail(who("Otto", "auditor"))]
    assert sum(one["done"] == "comparison failed" for one in lines) == 5


@pytest.mark.parametrize("version", [None, 2])
def test_an_existing_release_looks_up_no_dataset(opened, who, version):
    """It stays in its dataset: the same refusal for one that is there and one that is not, and none is counted."""
    alone, eve = opened(approvals=False), who("Eve", "curator", ("mine",))
    publish_by(alone, who("Ada", "curator"), "k", "admissions", TABLE, ONE, TERMS)
    terms = replace(TERMS, dataset="mine", independent=True)
    publish_by(alone, eve, "m", "mine", TABLE, ONE, terms)
    for number, dataset in enumerate(("admissions", "nothing") * 4):
        again = replace(terms, dataset=dataset)
        call = lambda: publish_by(alone, eve, f"{number}", "mine", TABLE, ONE, again, version=version)  # noqa: E731, B023
        assert kind_of(call) == ("AlreadyPublished" if version is None else "OutOfRange")


def test_a_table_that_fails_after_a_look_up_is_counted(opened, who):
    """Else a dataset that is not there would be told from others by a refusal that costs nothing."""
    alone, eve = opened(approvals=False), who("Eve", "curator", ("mine",), ("MINE",))
    publish_by(alone, eve, "m", "mine", TABLE, ONE, replace(TERMS, dataset="mine", independent=True))

    def told(number):
        terms = replace(TERMS, dataset=f"d{number}", independent=True)
        return kind_of(lambda: publish_by(alone, eve, f"{number}", "MINE", TABLE, ONE, terms))

    assert [told(number) for number in range(6)] == ["OutOfRange"] * 5 + ["TooOften"]


def test_a_token_without_grants_is_refused(service, who, bearer):
    """Here, by API, and from the page; and it is said how to grant."""
    admin = who("Root", "admin")
    with pytest.raises(OutOfRange, match=r'"\*"'):
        service.bearers.make(admin, "k", "Bo", "recipient", ())
    app, presented = application(service, OPEN), bearer("Root", "admin")
    answer = Caller(app, presented)(
        "POST", "/v1/tokens", key="t", json={"owner": "Bo", "role": "recipient", "grants": []}
    )
    assert (answer.status_code, "every release" in answer.json()["detail"]) == (422, True)
    page = Visitor(app, presented)
    sent = {"release-1": "", "release-2": "", "release-3": "", "owner": "Bo"}
    assert page.fill(page.get("/tokens"), "/tokens", **sent).status_code == 422
    assert "Bo" not in [token.owner for token in service.bearers.all(admin)]
