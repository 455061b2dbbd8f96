"""One answer for each person and version of a mechanism, whatever is asked, by anybody, and however often."""

import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import utmost as ut
from ledger.crash_points import the_store_cannot_write
from repeated_bits import nothing_is_drawn
from utmost import losses, priors
from utmost.channels import Channel
from utmost.errors import (
    AlreadyPublished,
    BudgetExceeded,
    LedgerDamaged,
    LedgerError,
    NeedsTable,
    OutOfRange,
    PromiseBroken,
    Quarantined,
    Unsupported,
    WrongKind,
)
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.local import read_mechanism
from utmost.spaces import Space, counts, discrete, grid

KEY = bytes(range(32))
YES = discrete(2)
CHANNEL = Channel([["2/3", "1/3"], ["1/3", "2/3"]], secrets=["yes", "no"], outcomes=["Y", "N"])
COIN = read_mechanism(CHANNEL, YES)
PLACES = grid(3, 3)


def designed(space=PLACES, epsilon=1):
    consumer = ut.Consumer(priors.uniform(space.size), losses.distance(space))
    return ut.optimal_mechanism(ut.PrivacyType(space, epsilon=epsilon), consumer)


OPTIMUM = designed()
DESIGN = read_mechanism(OPTIMUM)


def people(count, secret):
    return {f"p{k}": secret for k in range(count)}


def test_each_person_has_one_answer_whatever_the_secret_is_by_then(ledger, reopened):
    """Sixty changed secrets, two new persons, another process, and calls without a secret: stored answers are
    repeated."""
    first = ledger.respond("homes", DESIGN, people(60, (0, 0)))
    assert set(first.values()) <= set(PLACES.labels)
    moved = ledger.respond("homes", DESIGN, people(62, (2, 2)))
    assert {name: moved[name] for name in first} == first
    assert reopened().respond("homes", DESIGN, dict.fromkeys(reversed(moved))) == moved
    assert [one.persons for one in ledger.mechanisms] == [62]
    assert ledger.verify().answers == 62
    assert [event.kind for event in ledger.history("homes")] == ["offered", "drawn", "drawn"]
    assert ledger.history("homes", dataset="homes") == ledger.history("homes")
    assert ledger.respond("homes", DESIGN, {}) == {}
    assert ledger.answered("homes", ["p61", "eve", "p0"]) == ["p61", "p0"]
    assert ledger.answered("homes", ["p0"], version=2) == ledger.answered("none", ["p0"]) == []


def test_answers_have_the_distribution_of_the_row(ledger):
    """First answers of many persons: chi-square test against the rows of the mechanism, also for geometric noise on
    counts."""
    on_counts = ut.optimal_mechanism(
        ut.PrivacyType(counts(4), alpha="1/2"), ut.Consumer(priors.uniform(5), losses.absolute)
    )
    for name, design, secret, row in (("d", OPTIMUM, (1, 1), 4), ("c", on_counts, 3, 3)):
        drawn = ledger.respond(name, read_mechanism(design), people(4000, secret)).values()
        labels = list(design.certificate.ptype.space.labels)
        seen = np.bincount([labels.index(one) for one in drawn], minlength=len(labels))
        expected = 4000 * np.array(design.channel.matrix[row], float)
        often = expected > 5
        assert seen[expected == 0].sum() == 0
        rest = seen[often].sum() / expected[often].sum()
        assert stats.chisquare(seen[often], expected[often] * rest).pvalue > 1e-9


