"""Why a mechanism is not the best for everyone, and for which losses it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from utmost.core.exact.arguments import instance, integer, sequence_of
from utmost.core.exact.arrays import Array, fractions
from utmost.core.exact.display import Display
from utmost.core.exact.surds import Surd
from utmost.design.channels.channel import Channel
from utmost.design.channels.on_spaces import randomized_response
from utmost.design.geometry.best_action_cells import exact_loss
from utmost.design.geometry.kernel_search import kernels
from utmost.design.geometry.refinement_proofs import prefers
from utmost.design.geometry.refining import refines
from utmost.design.geometry.universal_optima import UniversalityVerdict, universality
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.loss_algebra import lifted_loss
from utmost.design.spaces.losses import loss_matrix
from utmost.errors import Unsupported


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Unserved(Display):
    """A consumer for whom a mechanism is not the best of its type.

    Attributes:
        channel: Mechanism.
        better: Mechanism of the type with which the consumer loses less.
        consumer: Prior and loss.
    """

    channel: Channel
    better: Channel
    consumer: Consumer

    def verify(self, ptype: PrivacyType) -> bool:
        """Whether both mechanisms are of the type, and the consumer prefers the better one."""
        members = ptype.contains(self.channel) and ptype.contains(self.better)
        return members and prefers(self.consumer, self.better, self.channel)


def blurred_pair(ptype: PrivacyType, loss: object, channel: Channel) -> Unserved | None:
    """A prior on two secrets at which a mechanism is not optimal, since it tells them apart less than it may.

    On two secrets the type has one best mechanism T, of which all others are refinements (corollary 9). Where the
    restriction of the channel to a pair is not T, the loss is not trivial on the pair, and T extends to the type
    by letting every other secret behave like one of the two, T is strictly better at a prior where two actions are
    equally good. On a discrete space with more than two secrets every mechanism blurs some pair, so a loss
    that is trivial on none, as every strictly monotone one is, has no universally optimal mechanism (theorem 12).

    Args:
        channel: Member of the type, exact.
        loss: Named, or (n, k), exact.
        ptype: Privacy type with rational alpha^d. The search is polynomial: no vertices are listed.

    Returns:
        None where no pair decides: that says nothing.

    Source: [fernandes2022], theorem 12, corollary 13, and their lemmas 3 and 6.

    >>> from utmost.spaces import discrete

    >>> from utmost.design.spaces import losses
    >>> fifty = PrivacyType(discrete(50), alpha="1/2")
    >>> found = blurred_pair(fifty, losses.binary, randomized_response(50, alpha="1/2"))
    >>> found.verify(fifty), [str(p) for p in found.consumer.prior if p]
    (True, ['1/2', '1/2'])
    """
    instance(ptype, PrivacyType, "ptype")
    instance(channel, Channel, "channel")
    if not channel.is_exact:
        raise Unsupported("pairs are compared in rational arithmetic only", came="float64 entries")
    table = exact_loss(loss, ptype.space.size)
    for x, z in combinations(range(ptype.space.size), 2):
        belief = _belief_of_a_tie(table[[x, z]])
        best = None if belief is None else _two_secret_optimum(ptype, x, z)
        if belief is None or best is None or _is_as_far_apart(channel, best, x, z):
            continue
        for other in (0, 1):
            better = Channel(best.matrix[[0 if s == x else 1 if s == z else other for s in range(ptype.space.size)]])
            prior = fractions(np.zeros(ptype.space.size, dtype=np.int64))
            prior[[x, z]] = belief, 1 - belief
            unserved = Unserved(channel, better, Consumer(prior, table))
            if unserved.verify(ptype):
                return unserved
    return None


def unserved_consumer(ptype: PrivacyType, channel: Channel) -> Unserved | None:
    """A consumer, of any loss, for whom a mechanism is not the best of its type; None if it is the best for everyone.

    A mechanism that is universally optimal for all losses has every other as a refinement, so all kernels: one that is
    none has a consumer who prefers it. With two secrets there is one kernel, which serves everyone (theorem 8,
    corollary 9); with more there is always someone unserved (theorem 11).

    Args:
        channel: Member of the type, exact.
        ptype: Privacy type with rational alpha^d, small enough for its kernels to be listed.

    Source: [fernandes2022], definition 2, theorems 8 and 11.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts
    >>> line = PrivacyType(counts(2), alpha="1/2")
    >>> unserved_consumer(line, geometric_channel(3, alpha="1/2")).verify(line)
    True
    """
    instance(ptype, PrivacyType, "ptype")
    instance(channel, Channel, "channel")
    for kernel in kernels(ptype):
        consumer = refines(better=channel, worse=kernel).consumer
        if consumer is not None:
            return Unserved(channel, kernel, consumer)
    return None


def _belief_of_a_tie(pair: Array) -> Fraction | None:
    """A probability of the first of two secrets at which the best action changes; None for a trivial loss."""
    if trivial_action(pair) is not None:
        return None
    first = int(min(range(pair.shape[1]), key=lambda w: (pair[1, w], pair[0, w])))  # the best where p is 0
    best: tuple[Fraction, int] | None = None
    for w in range(pair.shape[1]):
        gain, price = pair[0, first] - pair[0, w], pair[1, w] - pair[1, first]
        if gain > 0:
            best = min(best or (Fraction(1), w), (price / (gain + price), w))
    return None if best is None else best[0]


def _two_secret_optimum(ptype: PrivacyType, x: int, z: int) -> Channel | None:
    """T for the distance of two secrets; None where alpha to it is irrational."""
    length = ptype.space.length(x, z)
    if isinstance(length, Surd):
        return None
    between = ptype.level.scaled(length)
    return randomized_response(2, alpha=between.alpha_fraction()) if between.is_rational else None


def _is_as_far_apart(channel: Channel, best: Channel, x: int, z: int) -> bool:
    """Whether every outcome that occurs has one of the two ratios of T: then the restriction is T, up to merging."""
    ratio = best.matrix[0, 0] / best.matrix[1, 0]
    return all(p == ratio * q or q == ratio * p for p, q in channel.matrix[[x, z]].T)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UtilitySet(Display):
    """The losses l for which a mechanism is universally l-optimal in its type; ``loss in UtilitySet(ptype, M)``.

    It holds all trivial losses, and with two losses their sum and their multiples by a function of the secret
    (`joint_loss`, `scaled_loss`). It grows when the mechanism is replaced by one of which it is a refinement; that of a
    choice between two mechanisms is the intersection of theirs.

    Attributes:
        ptype: Privacy type with rational alpha^d.
        channel: Mechanism, a member of the type.

    Source: [fernandes2022], definition 7, theorem 6, equations (13) and (14).

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts, joint_loss
    >>> from utmost.design.spaces import losses
    >>> useful = UtilitySet(PrivacyType(counts(2), alpha="1/2"), geometric_channel(3, alpha="1/2"))
    >>> losses.binary in useful, joint_loss(losses.binary.matrix(3), losses.nib.matrix(3)) in useful
    (True, True)
    """

    ptype: PrivacyType
    channel: Channel

    def __contains__(self, loss: object) -> bool:
        return self.verdict(loss).holds

    def verdict(self, loss: object) -> UniversalityVerdict:
        """Membership of a loss, with the proof of it, or a prior and a better mechanism.

        Raises: as `universality`.
        """
        return universality(self.ptype, loss, self.channel)

    def lifted(self, loss: object, secrets: Sequence[int]) -> "LiftedLoss | None":
        """A loss on some of the secrets as one on all, if the mechanism is the best for it among mechanisms on these.

        The lifted loss is then in the set, with the small proof: whatever a mechanism of the type does elsewhere,
        on these secrets it is a mechanism of their type. None says nothing: the lifted loss may still be in the set,
        since not every mechanism on the secrets extends to all of them.

        Args:
            loss: Named, or a matrix with a row for each of these secrets.
            secrets: Different ones.

        Source: [fernandes2022], theorem 6(5), the direction that holds.
        """
        sequence_of(secrets, integer, "secrets")
        part = self.ptype.restrict(secrets)
        verdict = universality(part, loss, self.channel.restrict(secrets))
        if not verdict:
            return None
        table = exact_loss(loss, len(secrets))
        return LiftedLoss(lifted_loss(table, secrets, self.ptype.space.size), tuple(secrets), verdict)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LiftedLoss(Display):
    """A loss that is in a utility set because its restriction to some secrets is in that of the restriction.

    Attributes:
        loss: (n, k), 0 beyond the secrets.
        secrets: Secrets of the restriction.
        verdict: Verdict on the restriction, with its certificate.
    """

    loss: Array
    secrets: tuple[int, ...]
    verdict: UniversalityVerdict


def trivial_action(loss: object) -> int | None:
    """An action that is the best one whatever the secret, or None: then the loss is not trivial.

    To a trivial loss no information is worth anything: its uncertainty is linear in the prior, and the mechanism that
    reveals nothing is optimal. For no other loss is it.

    Args:
        loss: (n, k), exact.

    Source: [fernandes2022], appendix, definition 1; definition 6 asks for losses that no action changes.

    >>> trivial_action([[1, 0], [2, 2]]), trivial_action([[1, 0], [0, 1]])
    (1, None)
    """
    table = exact_loss(loss, len(loss_matrix(loss)))
    best = (table == table.min(axis=1)[:, None]).all(axis=0)
    return int(best.argmax()) if best.any() else None
