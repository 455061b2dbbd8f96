"""Find a consumer for whom a mechanism is not optimal, and decide for which losses a mechanism is optimal at every
prior.
"""

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
    """A consumer for whom a mechanism is not optimal in its type."""

    channel: Channel
    better: Channel  # a mechanism of the type with a smaller expected loss for the consumer
    consumer: Consumer

    def verify(self, ptype: PrivacyType) -> bool:
        """Check that both mechanisms are of the type, and that `better` has a smaller loss for the consumer."""
        members = ptype.contains(self.channel) and ptype.contains(self.better)
        return members and prefers(self.consumer, self.better, self.channel)


def blurred_pair(ptype: PrivacyType, loss: object, channel: Channel) -> Unserved | None:
    """Return a consumer, with a prior on two secrets, for whom a mechanism is not optimal, because the mechanism
    distinguishes these secrets too little.

    On two secrets the type has one best mechanism T, and every other mechanism post-processes T (corollary 9). The
    search looks for a pair of secrets on which the channel is not T and the loss is not trivial, and for which T
    extends to a mechanism of the type that treats every other secret like one of the two. The extension of T is
    strictly better than the channel at a prior on the pair at which two actions are equally good. On a discrete space
    with more than two secrets, no mechanism is T on every pair. So on a discrete space with more than two secrets, a
    loss that is trivial on no pair, such as any strictly monotone loss, has no universally optimal mechanism (theorem
    12).

    Args:
        ptype: Privacy type with rational alpha^d. The search takes polynomial time: no vertices are listed.
        loss: Named loss, or (n, k) matrix, exact.
        channel: Exact channel of the type.

    Returns:
        A consumer and a better mechanism; None if the search finds no such pair, which does not prove that the channel
        is optimal.

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
        remedy = "Give the channel as Fractions or text."
        raise Unsupported("the channel must be exact", came="float64 entries", remedy=remedy)
    table = exact_loss(loss, ptype.space.size)
    for x, z in combinations(range(ptype.space.size), 2):
        belief, length = _belief_of_a_tie(table[[x, z]]), ptype.space.length(x, z)
        if belief is None or isinstance(length, Surd):
            continue
        between = ptype.level.scaled(length)
        if not between.is_rational:
            continue
        a = between.alpha_fraction()
        # If the two probabilities of every outcome have the ratio a or 1/a, the channel is T on the pair, up to
        # merging.
        if all(a * p == q or a * q == p for p, q in channel.matrix[[x, z]].T):
            continue
        best = randomized_response(2, alpha=a)
        for other in (0, 1):
            better = Channel(best.matrix[[0 if s == x else 1 if s == z else other for s in range(ptype.space.size)]])
            prior = fractions(np.zeros(ptype.space.size, dtype=np.int64))
            prior[[x, z]] = belief, 1 - belief
            unserved = Unserved(channel, better, Consumer(prior, table))
            if unserved.verify(ptype):
                return unserved
    return None


def unserved_consumer(ptype: PrivacyType, channel: Channel) -> Unserved | None:
    """Return a consumer, with any loss and prior, for whom a mechanism is not optimal in its type; None if none exists.

    If a mechanism is optimal for all priors and losses, every kernel of the type is a refinement of the mechanism. If
    some kernel is not a refinement of the mechanism, some consumer prefers that kernel. A type on two secrets has only
    one kernel, which is optimal for all consumers (theorem 8, corollary 9); on more than two secrets, no mechanism is
    optimal for all consumers (theorem 11).

    Args:
        ptype: Privacy type with rational alpha^d, small enough to list its kernels.
        channel: Exact channel of the type.

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
    """Return a probability of the first of two secrets at which the best action changes; None if it never does."""
    if trivial_action(pair) is not None:
        return None
    # The best action if the first secret has probability 0.
    first = int(min(range(pair.shape[1]), key=lambda w: (pair[1, w], pair[0, w])))
    best: tuple[Fraction, int] | None = None
    for w in range(pair.shape[1]):
        gain, price = pair[0, first] - pair[0, w], pair[1, w] - pair[1, first]
        if gain > 0:
            best = min(best or (Fraction(1), w), (price / (gain + price), w))
    return None if best is None else best[0]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UtilitySet(Display):
    """The losses l for which a mechanism M is universally l-optimal in its type; ``loss in UtilitySet(ptype, M)``
    decides whether a loss is one of them.

    The set contains all trivial losses, and is closed under sums and under multiplication by a function of the secret
    (`joint_loss`, `scaled_loss`). If a mechanism M is a refinement of a mechanism N, the set of M is contained in the
    set of N. If a fair coin with a public outcome decides which of two mechanisms is used, the set of the combination
    is the intersection of the sets of the two mechanisms.

    Attributes:
        ptype: Privacy type with rational alpha^d.
        channel: Mechanism of the type.

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
        """Decide whether a loss is in the set; return a proof, or a prior at which another mechanism is better.

        Raises: the errors of `universality`.
        """
        return universality(self.ptype, loss, self.channel)

    def lifted(self, loss: object, secrets: Sequence[int]) -> "LiftedLoss | None":
        """Extend a loss from some secrets to all; None if the mechanism, restricted to these secrets, is not
        universally optimal for the loss.

        The extended loss is 0 for the other secrets. The extended loss is in the set, because every mechanism of the
        type restricts to a mechanism on the given secrets. If the result is None, the extended loss may still be in the
        set, because not every mechanism on the given secrets extends to all secrets.

        Args:
            loss: Named loss, or matrix with one row for each given secret.
            secrets: Distinct indices of secrets.

        Source: [fernandes2022], theorem 6(5), of which only this direction is true.
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
    """A loss on all secrets that is in a `UtilitySet`. It is 0 except for the secrets in `secrets`, and `verdict`
    proves that the mechanism, restricted to these secrets, is universally optimal for the loss.
    """

    loss: Array  # (n, k), 0 for secrets that are not in `secrets`
    secrets: tuple[int, ...]
    verdict: UniversalityVerdict  # verdict on the loss and the mechanism restricted to `secrets`


def trivial_action(loss: object) -> int | None:
    """Return an action that is best for every secret; None if the loss is not trivial.

    A loss is trivial if and only if one action is best for every secret. Information has no value for a trivial loss:
    the least expected loss is linear in the prior, and the mechanism that reveals nothing is optimal.

    Args:
        loss: Exact matrix (n, k), for n secrets and k actions.

    Source: [fernandes2022], appendix, definition 1. (Definition 6 calls only losses trivial that do not depend on the
    action.)

    >>> trivial_action([[1, 0], [2, 2]]), trivial_action([[1, 0], [0, 1]])
    (1, None)
    """
    table = exact_loss(loss, len(loss_matrix(loss)))
    best = (table == table.min(axis=1)[:, None]).all(axis=0)
    return int(best.argmax()) if best.any() else None
