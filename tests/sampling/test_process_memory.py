"""Whatever keeps noise in memory has one memory: one thread at a time, one process, no copies."""

import copy
import inspect
import os
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import utmost as ut
from utmost.errors import Unsupported
from utmost.local import PermanentResponses
from utmost.releases import KeySelection

# How each kind is made, and its answer at the k-th of growing levels as something that can be compared.
MAKERS = {
    "GradualRelease": (
        lambda: ut.GradualRelease(np.arange(40), sensitivity=1),
        lambda release, k: release.at(epsilon=k).tolist(),
    ),
    "PlanarRelease": (
        lambda: ut.PlanarRelease(np.zeros((20, 2))),
        lambda release, k: release.at(epsilon=k).tolist(),
    ),
    "KeySelection": (
        lambda: KeySelection({f"key {n}": 1 for n in range(60)}, epsilon=1),
        lambda release, k: release.at(f"{k}/4").keys,
    ),
    "PermanentReports": (
        lambda: ut.local.PermanentReports(np.arange(40) % 10, ut.local.short_report(10, 1)),
        lambda reports, k: np.asarray(reports.at(k)).tolist(),
    ),
    "PermanentResponses": (
        lambda: PermanentResponses(np.zeros((20, 20), np.uint8)),
        lambda release, k: release.at(f"1/{k + 1}").tolist(),
    ),
}
kinds = pytest.mark.parametrize("kind", MAKERS)


def parameters(kind):
    try:
        return inspect.signature(kind).parameters
    except (TypeError, ValueError):
        return {}


def test_whatever_answers_again_and_draws_is_one_memory():
    """Each public class with a verb of asking and randomness of its own is tried here, or has its memory in a store."""
    public = [getattr(ut, name) for name in ut.__all__]
    public += [
        getattr(room, name) for room in public if inspect.ismodule(room) for name in getattr(room, "__all__", ())
    ]
    asking = {
        kind.__name__
        for kind in filter(inspect.isclass, public)
        if {"at", "view"} & set(vars(kind)) and "randomness" in parameters(kind)
    }
    assert asking == {*MAKERS, "Ledger"}


@kinds
def test_threads_get_one_answer(kind):
    """Eight threads that ask for the same new answer at once get the same one."""
    make, answer = MAKERS[kind]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(3):
            release, start = make(), threading.Barrier(8)

            def ask(k, release=release, start=start):
                start.wait()
                return k, str(answer(release, k))

            with ThreadPoolExecutor(8) as pool:
                given = set(pool.map(ask, [1] * 8))
            assert given == {(1, str(answer(release, 1)))}
    finally:
        sys.setswitchinterval(before)


@kinds
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_repeats_and_draws_nothing_new(kind):
    make, answer = MAKERS[kind]
    release = make()
    known = answer(release, 1)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        verdict = b"drew"
        try:
            if answer(release, 1) != known:
                verdict = b"differs"
            answer(release, 2)
        except Unsupported as error:
            verdict = b"refused" if verdict == b"drew" and "the process that gave" in str(error) else b"another refusal"
        os.write(writing, verdict)
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 20) == b"refused"
    os.close(reading), os.close(writing)
    answer(release, 2)


@kinds
def test_a_child_forked_while_a_thread_draws_is_not_stuck(kind, monkeypatch):
    """The lock that a thread of the parent holds is not the child's."""
    make, answer = MAKERS[kind]
    release = make()
    known = answer(release, 1)
    owner = os.getpid()
    with release._alone(), ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(os, "getpid", lambda: owner + 1)
        assert pool.submit(answer, release, 1).result(timeout=10) == known


@kinds
def test_nothing_that_remembers_is_copied(kind):
    release = MAKERS[kind][0]()
    for copying in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(Unsupported, match="copied"):
            copying(release)