def test_another_design_under_the_name_is_refused_however_it_was_written(ledger, tmp_path):
    """The digest covers what answers depend on: a design read from its file is the same, another level is not."""
    first = ledger.respond("homes", DESIGN, {"ada": 4})
    ut.save_design(OPTIMUM, tmp_path / "design.json")
    again = read_mechanism(ut.read_design(tmp_path / "design.json"))
    assert again.digest == DESIGN.digest
    assert ledger.respond("homes", again, {"ada": 0}) == first
    for other in (designed(epsilon=2), designed(grid(1, 9)), designed(Space(PLACES.metric, list("abcdefghi")))):
        with pytest.raises(AlreadyPublished, match="version=2"):
            ledger.respond("homes", read_mechanism(other), {"ada": 0})
    with pytest.raises(AlreadyPublished, match="a release and a mechanism"):
        ledger.publish("homes", {"n": [1]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=1)
    ledger.publish("table", {"n": [1]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=1)
    with pytest.raises(AlreadyPublished, match="a release and a mechanism"):
        ledger.respond("table", DESIGN, {"ada": 0})


def test_a_version_is_charged_once_and_versions_add_up(ledger):
    """Everybody has one answer, so the level is spent once; in the next version everybody is answered anew."""
    ledger.respond("a", COIN, people(3, "yes"), dataset="people")
    ledger.respond("a", COIN, people(9, "no"))
    assert ledger.spent("a") == ledger.spent(dataset="people") == level(alpha="1/2")
    ledger.respond("a", COIN, people(3, "yes"), version=2)
    assert ledger.spent("a") == ledger.spent(dataset="people") == level(alpha="1/4")
    ledger.budget("people", limit="3/2")
    for more in ({"version": 3}, {"dataset": "people"}):
        with pytest.raises(BudgetExceeded):
            ledger.respond("a" if "version" in more else "b", COIN, {"x": "no"}, **more)
    assert ledger.respond("a", COIN, {"new": "no"})["new"] in ("Y", "N")
    with pytest.raises(OutOfRange, match="the same neighbouring relation"):
        ledger.respond("c", DESIGN, {"x": 0}, dataset="people")
    with pytest.raises(OutOfRange, match="the same neighbouring relation"):
        ledger.publish("n", {"n": [1]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon="1/9", dataset="people")
    with pytest.raises(OutOfRange, match="got 5"):
        ledger.respond("a", COIN, {"x": "no"}, version=5)
    with pytest.raises(OutOfRange, match="dataset="):
        ledger.respond("a", COIN, {"x": "no"}, dataset="others")
    assert ledger.verify().answers == 13
    assert ledger.status().datasets[0].dataset == "people"


def test_nothing_is_drawn_from_what_proves_nothing(ledger):
    """The certificate is checked before a name is given to the mechanism, and nothing is spent."""
    matrix = OPTIMUM.certificate.matrix.copy()
    matrix[0] = [Fraction(1)] + [Fraction(0)] * 8
    broken = object.__new__(type(OPTIMUM.certificate))
    for name in OPTIMUM.certificate.__dataclass_fields__:
        object.__setattr__(broken, name, matrix if name == "matrix" else getattr(OPTIMUM.certificate, name))
    bad = replace(OPTIMUM, certificate=broken)
    for mechanism, space, error in (
        (bad, None, PromiseBroken),
        (OPTIMUM, PLACES, OutOfRange),
        (CHANNEL, None, OutOfRange),
        (CHANNEL, discrete(3), OutOfRange),
        (Channel([[1, 0], ["1/2", "1/2"]]), YES, PromiseBroken),
        (Channel([["1/2", "1/2"], ["1/2", "1/2"]]), YES, OutOfRange),
        (Channel([[0.5, 0.5], [0.25, 0.75]]), YES, Unsupported),
        ("design.json", None, WrongKind),
    ):
        with pytest.raises(error):
            read_mechanism(mechanism, space)
    for unread in (CHANNEL, OPTIMUM, "design.json", None):
        with pytest.raises(WrongKind, match="read_mechanism"):
            ledger.respond("x", unread, {"ada": 0})
    assert (ledger.mechanisms, ledger.status().events) == ((), 1)


def test_persons_and_secrets_are_read_with_care_and_not_repeated(ledger):
    """Two Unicode spellings of one name are one person; errors name the place, not the name or secret."""
    composed, apart = "Zo\u00eb", "Zoe\u0308"
    first = ledger.respond("h", DESIGN, {composed: 0})
    assert list(ledger.respond("h", DESIGN, {apart: 8}).values()) == list(first.values())
    for wrong, error in (
        ({"": 0}, OutOfRange),
        ({"hushname ": 0}, OutOfRange),
        ({composed: 0, apart: 1}, OutOfRange),
        ({7654: 0}, WrongKind),
        (["hushname"], WrongKind),
        ({"hushname": "hushplace"}, OutOfRange),
        ({"hushname": 7654}, OutOfRange),
        ({"hushname": None}, NeedsTable),
    ):
        with pytest.raises(error) as caught:
            ledger.respond("h", DESIGN, wrong)
        assert "hush" not in str(caught.value)
        assert "7654" not in str(caught.value)
    assert ledger.mechanisms[0].persons == 1


def kept_bytes(path):
    """Everything that a database file contains."""
    with closing(sqlite3.connect(path)) as database, database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return b"".join(repr(row).encode() for name in tables for row in database.execute(f"SELECT * FROM {name}"))


@pytest.mark.parametrize("count", [1, 300])
def test_what_is_stored_says_how_many_and_no_more(tmp_path, count):
    """No name of a person is stored, and lengths depend only on the number of persons, not on answers."""
    lengths = set()
    for secret in (0, 8):
        path = tmp_path / f"{secret}.db"
        with Ledger.open(path, create=True, key=KEY, witness=False) as ledger:
            ledger.respond("homes", DESIGN, {f"person{k}": secret for k in range(count)})
        with closing(sqlite3.connect(path)) as database, database:
            lengths.add(tuple(len(content) for (content,) in database.execute("SELECT content FROM utmost_parts")))
        assert b"person0" not in kept_bytes(path)
    assert lengths == {(12 + 17 * count + 16,)}


def test_what_was_changed_on_disk_is_found(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY, witness=False) as ledger:
        ledger.respond("homes", DESIGN, {"ada": 4})
        ledger.respond("homes", DESIGN, {"ben": 4})
    for change in (
        "UPDATE utmost_parts SET content = zeroblob(length(content)) WHERE event = 3",
        "DELETE FROM utmost_parts WHERE event = 4",
        "UPDATE utmost_parts SET content = (SELECT content FROM utmost_parts WHERE event = 4) WHERE event = 3",
    ):
        shutil.copy(tmp_path / "l.db", tmp_path / "other.db")
        with closing(sqlite3.connect(tmp_path / "other.db")) as database, database:
            database.execute(change)
        with Ledger.open(tmp_path / "other.db", key=KEY, witness=False) as ledger:
            for look in (ledger.verify, lambda held=ledger: held.respond("homes", DESIGN, {"ada": 4})):
                with pytest.raises(LedgerDamaged):
                    look()


@pytest.mark.parametrize("derived", [False, True])
def test_a_ledger_put_back_repeats_what_it_has_and_answers_nobody_a_second_time(tmp_path, derived):
    """Ben's answer is lost, and he could get another one. So the version is closed, and the next one adds its level."""
    place = tmp_path / "l.db"
    with Ledger.open(place, create=True, key=KEY, derived=derived) as ledger:
        kept = ledger.respond("homes", DESIGN, {"ada": 4}, dataset="people")
        shutil.copy(place, tmp_path / "before.db")
        ledger.respond("homes", DESIGN, {"ben": 4})
        ledger.respond("other", DESIGN, {"ada": 4}, dataset="people")
    shutil.copy(tmp_path / "before.db", place)
    with Ledger.open(place, key=KEY) as ledger:
        for resumed in (False, True):
            assert ledger.respond("homes", DESIGN, {"ada": None}) == kept
            with pytest.raises(Quarantined):
                ledger.respond("homes", DESIGN, {"ben": 4})
            if not resumed:
                ledger.resume("a test")
        assert ledger.spent(dataset="people") == level(2)  # homes, and what was lost of other
        ledger.respond("homes", DESIGN, {"ben": 4}, version=2)
        assert ledger.spent(dataset="people") == level(3)
        assert ledger.verify().answers == 2
    with Ledger.restore(tmp_path / "before.db", tmp_path / "new.db", key=KEY) as ledger:
        ledger.resume("nobody knows", missing={})
        assert ledger.respond("homes", DESIGN, {"ada": None}) == kept
        with pytest.raises(Quarantined, match="lost answers"):
            ledger.respond("homes", DESIGN, {"eve": 4})


def test_threads_get_one_answer(ledger, reopened):
    """Sixteen threads with two ledger objects make 320 requests about forty persons, with other secrets each time.

    What processes do at once is tested with whole tables, in test_many_writers.py.
    """
    ledgers, start = (ledger, reopened()), threading.Barrier(16)

    def client(number):
        start.wait()
        asked = [f"p{(7 * number + k) % 40}" for k in range(20)]
        return [(one, ledgers[number % 2].respond("c", COIN, {one: number % 2})[one]) for one in asked]

    with ThreadPoolExecutor(16) as pool:
        said = {answer for answers in pool.map(client, range(16)) for answer in answers}
    assert len(said) == 40
    assert ledger.verify().answers == 40


def test_an_answer_cut_off_before_it_was_given_is_the_answer(ledger, monkeypatch):
    """The store fails after the witness holds the draw: the same request returns that draw."""
    ledger.respond("c", COIN, {"ada": 0})
    with monkeypatch.context() as patched:
        tried = the_store_cannot_write(patched)
        with pytest.raises(LedgerError):
            ledger.respond("c", COIN, {"ben": 0})
    ledger.respond("c", COIN, {"cleo": 0})
    with nothing_is_drawn():
        answer = ledger.respond("c", COIN, {"ben": 1})
    assert (len(tried), answer["ben"] in ("Y", "N")) == (1, True)
    assert ledger.verify().answers == 3
    events = [event for event in ledger.history("c") if event.kind == "drawn"]
    assert [event.facts["persons"] for event in events] == [1, 1, 1]


class Drawing:
    """A mechanism of a user, with the facts of the coin and other draws."""

    level, relation, digest, outcomes, names = COIN.level, COIN.relation, COIN.digest, COIN.outcomes, COIN.names
    rows = staticmethod(COIN.rows)

    def __init__(self, number):
        self.number = number

    def drawn(self, rows, randomness):
        return [self.number] * len(rows) if not isinstance(self.number, list) else self.number


@pytest.mark.parametrize("number", [2, -1, 1.0, True, None, [0], [0, 0, 0]], ids=repr)
def test_a_draw_that_is_no_outcome_is_neither_stored_nor_charged(ledger, number):
    """Stored, it would damage the whole ledger: no call could read the answers of anybody."""
    with pytest.raises(WrongKind, match="outcomes"):
        ledger.respond("smokes", Drawing(number), {"ada": "yes", "ben": "no"})
    assert ledger.mechanisms == ()
    assert ledger.respond("smokes", Drawing(np.int64(1)), {"ada": "yes", "ben": "no"}) == {"ada": "N", "ben": "N"}
    assert ledger.verify().answers == 2


def test_every_outcome_of_a_mechanism_has_a_name(ledger):
    short = Drawing(1)
    short.names = ["Y"]
    with pytest.raises(WrongKind, match="name for each"):
        ledger.respond("smokes", short, {"ada": "yes"})
    assert ledger.mechanisms == ()
