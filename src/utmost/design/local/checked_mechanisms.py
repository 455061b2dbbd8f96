"""Mechanisms from which persons are answered, checked before anything is drawn."""

from functools import lru_cache

from utmost.core.exact.levels import level
from utmost.design.channels.channel import Channel
from utmost.design.channels.channel_draws import drawing_of
from utmost.design.local.answering import CheckedMechanism, answering_of
from utmost.design.optima.optimum import Optimum
from utmost.design.privacy_types.smallest_level import smallest_epsilon
from utmost.design.spaces.space import Space
from utmost.errors import OutOfRange, PromiseBroken, Unsupported, WrongKind


def read_mechanism(mechanism: Optimum | Channel, space: Space | None = None) -> CheckedMechanism:
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

    >>> from utmost.spaces import discrete
    >>> coin = Channel([["2/3", "1/3"], ["1/3", "2/3"]], secrets=["yes", "no"], outcomes=["yes", "no"])
    >>> read_mechanism(coin, discrete(2)).level
    level(alpha='1/2')
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
def _of_certificate(design: Optimum) -> CheckedMechanism:
    certificate = design.certificate
    if not certificate.verify():
        raise PromiseBroken("a design must prove what it states", where="mechanism")
    ptype, actions = certificate.ptype, certificate.consumer.actions
    return answering_of(drawing_of(design), ptype.space, ptype.level, actions)


@lru_cache(maxsize=8)
def _of_channel(channel: Channel, space: Space) -> CheckedMechanism:
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
    return answering_of(drawing_of(channel), space, at, channel.shape[1])
