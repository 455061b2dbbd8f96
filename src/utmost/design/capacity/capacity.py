"""The capacities of a privacy type: the most that any of its mechanisms leaks, by the shortest route that proves it."""

from typing import Any

from utmost.design.capacity.certificate import TypeCapacity
from utmost.design.capacity.checker import Kind
from utmost.design.capacity.routes import shortest
from utmost.leakage import Capacity
from utmost.leakage import additive_capacity as additive_capacity_of_channel
from utmost.leakage import multiplicative_capacity as multiplicative_capacity_of_channel
from utmost.privacy import PrivacyType


def multiplicative_capacity(of: PrivacyType | Any) -> Capacity:
    """The largest factor by which a mechanism multiplies anyone's gain: of a channel, or of the worst of a type.

    For a channel C it is sum_y max_x C[x, y]; for a privacy type the maximum over its mechanisms, between 1 and n.

    Args:
        of: a privacy type; or a channel, or what can be read as one (see `utmost.leakage.multiplicative_capacity`).

    Returns:
        ``value``, a Fraction where all is rational, else a float that no mechanism of the type exceeds; ``mechanism``,
        which attains it; ``certificate``, whose ``verify()`` checks both again.

    Raises:
        Unsupported: for a type too large for every route.

    Cost: O(n) for counts and equal distances; a k x k linear system for k classes of alike secrets where its solution
    is nonnegative (60 x 60 places in seconds); else linear programs.

    Source: [fernandes2022], definition 8, theorem 14 and corollary 18.

    >>> from utmost.spaces import counts, hamming
    >>> str(multiplicative_capacity(PrivacyType(counts(5), alpha="1/2")).value)
    '8/3'
    >>> str(multiplicative_capacity(PrivacyType(hamming(3), alpha="1/2")).value)
    '64/27'
    """
    if isinstance(of, PrivacyType):
        return _of_type(of, "multiplicative")
    return multiplicative_capacity_of_channel(of)


def additive_capacity(of: PrivacyType | Any) -> Capacity:
    """The most by which a mechanism adds to anyone's gain, for gains with vulnerabilities between 0 and 1.

    For a channel C it is 1 - sum_y min_x C[x, y]; for a privacy type the maximum over its mechanisms, between 0 and 1.

    Args:
        of: a privacy type; or a channel, or what can be read as one (see `utmost.leakage.additive_capacity`).

    Returns:
        As `multiplicative_capacity`.

    Raises:
        Unsupported: for a type too large for every route.

    Source: [fernandes2022], definition 8, theorem 14 and corollary 17.

    >>> from utmost.spaces import counts, discrete
    >>> str(additive_capacity(PrivacyType(counts(5), alpha="1/2")).value)
    '5/6'
    >>> str(additive_capacity(PrivacyType(discrete(3), alpha="1/2")).value)
    '2/5'
    """
    if isinstance(of, PrivacyType):
        return _of_type(of, "additive")
    return additive_capacity_of_channel(of)


def _of_type(ptype: PrivacyType, kind: Kind) -> TypeCapacity:
    name, certificate = shortest(ptype, kind)
    return TypeCapacity.of(certificate, name)
