"""Small maps: work that may take long, in a process of its own that is ended when its time is over.

It is a program, not a copy of the server, and gets none of the variables that tell the server of its ledger: so the key
is not in it, and no script is run a second time.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import prod
from threading import BoundedSemaphore

from utmost.design.capacities import capacity
from utmost.design.optima import optimal_mechanism
from utmost.design.spaces import Consumer, Space, counts, cycle, discrete, grid, hamming, losses, priors
from utmost.design.types import PrivacyType
from utmost.errors import OutOfRange, Unsupported
from utmost.laws.exact import Level
from utmost.laws.exact.written_levels import level_of_text, level_text

MOST_PLACES = 25
_SECONDS = 20.0
_OTHERWISE = "On the command line: utmost capacity, utmost design."
_AT_ONCE = BoundedSemaphore(2)

SHAPES = {
    "grid": "a lattice, as the crow flies",
    "manhattan": "a lattice, along streets",
    "line": "a line",
    "cycle": "a circle",
    "discrete": "all equally far apart",
    "hamming": "strings of bits",
}


def shape(kind: str, size: str) -> Space:
    """The secrets of a small map.

    Args:
        kind: one of `SHAPES`.
        size: "4x4" for a lattice; else a number.

    Raises:
        OutOfRange: for another kind, and for more than 25 secrets.

    >>> shape("grid", "2x3").size, shape("hamming", "3").size
    (6, 8)
    """
    numbers = [int(part) for part in size.lower().split("x") if part.isdecimal() and part.isascii() and len(part) < 4]
    is_lattice = kind in ("grid", "manhattan")
    if kind not in SHAPES or len(numbers) != 1 + is_lattice or len(size.lower().split("x")) != len(numbers):
        remedy = "Write 4x4 for a lattice, and a number for everything else."
        raise OutOfRange("a map is of a shape and a size", came=f"{kind} {size}"[:40], remedy=remedy)
    secrets = prod(numbers) if kind != "hamming" else 2 ** min(numbers[0], 10)
    if not 2 <= secrets <= MOST_PLACES:
        remedy = "Larger maps are for the command line: utmost capacity, utmost design."
        raise OutOfRange(f"a map on a page has 2 to {MOST_PLACES} places", came=secrets, where="size", remedy=remedy)
    makers: dict[str, Callable[..., Space]] = {
        "grid": grid,
        "manhattan": lambda r, c: grid(r, c, "manhattan"),
        "line": lambda n: counts(n - 1),
        "cycle": cycle,
        "discrete": discrete,
        "hamming": hamming,
    }
    return makers[kind](*numbers)


@dataclass(frozen=True, slots=True)
class MapFound:
    """What is known of a small map at a level.

    Attributes:
        names: of the secrets.
        capacities: kind to (what no mechanism exceeds, what one attains, whether both were proved again).
        loss, lower: the expected loss of the best mechanism, and what none goes below.
        is_checked: whether its certificate was verified.
        method: how it was found.
        matrix: the best mechanism, a row for each secret.
        outcomes: the action of each column.
    """

    names: tuple[str, ...]
    capacities: tuple[tuple[str, float, float, bool], ...]
    loss: float
    lower: float
    is_checked: bool
    method: str
    matrix: tuple[tuple[float, ...], ...]
    outcomes: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> "MapFound":
        """What `json.dumps` wrote of one."""
        facts = json.loads(text)
        facts |= {name: tuple(facts[name]) for name in ("names", "outcomes")}
        facts |= {name: tuple(map(tuple, facts[name])) for name in ("capacities", "matrix")}
        return cls(**facts)


LOSSES = {"distance": "how far off the answer is", "binary": "1 unless the answer is right"}


@lru_cache(maxsize=128)
def small_map(kind: str, size: str, at: Level, cost: str) -> MapFound:
    """Capacities and the best mechanism of a small map, for somebody who thinks all places equally likely.

    Raises:
        OutOfRange: for no such shape or loss.
        Unsupported: where it takes too long, or others are at it.
    """
    shape(kind, size)
    if cost not in LOSSES:
        raise OutOfRange(f"a loss must be one of {', '.join(LOSSES)}", where="loss")
    if not _AT_ONCE.acquire(timeout=_SECONDS):
        raise Unsupported("two maps at most are worked out at once", came="more", remedy="Ask again soon.")
    try:
        return MapFound.read(_told([kind, size, level_text(at), cost]))
    finally:
        _AT_ONCE.release()


def _told(asked: list[str]) -> str:
    """What this module says as a program of its own, if it does so in time."""
    command = [sys.executable, "-m", "utmost.doors.service.page_work", *asked]
    try:
        told = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False, env=_without_secrets()
        )
    except subprocess.TimeoutExpired:
        remedy = "Take fewer places, or another level; the command line has no such limit."
        raise Unsupported(f"a page works for at most {_SECONDS:g} s", came="more", remedy=remedy) from None
    if told.returncode:
        raise Unsupported("a map must be one that can be worked out here", came="another one", remedy=_OTHERWISE)
    return told.stdout


def _without_secrets() -> dict[str, str]:
    """The environment, without what names the ledger, its key, or the password of its database."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("UTMOST_", "PG"))}


def map_found(kind: str, size: str, at: Level, cost: str) -> MapFound:
    """The work of `small_map`, without its limit."""
    space = shape(kind, size)
    ptype = PrivacyType(space, at)
    most = [(one, capacity(ptype, kind=one)) for one in ("multiplicative", "additive")]
    loss = losses.distance(space) if cost == "distance" else losses.binary
    best = optimal_mechanism(ptype, Consumer(priors.uniform(space.size), loss), exactly=False)
    names = tuple(_name(label) for label in space.labels)
    matrix = best.channel.matrix.astype(float)
    used = [k for k in range(matrix.shape[1]) if matrix[:, k].max() > 1e-9]
    return MapFound(
        names,
        tuple((one, float(found.value), float(found.lower), found.certificate.verify()) for one, found in most),
        float(best.loss),
        float(best.lower),
        bool(best.certificate.verify()),
        best.method,
        tuple(tuple(float(matrix[row, k]) for k in used) for row in range(space.size)),
        tuple(names[k] if matrix.shape[1] == space.size else str(k) for k in used),
    )


def _name(label: object) -> str:
    return ",".join(map(str, label)) if isinstance(label, tuple) else str(label)


if __name__ == "__main__":
    kind, size, at, cost = sys.argv[1:]
    sys.stdout.write(json.dumps(asdict(map_found(kind, size, level_of_text(at), cost))))
