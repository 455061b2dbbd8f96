"""Test every noise in every memory with auditors from elsewhere: StatDP's hypothesis test, DP-Auditorium's histogram
tester, and a reimplementation of the attack of DP-Sniper, whose own code needs PyTorch. The first two are read from
checkouts, since no package index has them: UTMOST_JUDGES names a folder that holds `statdp` and `dp_auditorium` as in
their repositories (cmla-psu/statdp, google/differential-privacy), with `pip install etils tqdm`. `-s` prints the
results. An auditor that finds nothing shows little, so StatDP must also refute half of the level for the same draws."""

import importlib
import os
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ledger.doubled_noise import know
from ledger.test_conformance import MEMORIES, NOISES, REFUSED, Promise, Texts, key_noise, selected_cell_noise
from utmost.exact import level

FOLDER = os.environ.get("UTMOST_JUDGES")
CELLS = int(os.environ.get("UTMOST_DRAWS", "200000"))
LOWER, HIGHER = "1/2", "1"
EDGE = 5
NOT_NAMED = -(10**6)
SUREST = 0.01
DIGITS = Texts("0123456789", most=6)

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(FOLDER is None, reason="UTMOST_JUDGES names no folder of checkouts"),
]
CASES = [(n, m) for n in NOISES for m in MEMORIES if (n, m) not in REFUSED and NOISES[n].lattice is not None]
CASES.remove(("by item", "service"))  # its answer has an item a row: the same draws as from the book, at a page each


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    know(monkeypatch)


@pytest.fixture(scope="module")
def judges():
    """The two tests without the rest of their packages, which needs TensorFlow and Vizier."""
    sys.path.insert(0, FOLDER)
    for name in ("dp_auditorium", "dp_auditorium.testers", "dp_auditorium.configs"):
        package = types.ModuleType(name)
        package.__path__ = [str(Path(FOLDER, *name.split(".")))]
        sys.modules[name] = package
    configs = importlib.import_module("dp_auditorium.configs.property_tester_config")
    properties = importlib.import_module("dp_auditorium.configs.privacy_property")
    tester = importlib.import_module("dp_auditorium.testers.histogram_tester").HistogramTester
    hypothesis = importlib.import_module("statdp.hypotest").test_statistics
    yield hypothesis, lambda size, epsilon: tester(
        configs.HistogramPropertyTesterConfig(
            test_discrete_mechanism=True, histogram_size=size, min_value=0, max_value=size,
            approximate_dp=properties.ApproximateDp(epsilon=epsilon, delta=0.0),
        )
    )  # fmt: skip
    sys.path.remove(FOLDER)


def responses(kind, memory, folder):
    """Steps of noise at a level, and later at a higher level: a row for each cell."""
    folder.mkdir()
    table = kind.table(CELLS)
    release = MEMORIES[memory](folder, kind.promise(CELLS), table, LOWER).release
    answers = [release.at(asked_level, table=table).table for asked_level in (LOWER, HIGHER)]
    return np.stack([np.asarray(kind.steps(answer, table)) for answer in answers], axis=1)


def pairs(steps, shift):
    """Each pair of responses as one number; values beyond the edges are one event."""
    inside = np.clip(steps + shift, -EDGE, EDGE) + EDGE
    return inside @ np.array([2 * EDGE + 1, 1])


@pytest.mark.parametrize(("noise", "memory"), CASES)
def test_no_judge_refutes_the_level(judges, tmp_path, noise, memory):
    """Both responses together satisfy the higher level for a change by one step, and violate half of it."""
    kind = NOISES[noise]
    here, there = (pairs(responses(kind, memory, tmp_path / str(shift)), shift) for shift in (0, 1))
    judge(
        judges,
        here,
        there,
        float(kind.lattice.of(level(HIGHER)).epsilon),
        (2 * EDGE + 1) ** 2,
        f"{noise:>12} {memory:>8}",
    )


