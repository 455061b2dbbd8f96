"""One dataset has one budget, however its name is written: names that people read alike are one name."""

import unicodedata

import pytest

import utmost as ut
from asking import asked, publish_items
from utmost.channels import Channel
from utmost.errors import OutOfRange
from utmost.ledger import Ledger
from utmost.local import read_mechanism
from utmost.sampling import Identifiers
from utmost.spaces import discrete

KEY = bytes(range(32))
PROMISE = {"columns": "n", "unit": ut.Unit(1, 1)}
CHANNEL = Channel([["2/3", "1/3"], ["1/3", "2/3"]], secrets=["yes", "no"], outcomes=["Y", "N"])
COIN = read_mechanism(CHANNEL, discrete(2))
NAME = unicodedata.normalize("NFC", "Café 1")
TWINS = [
    unicodedata.normalize("NFD", NAME), "café 1", f"{NAME}\ufe0f", "Ca\u034ffé 1", "Café\u3164 1", "Cafe\u0301  1",
    "Café １",
]  # fmt: skip


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.budget(NAME, 1)
        ledger.publish("first", {"n": [1, 2, 3]}, ut.Promise(**PROMISE), epsilon=1, dataset=NAME)
        yield ledger


@pytest.mark.parametrize("twin", TWINS)
def test_a_name_that_reads_as_a_dataset_has_no_budget_of_its_own(ledger, twin):
    """At no entrance: the limit of the existing dataset would not apply to it."""
    with pytest.raises(OutOfRange, match=r"'Caf.{4} 1'"):
        ledger.publish("second", {"n": [4, 5, 7]}, ut.Promise(**PROMISE), epsilon=1, dataset=twin)


def test_no_door_takes_a_name_that_reads_as_a_dataset(ledger):
    """Releases, releases by identifier, mechanisms, limits and rehearsals refuse it, also with independent=True, and
    write nothing."""
    twin, events = TWINS[0], ledger.status().events
    ids = [Identifiers.of(["a"])]
    sums = ledger.items.commitment_key("r", ut.Promise(columns="n", unit=ut.Unit(1, 1))).committed(ids, {"n": [4]})
    doors = [
        lambda **said: ledger.publish(twin, {"n": [4]}, **asked(epsilon=1, **said, **PROMISE)).table,
        lambda **said: publish_items(
            ledger, "r", sums, **asked(id_column="id", epsilon=1, dataset=twin, **said, **PROMISE)
        ),
        lambda **said: ledger.respond("m", COIN, {"Ada": "yes"}, dataset=twin, **said),
        lambda **said: ledger.rehearse("r", epsilon=1, dataset=twin, **said),
        lambda independent=False: ledger.budget(twin, 1),
    ]
    for door in doors:
        for said in ({}, {"independent": True}):
            with pytest.raises(OutOfRange, match=r"from 'Caf.{4} 1' by more .*; got 'Cafe.{6} 1'"):
                door(**said)
    assert ledger.status().events == events


def test_a_loss_is_charged_to_the_dataset_that_is_there(ledger, tmp_path):
    """A loss that is charged to a lookalike name would not count for the dataset."""
    ledger.backup(tmp_path / "b.db")
    with Ledger.restore(tmp_path / "b.db", tmp_path / "r.db", key=KEY, witness=tmp_path / "w") as restored:
        with pytest.raises(OutOfRange, match=r"'Caf.{4} 1'"):
            restored.resume("restored", missing={TWINS[0]: 1})
        restored.resume("restored", missing={NAME: 1})
        assert restored.budget(NAME).spent == 2


def test_a_loss_is_not_charged_to_the_name_of_what_was_published(ledger, tmp_path):
    """It would be a new dataset, so that the budget of the right one was as if nothing were lost."""
    measures = {"pay": ut.mean("pay", each=(0, 9)), "rent": ut.mean("rent", each=(0, 9))}
    people = {"town": ["A", "B"], "pay": [1, 2], "rent": [3, 4]}
    wages = ut.count_measures(people, {"town": ["A", "B"]}, ut.Counting(each_row=True), measures)
    ledger.budget(NAME, 9)
    ledger.publish("n", {"n": [5, 9]}, ut.Promise(**PROMISE), epsilon=1, dataset=NAME)
    ledger.publish_means("wages", wages, epsilon=1, dataset=NAME)
    ledger.respond("coin", COIN, {"Ada": "yes"}, dataset="coins", independent=True)
    ledger.backup(tmp_path / "b.db")
    with Ledger.restore(tmp_path / "b.db", tmp_path / "r.db", key=KEY, witness=tmp_path / "w") as restored:
        for name, dataset in {"n": NAME, "wages": NAME, "wages: pay": NAME, "coin": "coins"}.items():
            with pytest.raises(OutOfRange, match=f"Name the dataset: {dataset!r}"):
                restored.resume("restored", missing={name: 1})
        restored.resume("restored", missing={NAME: 1})
        assert restored.budget(NAME).spent == 4


def test_letters_that_nobody_sees_make_no_other_name(ledger):
    """Characters that are drawn as nothing, although Python calls them printable."""
    unseen = [
        *map(chr, [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F]),
        *"\u2800\u3164\uffa0",
    ]
    unseen += [chr(first + k) for first, count in ((0xFE00, 16), (0xE0100, 240)) for k in (0, count // 2, count - 1)]
    for letter in unseen:
        with pytest.raises(OutOfRange, match=r"'Caf.{4} 1'"):
            ledger.budget(f"Ca{letter}fé 1", limit=1)
