"""Histories of a ledger, its clients and its service keep every promise; and each planted fault is found."""

import os
from collections import Counter

import pytest

from disk import library
from faults.test_planted_ledger_faults import _no_sampler_survives  # noqa: F401  (a fixture)
from goodness import LEVEL
from simulation.history import History, Violation
from simulation.law import Noise
from simulation.places import InMemory, OnDisk
from simulation.protocol_faults import FAULTS
from utmost.errors import LedgerError

pytestmark = [
    pytest.mark.skipif(library() is None, reason="SQLite is built into Python here"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]
HISTORIES = 40


def lived(folder, seeds, law):
    """What happened in histories, all of them sound."""
    happened = Counter()
    for seed in seeds:
        try:
            history = History(folder, seed).run()
        except BaseException:
            print(f"python tests/simulation --first {seed} --count 1")
            raise
        law.take(history)
        happened += history.happened
    return happened


def test_histories_keep_every_promise(tmp_path):
    law = Noise()
    happened = lived(tmp_path, range(HISTORIES), law)
    assert law.p_value() > LEVEL
    kinds = (
        "kill",
        "power cut",
        "failing disk",
        "broken disk",
        "sync that was none",
        "store put back",
        "resumed",
        "end cut off",
    )
    assert all(happened[kind] for kind in (*kinds, "fork", "clock jump", "damaged by a disk that lied"))


def test_a_history_is_lived_again(tmp_path):
    """The same number, the same history: every answer, and every event."""
    first, second = (History(tmp_path, 7).run() for _ in range(2))
    assert first.answers == second.answers
    assert first.happened == second.happened


@pytest.mark.slow
def test_ten_thousand_histories(tmp_path):
    """UTMOST_HISTORIES in the environment sets another dose."""
    count, law = int(os.environ.get("UTMOST_HISTORIES", "10000")), Noise()
    print(lived(tmp_path, range(1000, 1000 + count), law))
    assert law.p_value() > LEVEL


@pytest.mark.parametrize(("fault", "first"), FAULTS.items(), ids=[fault.__name__ for fault in FAULTS])
def test_a_fault_is_found(tmp_path, monkeypatch, fault, first):
    """By a violation, an error that nothing explains, or the law of the noise."""
    fault(monkeypatch)
    monkeypatch.setattr("simulation.history.begun", {})
    law = Noise()
    for seed in range(first, first + HISTORIES):
        try:
            law.take(History(tmp_path, seed).run())
        except (Violation, LedgerError) as error:
            print(f"found in history {seed}: {error!r}")
            return
        if seed % 10 == 9 and law.p_value() < LEVEL:
            print(f"found by the law of the noise, up to history {seed}")
            return
    pytest.fail(f"{fault.__name__} passed {HISTORIES} histories")
