"""Mechanisms by which persons are answered, checked before anything is drawn."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.levels import Level, level
from utmost.core.exact.written_levels import level_text
from utmost.core.sampling.random_bits import Randomness
from utmost.design.channels.channel import Channel
from utmost.design.channels.channel_draws import NamedMechanism, named_mechanism
from utmost.design.channels.on_counts import GeometricMatrix
from utmost.design.optima.optimum import Optimum
from utmost.design.privacy_types.smallest_level import smallest_epsilon
from utmost.design.spaces.space import Space
from utmost.errors import OutOfRange, PromiseBroken, Unsupported, WrongKind


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CheckedMechanism:
    """A mechanism whose level has been checked.

    Attributes:
        drawing: Mechanism to draw from.
        level: Level of one answer for a person whose secret moves by a distance of 1.
        relation: Change of a secret that the level is for: a distance in one space.
        digest: SHA-256 of all on which an answer and its promise depend: level, secrets, distances, outcomes, and
            every probability. It is the same however the mechanism was written to a file.
        outcomes: Number of possible answers.
    """

    drawing: NamedMechanism
    level: Level
    relation: str
    digest: str
    outcomes: int

    @property
    def names(self) -> Sequence[Hashable]:
        """The names of the answers; their numbers if they have none."""
        return range(self.outcomes) if self.drawing.answers is None else self.drawing.answers

    def rows(self, secrets: Sequence[Any]) -> list[int | None]:
        """The row of each secret, None where none was given.

        Raises:
            OutOfRange: for a secret that the mechanism does not have; the message does not repeat it.
        """
        known = [secret for secret in secrets if secret is not None]
        if not all(isinstance(secret, np.generic) or _is_plain(secret) for secret in known):
            raise OutOfRange("a secret must be one of the names, or a number", came="another kind", where="secrets")
        rows = iter(self.drawing.rows(known).tolist() if known else [])
        return [None if secret is None else next(rows) for secret in secrets]

    def drawn(self, rows: list[int], randomness: Randomness) -> list[int]:
        """The number of an answer for each row, each drawn by itself, exactly."""
        numbers: NDArray[np.intp] = self.drawing.numbers(np.array(rows, np.intp), randomness, None)
        return list(map(int, numbers.tolist()))


def read_mechanism(mechanism: Optimum | Channel, space: Space | None = None) -> CheckedMechanism:
    """A design, whose certificate is checked again, or a channel, whose level is computed from all its rows.

    Args:
        mechanism: `Optimum`, or a `Channel` of Fractions.
        space: Secrets of a channel, and their distances; a design names its own.

    Raises:
        WrongKind: for what is no mechanism.
        PromiseBroken: for a design that does not prove what it states, and for a channel that keeps no level.
        OutOfRange: for a channel without a space of its size, a design with another, and for a channel that reveals
            nothing.
        Unsupported: for a channel of floats, which keeps no level exactly.

    Cost: the check is made once for each object.

    >>> from utmost.spaces import discrete
    >>> coin = Channel([["2/3", "1/3"], ["1/3", "2/3"]], secrets=["yes", "no"], outcomes=["yes", "no"])
    >>> read_mechanism(coin, discrete(2)).level
    level(alpha='1/2')
    """
    if isinstance(mechanism, Optimum):
        if space is not None:
            raise OutOfRange("a design names its own space", came="another", where="space")
        return _checked_design(mechanism)
    if not isinstance(mechanism, Channel):
        raise WrongKind("a mechanism must be a design or a channel", came=type(mechanism).__name__, where="mechanism")
    if not isinstance(space, Space):
        raise OutOfRange("a channel says nothing of distances: name its space", came="none", where="space")
    return _checked_channel(mechanism, space)


@lru_cache(maxsize=8)
def _checked_design(design: Optimum) -> CheckedMechanism:
    certificate = design.certificate
    if not certificate.verify():
        raise PromiseBroken("a design must prove what it states", where="mechanism")
    ptype, actions = certificate.ptype, certificate.consumer.actions
    return _with_digest(named_mechanism(design), ptype.space, ptype.level, actions)


@lru_cache(maxsize=8)
def _checked_channel(channel: Channel, space: Space) -> CheckedMechanism:
    if not channel.is_exact:
        remedy = "Write fractions, or make the channel exactly private with utmost.optima.repair."
        raise Unsupported("a channel that is drawn from must have rows of Fractions", came="floats", remedy=remedy)
    if channel.shape[0] != space.size:
        raise OutOfRange(f"the space must have {channel.shape[0]} secrets", came=space.size, where="space")
    epsilon = smallest_epsilon(channel, space)
    if epsilon.value == float("inf"):
        raise PromiseBroken("a mechanism must keep some level", came="an outcome that rules a secret out")
    if epsilon.value == 0:
        raise OutOfRange("an answer that is kept must reveal something", came="equal rows", where="mechanism")
    at = level(epsilon.value) if epsilon.level is None else epsilon.level
    return _with_digest(named_mechanism(channel), space, at, channel.shape[1])


def _with_digest(drawing: NamedMechanism, space: Space, at: Level, outcomes: int) -> CheckedMechanism:
    """The mechanism, with the digest of all on which an answer and its promise depend."""
    secrets = space.labels if drawing.names is None else drawing.names
    where = _digest("space", space.unit, space.size, *map(str, secrets), *_lengths(space))
    unit = "" if space.unit is None else f" {space.unit}"
    named = () if drawing.answers is None else map(str, drawing.answers)
    facts = where, level_text(at), outcomes, *named, *_probabilities(drawing)
    relation = f"a secret moved by a distance of 1{unit} in the space {where[:16]}"
    return CheckedMechanism(drawing, at, relation, _digest("mechanism", *facts), int(outcomes))


def _is_plain(secret: object) -> bool:
    """Whether it may be a name or a number, and does not pretend to be an array."""
    return isinstance(secret, Hashable) and not hasattr(type(secret), "__array__")


def _lengths(space: Space) -> Iterable[object]:
    """The essential edges, of which every other distance is a sum."""
    for x, y in space.edges.tolist():
        yield from (x, y, space.metric.length(x, y))


def _probabilities(drawing: NamedMechanism) -> Iterable[object]:
    """Every probability, or the law and what is made of its outcomes."""
    mechanism = drawing.mechanism
    if isinstance(mechanism, GeometricMatrix):
        yield from ("geometric", mechanism.size, level_text(mechanism.level))
    else:
        assert isinstance(mechanism, Channel), "what is no geometric mechanism has rows"
        yield "matrix"
        for row in mechanism.matrix.tolist():
            yield from row
    yield from ("remap", *(() if drawing.remap is None else drawing.remap.actions.tolist()))


def _digest(*facts: object) -> str:
    """The SHA-256 of facts as text, each with its length."""
    digest = sha256()
    for fact in facts:
        text = str(fact).encode()
        digest.update(len(text).to_bytes(4, "big") + text)
    return digest.hexdigest()
