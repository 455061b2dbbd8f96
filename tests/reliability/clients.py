"""Clients of one ledger, each in a process of its own, that report every answer the moment they have it."""

import json
import os
import random
import selectors
import signal
import time

import utmost as ut
from utmost.errors import LedgerUnavailable, NeedsTable, NotPublished
from utmost.ledger import Ledger

LEVELS = ["1/4", "1/2", "1", "2", "4"]
ITEMS = 12
ROWS = 6
NEEDED = (LedgerUnavailable, NeedsTable, NotPublished)
"""What a client may well be reported: somebody else is writing, or the release is not so far yet."""


OPENED = ["opened"]
"""What a client says first."""


def table(item):
    """The true values of an item, and its rows' names."""
    return {"row": [f"{item}-{k}" for k in range(ROWS)], "n": [item * 1000 + 7 * k for k in range(ROWS)]}


def first_level(item):
    return LEVELS[item % 3]


def publish(ledger, item):
    return ledger.publish(
        f"item {item}",
        table(item),
        ut.Promise(columns=["n"], public=["row"], unit=ut.Unit(1, 1)),
        epsilon=first_level(item),
        dataset="all",
    ).at(first_level(item))


def ask(ledger, item, level, how):
    """One request: the released values."""
    if how == "publish":
        return [int(n) for n in publish(ledger, item)["n"]]
    if how == "relax":
        return [int(n) for n in ledger.relax(f"item {item}", table(item), epsilon=level)["n"]]
    return [int(n) for n in ledger.view(f"item {item}", epsilon=level)["n"]]


def random_request(rng, items=ITEMS):
    item, how = rng.randrange(items), rng.choice(["publish", "relax", "view", "relax", "view", "view"])
    return item, first_level(item) if how == "publish" else rng.choice(LEVELS), how


def work(place, options, seed, say, requests=None, items=ITEMS):
    """Ask at random, for ever or so many times; say (item, level, values) of each answer."""
    rng = random.Random(seed)
    with Ledger.open(place, create=True, **options) as ledger:
        say(OPENED)
        while requests is None or requests > 0:
            requests = None if requests is None else requests - 1
            item, level, how = random_request(rng, items)
            try:
                say([item, level, ask(ledger, item, level, how)])
            except NEEDED:
                continue


class Children:
    """Forked processes that say JSON lines into one pipe each."""

    def __init__(self):
        self._pipes, self._parts = {}, {}

    def start(self, job):
        """Run ``job(say)`` in a child; returns its process number."""
        receive, send = os.pipe()
        child = os.fork()
        if child:
            os.close(send)
            self._pipes[child] = receive
            return child
        status = 1
        try:
            os.close(receive)
            job(lambda message: os.write(send, json.dumps(message).encode() + b"\n"))
            status = 0
        except BaseException as error:
            os.write(send, json.dumps(["error", type(error).__name__, str(error)[:400]]).encode() + b"\n")
        finally:
            os._exit(status)

    def first_word(self, child):
        """Wait until a child has said something."""
        parts = self._parts.setdefault(child, [])
        parts.append(os.read(self._pipes[child], 1 << 16))

    def heard(self, child):
        """All that a child has said by its end, and how it ended; a line cut off in the middle was not said."""
        receive, parts = self._pipes.pop(child), self._parts.pop(child, [])
        while part := os.read(receive, 1 << 16):
            parts.append(part)
        os.close(receive)
        _, status = os.waitpid(child, 0)
        return [json.loads(line) for line in b"".join(parts).split(b"\n")[:-1]], status

    def listen(self, take):
        """Take the lines of all children as they come, so that none waits for another; how each ended."""
        rest, ended = {}, []
        with selectors.DefaultSelector() as ready:
            for child, receive in self._pipes.items():
                ready.register(receive, selectors.EVENT_READ, child)
            while ready.get_map():
                for key, _ in ready.select():
                    part = os.read(key.fd, 1 << 16)
                    *lines, rest[key.data] = (rest.get(key.data, b"") + part).split(b"\n")
                    take([json.loads(line) for line in lines])
                    if not part:
                        ready.unregister(key.fd)
                        os.close(key.fd)
                        ended.append(os.waitpid(key.data, 0)[1])
        self._pipes.clear()
        return ended


def killed_at_random(place, options, rng, writers, longest, items=ITEMS):
    """Start writers, kill each at a moment of its own; returns all that they said."""
    children = Children()
    seeds = [rng.getrandbits(40) for _ in range(writers)]
    begun = [children.start(lambda say, seed=seed: work(place, options, seed, say, items=items)) for seed in seeds]
    for child in begun:
        children.first_word(child)
        time.sleep(rng.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
    return [line for child in begun for line in children.heard(child)[0]]


class Record:
    """Every answer that was ever given: one for each item and level."""

    def __init__(self):
        self.answers, self.count = {}, 0

    def take(self, lines):
        for line in lines:
            if line == OPENED:
                continue
            assert line[0] != "error", line
            item, level, values = line
            assert self.answers.setdefault((item, level), values) == values, f"two values for {item} at {level}"
            self.count += 1

    def check(self, ledger):
        """Whether the ledger still gives each of them, and is whole."""
        ledger.verify()
        for (item, level), values in self.answers.items():
            assert ask(ledger, item, level, "view") == values, f"item {item} at {level} is lost or changed"