def judge(judges, here, there, epsilon, size, about):
    """No auditor refutes the level of two samples of events, and both refute a fraction of it. DP-Auditorium's bound on
    delta is 0 at the level; StatDP finds an event that violates half of the level."""
    hypothesis, auditorium = judges
    half = len(here) // 2

    def p_value(claim):
        """StatDP: choose the worst event in half of the draws, and test it in the other half."""
        counts = [
            [np.bincount(part, minlength=size) for part in (events[:half], events[half:])] for events in (here, there)
        ]
        (first, judged), (other, others) = counts
        score = np.where(first + other > 0.002 * half, first - np.exp(claim) * other, -np.inf)
        event = score > 0
        cx, cy = int(judged[event].sum()), int(others[event].sum())
        return float(hypothesis(cx, cy, claim, half)) if event.any() else 1.0

    def sniped():
        """DP-Sniper's attack: choose the outcomes with the largest odds (one percent) in one half of the draws, and
        measure the power in the other half. Clopper-Pearson bounds, each wrong once in 10^9. Counts are the best
        possible classifier."""
        found = [
            [np.bincount(part, minlength=size) for part in (events[:half], events[half:])] for events in (here, there)
        ]
        best = 0.0
        for (first, judged), (other, others) in (found, found[::-1]):
            order = np.argsort(-(first + 1e-9) / (other + 1))
            event = order[: np.searchsorted(np.cumsum(first[order]), SUREST * half) + 1]
            more, less = int(judged[event].sum()), int(others[event].sum())
            low = stats.beta.ppf(1e-9, more, half - more + 1) if more else 0.0
            best = max(best, np.log(max(low, 1e-300) / stats.beta.isf(1e-9, less + 1, half - less)))
        return best / epsilon

    p_values = {claim: p_value(claim * epsilon) for claim in (1, 0.5)}
    deltas = {claim: auditorium(size, claim * epsilon).estimate_lower_bound(here, there, 1e-6) for claim in (1, 0.1)}
    print(
        f"\n{about}: p {p_values[1]:.2g}, at .5 {p_values[0.5]:.1g}; "
        f"delta at least {deltas[1]:.3f}, at .1 {deltas[0.1]:.3f}; sniped {sniped():.2f}"
    )
    assert sniped() <= 1
    assert p_values[1] > 1e-6
    assert p_values[0.5] < 1e-6
    assert deltas[1] <= 0


def spelled(n):
    """A given number of words of six digits."""
    return [f"{number:06d}" for number in range(n)]


NAMING = {
    "keys": key_noise(["word", "n"], delta="1/1000000"),
    "selected cells": selected_cell_noise(["word", "n"], DIGITS),
}


def named(noise, memory, folder, count, words):
    """For words with the same count: the noise of each selected word, and NOT_NAMED for the others."""
    folder.mkdir()
    table = {"word": words, "n": np.full(len(words), count)}
    answer = MEMORIES[memory](folder, Promise(noise=NAMING[noise]), table, HIGHER).at(HIGHER, table=table)
    shown = dict(zip(map(str, answer["word"]), map(int, answer["n"]), strict=True))
    return np.array([shown[word] - count if word in shown else NOT_NAMED for word in words])


@pytest.mark.parametrize("noise", NAMING)
@pytest.mark.parametrize("memory", MEMORIES)
def test_no_judge_refutes_what_is_named(judges, tmp_path, noise, memory):
    """A key or cell that is selected half of the time: a count that differs by one satisfies the level, and violates
    half of it."""
    words = spelled(CELLS // 4)
    few = words[:400]
    count = next(
        count
        for count in range(1, 200)
        if (named(noise, "process", tmp_path / f"{count}", count, few) != NOT_NAMED).mean() > 0.4
    )

    def events(more):
        steps = named(noise, memory, tmp_path / f"more {more}", count + more, words)
        return np.where(steps == NOT_NAMED, 2 * EDGE + 1, np.clip(steps + more, -EDGE, EDGE) + EDGE)

    judge(judges, events(0), events(1), float(level(HIGHER).epsilon), 2 * EDGE + 2, f"{noise:>12} {memory:>8}")
