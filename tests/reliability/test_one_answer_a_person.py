"""R1 and R2 for answers of persons: one for each, whoever asks at once, and whenever a process dies."""

import os
import random
import signal
import time

import pytest

from disk import Disk, library
from reliability.clients import OPENED, Children
from reliability.test_kills import die_at
from utmost.channels import Channel
from utmost.errors import LedgerUnavailable
from utmost.ledger import Ledger
from utmost.local import read_mechanism
from utmost.spaces import discrete

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]
ANSWERS = 16
NOISY = read_mechanism(Channel([["1/8", *["1/24"] * 15, "1/4"], ["1/4", *["1/24"] * 15, "1/8"]]), discrete(2))
"""Seventeen answers: two who were answered apart agree once in twelve times."""


def answer(ledger, version, person, secret):
    return ledger.respond("noisy", NOISY, {person: secret}, version=version)[person]


def insist(place, options, seed, requests, say, persons):
    """Ask about anybody, in either version, with whatever secret; say each answer."""
    rng = random.Random(seed)
    with Ledger.open(place, create=True, **options) as ledger:
        say(OPENED)
        while requests is None or requests > 0:
            requests = None if requests is None else requests - 1
            version, person = rng.choice([1, 1, 2]), f"p{rng.randrange(persons)}"
            try:
                say([version, person, answer(ledger, version, person, rng.randrange(2))])
            except LedgerUnavailable:
                continue


class Said:
    """Every answer that was given."""

    def __init__(self):
        self.answers, self.count = {}, 0

    def take(self, lines):
        for line in lines:
            if line == OPENED:
                continue
            assert line[0] != "error", line
            version, person, said = line
            assert self.answers.setdefault((version, person), said) == said, f"two answers in version {version}"
            self.count += 1

    def check(self, place, options):
        """Whether the ledger still gives each of them, and is whole."""
        with Ledger.open(place, **options) as ledger:
            assert ledger.verify().answers >= len(self.answers)
            for (version, person), said in self.answers.items():
                assert answer(ledger, version, person, None) == said


def begun(place, options):
    """A ledger with both versions of the mechanism, so that either may be asked."""
    with Ledger.open(place, create=True, **options) as ledger:
        for version in (1, 2):
            answer(ledger, version, "first", 0)


def test_six_clients_and_two_hundred_requests(postgresql):
    place, options = postgresql
    begun(place, options)
    children, said = Children(), Said()
    for seed in range(6):
        children.start(lambda say, seed=seed: insist(place, options, seed, 35, say, 60))
    assert not any(children.listen(said.take))
    assert said.count == 210
    said.check(place, options)


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path):
    """Two writers at a time are killed; what they said stands, and what was drawn for nobody is nobody's second.

    A busy machine answers less before each kill; then more are killed.
    """
    place, options, rng, said = str(tmp_path / "l.db"), {}, random.Random(5), Said()
    begun(place, options)
    for round_ in range(60):
        if round_ >= 6 and said.answers:
            break
        children = Children()
        seeds = [rng.getrandbits(40) for _ in range(2)]
        writers = [
            children.start(lambda say, seed=seed: insist(place, options, seed, None, say, 200)) for seed in seeds
        ]
        for child in writers:
            children.first_word(child)
            time.sleep(rng.uniform(0, 0.15))
            os.kill(child, signal.SIGKILL)
        for child in writers:
            said.take(children.heard(child)[0])
    assert said.answers
    said.check(place, options)


@pytest.mark.slow
@pytest.mark.skipif(library() is None, reason="SQLite is built into Python here")
def test_killed_at_operations_of_the_disk(tmp_path):
    place, said = str(tmp_path / "l.db"), Said()
    begun(place, {})
    for point in range(0, 150, 10):

        def job(say, point=point):
            with Disk(die_at(point)):
                insist(place, {}, point, None, say, 500)

        children = Children()
        lines, status = children.heard(children.start(job))
        assert os.WIFSIGNALED(status)
        said.take(lines)
    assert said.answers
    said.check(place, {})
