"""Histories of a ledger, its clients and its service keep every promise; and each planted fault is found."""

import os
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from disk import library
from faults.test_planted_ledger_faults import _no_sampler_survives  # noqa: F401  (a fixture)
from goodness import LEVEL
from simulation.calls import FIRST, LEVELS, noise
from simulation.history import History, Violation
from simulation.protocol_faults import FAULTS
from utmost.errors import LedgerError
from utmost.laws.exact import level
from utmost.laws.gradual import joint_pmf

pytestmark = [
    pytest.mark.skipif(library() is None, reason="SQLite is built into Python here"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]
HISTORIES = 40
SPAN = 8
"""Noise up to here is counted by value."""


class Noise:
    """The noise of each cell at two levels, over many histories."""

    def __init__(self):
        self.pairs = {pair: Counter() for pair in combinations(LEVELS[1:], 2)}

    def take(self, history):
        """All that one history answered."""
        for name, version in {item[:2] for item in history.answers if item[0] in FIRST}:
            for pair, seen in self.pairs.items():
                items = [(name, version, epsilon) for epsilon in pair]
                if all(item in history.answers for item in items):
                    seen.update(zip(*(noise(item, history.answers[item]) for item in items), strict=True))

    def p_value(self):
        """The least of the p-values of chi-square tests against the joint law, one for each pair of levels."""
        return min(self._p_value(*pair) for pair in self.pairs.items())

    def _p_value(self, pair, seen):
        count, axis = sum(seen.values()), np.arange(-SPAN, SPAN + 1)
        if not count:
            return 1.0
        grid = np.meshgrid(axis, axis, indexing="ij")
        expected = count * joint_pmf(grid, [level(epsilon) for epsilon in pair]).astype(float).ravel()
        observed = np.array([seen[cell] for cell in zip(*(each.ravel().tolist() for each in grid), strict=True)])
        often = expected >= 5
        expected, observed = (np.append(each[often], count - each[often].sum()) for each in (expected, observed))
        return stats.chisquare(observed, expected).pvalue if often.any() else 1.0


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
