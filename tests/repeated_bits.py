"""Random bits that are the same in every run: a stream for each test, under its name, in the operating system's place.

A test that asks whether draws have their distribution would fail once in so many runs by chance; under bits that are
always the same it fails for everybody or for nobody. Whatever the package takes from the operating system in this
process comes from the stream; a child process, and everything but the package, takes the system's own.
"""

import contextlib
import os
import random
import sys
from hashlib import shake_256
from itertools import count

SYSTEM = "system"
"""In the place of a seed: the operating system's own bits."""

_BITS = "utmost.core.sampling.random_bits"
_CALLERS = 5  # frames up to which the package may stand: it asks, or `secrets` does for it
_real, _home = os.urandom, os.getpid()
_numbers = None
_name = None


def _served(size):
    """Bytes of the stream for the package, in the process that the stream is of; the system's for anybody else."""
    if _name is None or os.getpid() != _home or not _is_for_the_package():
        return _real(size)
    return shake_256(f"{_name} {next(_numbers)}".encode()).digest(size)


def _is_for_the_package():
    frame = sys._getframe(2)
    for _ in range(_CALLERS):
        if frame is None:
            return False
        if frame.f_globals.get("__name__", "").split(".")[0] == "utmost":
            return True
        frame = frame.f_back
    return False


def install():
    """Stand between the package and the operating system's source."""
    os.urandom = random._urandom = _served


@contextlib.contextmanager
def repeated_bits(seed, name):
    """The bits of a test, or of a fixture that several tests share: the same whenever seed and name are.

    Args:
        seed: any text, or `SYSTEM`.
        name: whose they are.
    """
    global _name, _numbers
    before = _name, _numbers
    _switch(None if seed == SYSTEM else f"{seed} {name}", count())
    try:
        yield
    finally:
        _switch(*before)


def _switch(name, numbers):
    """Go over to a stream: what was buffered of the last is thrown away, as after a fork."""
    global _name, _numbers
    _name, _numbers = name, numbers
    if _BITS in sys.modules:
        sys.modules[_BITS]._forks += 1
        sys.modules[_BITS]._seen = ()  # the source of another stream may begin with the same block


@contextlib.contextmanager
def nothing_is_drawn():
    """Fail where the package takes random bits: whatever can be refused is refused before the first draw."""
    with repeated_bits("none", "nothing is drawn"):
        numbers = _numbers
        yield
        assert next(numbers) == 0, "random bits were taken"
