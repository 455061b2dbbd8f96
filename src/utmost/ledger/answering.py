"""Mechanisms from which persons are answered, checked before anything is drawn; and what names one for good."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.channels import Channel, GeometricMatrix
from utmost.design import Optimum
from utmost.errors import OutOfRange, PromiseBroken, Unsupported, WrongKind
from utmost.exact import Level, level
from utmost.privacy import smallest_epsilon
from utmost.release.statements import level_text
from utmost.sampling.channel_draws import Drawing, drawing_of
from utmost.sampling.random_bits import Randomness
from utmost.spaces import Space


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Answering:
    """A mechanism whose level has been checked.

    Attributes:
        drawing: what is drawn from.
        level: what one answer costs a person whose secret moves by a distance of 1.
        relation: against what that protects: a distance in one space.
        digest: the SHA-256 of all on which an answer and its promise depend: level, secrets, distances, outcomes, and
            every probability. It is the same however the mechanism was written to a file.
        outcomes: how many answers there can be.
    """

    drawing: Drawing
    level: Level
    relation: str
    digest: str
    outcomes: int

    @property
    def names(self) -> Sequence[Hashable]:
        """What the answers are called; their numbers where they have no names."""
        return range(self.outcomes) if self.drawing.answers is None else self.drawing.answers

    def rows(self, secrets: Sequence[Any]) -> list[int | None]:
        """The row of each secret, None where none was given.

        Raises:
            OutOfRange: for a secret that is none of the mechanism's; it is not repeated.
        """
        given = [one for one in secrets if one is not None]
        rows = iter(self.drawing.rows(given).tolist() if given else [])
        return [None if one is None else next(rows) for one in secrets]

    def drawn(self, rows: list[int], randomness: Randomness) -> list[int]:
        """The number of an answer for each row, each drawn by itself, exactly."""
        found: NDArray[np.intp] = self.drawing.numbers(np.array(rows, np.intp), randomness, None)
        return list(map(int, found.tolist()))


def read_mechanism(mechanism: object, space: Space | None) -> Answering:
    """A design, whose certificate is checked again, or a channel, whose level is computed from all its rows.

    Args:
        mechanism: an `Optimum`, or a `Channel` of Fractions.
        space: the secrets of a channel, and their distances; a design names its own.

    Raises:
        WrongKind: for what is no mechanism.
        PromiseBroken: for a design that does not prove what it states, and for a channel that keeps no level.
        OutOfRange: for a channel without a space of its size, a design with another, and for a channel that reveals
            nothing.
        Unsupported: for a channel of floats, which keeps no level exactly.

    Cost: the check is made once for each object.
    """
    if isinstance(mechanism, Optimum):
        if space is not None:
            raise OutOfRange("a design names its own space", came="another", where="space")
        return _of_certificate(mechanism)
    if not isinstance(mechanism, Channel):
        raise WrongKind("a mechanism must be a design or a channel", came=type(mechanism).__name__, where="mechanism")
    if not isinstance(space, Space):
        raise OutOfRange("a channel says nothing of distances: name its space", came="none", where="space")
    return _of_channel(mechanism, space)


@lru_cache(maxsize=8)
def _of_certificate(design: Optimum) -> Answering:
    certificate = design.certificate
    if not certificate.verify():
        raise PromiseBroken("a design must prove what it states", where="mechanism")
    return _read(drawing_of(design), certificate.ptype.space, certificate.ptype.level, certificate.consumer.actions)


@lru_cache(maxsize=8)
def _of_channel(channel: Channel, space: Space) -> Answering:
    if not channel.is_exact:
        remedy = "Write fractions, or make the channel exactly private with utmost.design.repair."
        raise Unsupported("a channel that is drawn from must have rows of Fractions", came="floats", remedy=remedy)
    if channel.shape[0] != space.size:
        raise OutOfRange(f"the space must have {channel.shape[0]} secrets", came=space.size, where="space")
    kept = smallest_epsilon(channel, space)
    if kept.value == float("inf"):
        raise PromiseBroken("a mechanism must keep some level", came="an outcome that rules a secret out")
    if kept.value == 0:
        raise OutOfRange("an answer that is kept must reveal something", came="equal rows", where="mechanism")
    at = level(kept.value) if kept.level is None else kept.level
    return _read(drawing_of(channel), space, at, channel.shape[1])


def _read(drawing: Drawing, space: Space, at: Level, outcomes: int) -> Answering:
    secrets = space.labels if drawing.names is None else drawing.names
    where = _digest("space", space.unit, space.size, *map(str, secrets), *_lengths(space))
    unit = "" if space.unit is None else f" {space.unit}"
    named = () if drawing.answers is None else map(str, drawing.answers)
    about = where, level_text(at), outcomes, *named, *_probabilities(drawing)
    relation = f"a secret moved by a distance of 1{unit} in the space {where[:16]}"
    return Answering(drawing, at, relation, _digest("mechanism", *about), int(outcomes))


def _lengths(space: Space) -> Iterable[object]:
    """The essential edges, of which every other distance is a sum."""
    for x, y in space.edges.tolist():
        yield from (x, y, space.metric.length(x, y))


def _probabilities(drawing: Drawing) -> Iterable[object]:
    """Every probability, or the law and what is made of its outcomes."""
    if isinstance(drawing.mechanism, GeometricMatrix):
        yield from ("geometric", drawing.mechanism.size, level_text(drawing.mechanism.level))
    else:
        yield "matrix"
        for row in drawing.mechanism.matrix.tolist():
            yield from row
    yield from ("remap", *(() if drawing.remap is None else drawing.remap.actions.tolist()))


def _digest(*facts: object) -> str:
    """The SHA-256 of facts as text, each with its length."""
    found = sha256()
    for fact in facts:
        text = str(fact).encode()
        found.update(len(text).to_bytes(4, "big") + text)
    return found.hexdigest()
