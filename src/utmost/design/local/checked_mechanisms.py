"""Check the privacy level of a design or a channel before it is applied to persons' secrets, and identify it by a
digest.
"""

from collections.abc import Hashable, Sequence
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
    """A mechanism from which answers can be drawn, and whose privacy level has been checked."""

    drawing: NamedMechanism
    level: Level  # level of one answer, for a change of the person's secret by a distance of 1
    relation: str  # description of the change and the space
    digest: str  # SHA-256 of level, secrets, distances, outcomes and probabilities; independent of the file format
    outcomes: int  # number of possible answers

    @property
    def names(self) -> Sequence[Hashable]:
        """The names of the answers; if the answers have no names, the indices 0, 1, ..."""
        return range(self.outcomes) if self.drawing.answers is None else self.drawing.answers

    def rows(self, secrets: Sequence[Any]) -> list[int | None]:
        """Return the index of the row of each secret. A secret that is None has the index None."""
        known = [secret for secret in secrets if secret is not None]
        # A name or an index is hashable, and not an array; NumPy scalars are accepted too.
        others = [secret for secret in known if not isinstance(secret, np.generic)]
        if any(not isinstance(secret, Hashable) or hasattr(type(secret), "__array__") for secret in others):
            kinds = ", ".join(sorted({type(secret).__name__ for secret in known}))
            raise OutOfRange("a secret must be given by its name or its number", came=kinds, where="secrets")
        rows = iter(self.drawing.rows(known).tolist() if known else [])
        return [None if secret is None else next(rows) for secret in secrets]

    def drawn(self, rows: list[int], randomness: Randomness) -> list[int]:
        """Draw the index of an answer for each row, independently and exactly."""
        numbers: NDArray[np.intp] = self.drawing.numbers(np.array(rows, np.intp), randomness, None)
        return list(map(int, numbers.tolist()))


def read_mechanism(mechanism: Optimum | Channel, space: Space | None = None) -> CheckedMechanism:
    """Check a mechanism and return it: verify the certificate of a design, or compute the level of a channel.

    Args:
        mechanism: `Optimum`, or a `Channel` of Fractions.
        space: Space of the secrets of a channel; leave it out for a design, which contains its space.

    Raises:
        WrongKind: if the mechanism is neither an `Optimum` nor a `Channel`.
        PromiseBroken: if the certificate of a design fails, or if a channel satisfies no level.
        OutOfRange: if a channel is given without a space of its size, if a design is given with a space, or if the rows
            of a channel are equal.
        Unsupported: if a channel has float entries, which satisfy no level exactly.

    Cost: an object is checked only at the first call.

    >>> from utmost.spaces import discrete
    >>> coin = Channel([["2/3", "1/3"], ["1/3", "2/3"]], secrets=["yes", "no"], outcomes=["yes", "no"])
    >>> read_mechanism(coin, discrete(2)).level
    level(alpha='1/2')
    """
    if isinstance(mechanism, Optimum):
        if space is not None:
            raise OutOfRange(
                "space= must be left out for a design, which has its own space",
                came=space,
                where="space",
                remedy="Leave out the space for a design.",
            )
        return _checked_design(mechanism)
    if not isinstance(mechanism, Channel):
        raise WrongKind("a mechanism must be a design or a channel", came=type(mechanism).__name__, where="mechanism")
    if not isinstance(space, Space):
        remedy = "Pass the space of its secrets, such as spaces.discrete(2)."
        raise OutOfRange("a channel needs a space", came=type(space).__name__, where="space", remedy=remedy)
    return _checked_channel(mechanism, space)


@lru_cache(maxsize=8)
def _checked_design(design: Optimum) -> CheckedMechanism:
    certificate = design.certificate
    if not certificate.verify():
        raise PromiseBroken(
            "the certificate of a design must verify",
            came="a certificate that does not verify",
            where="mechanism",
            remedy="Compute the design again.",
        )
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
        came = "an outcome that is possible for some secrets and impossible for others"
        raise PromiseBroken(
            "a mechanism must satisfy a finite level",
            came=came,
            remedy="Mix it with a channel that reveals nothing: channel.mix(other, p).",
        )
    if epsilon.value == 0:
        raise OutOfRange(
            "the rows of a mechanism must differ",
            came="equal rows",
            where="mechanism",
            remedy="Use a mechanism whose answers depend on the secret.",
        )
    at = level(epsilon.value) if epsilon.level is None else epsilon.level
    return _with_digest(named_mechanism(channel), space, at, channel.shape[1])


def _with_digest(drawing: NamedMechanism, space: Space, at: Level, outcomes: int) -> CheckedMechanism:
    """Return the checked mechanism, with a digest of everything on which its answers and its guarantee depend."""
    secrets = space.labels if drawing.names is None else drawing.names
    # The lengths of the essential edges determine all other distances.
    lengths = (fact for x, y in space.edges.tolist() for fact in (x, y, space.metric.length(x, y)))
    where = _digest("space", space.unit, space.size, *map(str, secrets), *lengths)
    unit = "" if space.unit is None else f" {space.unit}"
    named = () if drawing.answers is None else map(str, drawing.answers)
    # The digest includes all probabilities of a channel, or the distribution of noise. It also includes the remap.
    mechanism, remap = drawing.mechanism, () if drawing.remap is None else drawing.remap.actions.tolist()
    if isinstance(mechanism, GeometricMatrix):
        probabilities = ["geometric", mechanism.size, level_text(mechanism.level)]
    else:
        assert isinstance(mechanism, Channel), "a mechanism that is not geometric has rows"
        probabilities = ["matrix", *mechanism.matrix.ravel().tolist()]
    facts = where, level_text(at), outcomes, *named, *probabilities, "remap", *remap
    relation = f"a secret moved by a distance of 1{unit} in the space {where[:16]}"
    return CheckedMechanism(drawing, at, relation, _digest("mechanism", *facts), int(outcomes))


def _digest(*facts: object) -> str:
    """Return the SHA-256 of the texts of ``facts``, each text preceded by its length."""
    digest = sha256()
    for fact in facts:
        text = str(fact).encode()
        digest.update(len(text).to_bytes(4, "big") + text)
    return digest.hexdigest()
