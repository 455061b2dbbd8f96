"""The source of persons' answers in a ledger: rows to draw from, a level, and a digest that never changes."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.core.exact.written_levels import level_text
from utmost.core.sampling.random_bits import Randomness
from utmost.design.channels.channel import Channel
from utmost.design.channels.channel_draws import NamedMechanism
from utmost.design.channels.on_counts import GeometricMatrix
from utmost.design.spaces.space import Space
from utmost.errors import OutOfRange


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CheckedMechanism:
    """A mechanism whose level has been checked.

    Attributes:
        drawing: Mechanism to draw from.
        level: Level of one answer for a person whose secret moves by a distance of 1.
        relation: against what that protects: a distance in one space.
        digest: the SHA-256 of all on which an answer and its promise depend: level, secrets, distances, outcomes, and
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
            OutOfRange: for a secret that is none of the mechanism's; it is not repeated.
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


def answering_of(drawing: NamedMechanism, space: Space, at: Level, outcomes: int) -> CheckedMechanism:
    """A mechanism that keeps a level, with the digest of all on which an answer and its promise depend."""
    secrets = space.labels if drawing.names is None else drawing.names
    where = _digest("space", space.unit, space.size, *map(str, secrets), *_lengths(space))
    unit = "" if space.unit is None else f" {space.unit}"
    named = () if drawing.answers is None else map(str, drawing.answers)
    about = where, level_text(at), outcomes, *named, *_probabilities(drawing)
    relation = f"a secret moved by a distance of 1{unit} in the space {where[:16]}"
    return CheckedMechanism(drawing, at, relation, _digest("mechanism", *about), int(outcomes))


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
