"""Utility sets: for which losses is a mechanism the best of its type, whatever the prior?"""

from collections.abc import Sequence
from dataclasses import dataclass

from utmost.channels import Channel
from utmost.exact import Array, checked
from utmost.geometry.least_loss import exact_loss
from utmost.geometry.universality import UniversalityVerdict, is_universally_optimal
from utmost.privacy import PrivacyType
from utmost.spaces import lifted_loss
from utmost.spaces.losses import loss_matrix


@dataclass(frozen=True, slots=True, eq=False)
class UtilitySet:
    """The losses l for which a mechanism is universally l-optimal in its type; ``loss in UtilitySet(M, ptype)``.

    It holds all trivial losses, and with two losses their sum and their multiples by a function of the secret
    (`joint_loss`, `scaled_loss`). It grows when the mechanism is replaced by one of which it is a refinement; that of a
    choice between two mechanisms is the intersection of theirs.

    Attributes:
        channel: the mechanism, a member of the type. ptype: with rational alpha^d.

    Source: [fernandes2022], definition 7, theorem 6, equations (13) and (14).

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts, joint_loss, losses
    >>> useful = UtilitySet(geometric_channel(2, alpha="1/2"), PrivacyType(counts(2), alpha="1/2"))
    >>> losses.binary in useful, joint_loss(losses.binary.matrix(3), losses.nib.matrix(3)) in useful
    (True, True)
    """

    channel: Channel
    ptype: PrivacyType

    def __contains__(self, loss: object) -> bool:
        return self.verdict(loss).holds

    def verdict(self, loss: object) -> UniversalityVerdict:
        """Membership of a loss, with the proof of it, or a prior and a better mechanism.

        Raises: as `is_universally_optimal`.
        """
        return is_universally_optimal(self.channel, loss, self.ptype)

    @checked
    def lifted(self, loss: object, secrets: Sequence[int]) -> "LiftedLoss | None":
        """A loss on some of the secrets as one on all, if the mechanism is the best for it among mechanisms on these.

        The lifted loss is then in the set, with the small proof: whatever a mechanism of the type does elsewhere,
        on these secrets it is a mechanism of their type. None says nothing: the lifted loss may still be in the set,
        since not every mechanism on the secrets extends to all of them.

        Args:
            loss: named, or a matrix with a row for each of these secrets.
            secrets: different ones.

        Source: [fernandes2022], theorem 6(5), the direction that holds.
        """
        part = self.ptype.restrict(secrets)
        verdict = is_universally_optimal(self.channel.restrict(secrets), loss, part)
        if not verdict:
            return None
        table = exact_loss(loss, len(secrets))
        return LiftedLoss(lifted_loss(table, secrets, self.ptype.space.size), tuple(secrets), verdict)


@dataclass(frozen=True, slots=True, eq=False)
class LiftedLoss:
    """A loss that is in a utility set because its restriction to some secrets is in that of the restriction.

    Attributes:
        loss: (n, k), 0 beyond the secrets. secrets: these. verdict: on them, with its certificate.
    """

    loss: Array
    secrets: tuple[int, ...]
    verdict: UniversalityVerdict


def trivial_action(loss: object) -> int | None:
    """An action that is the best one whatever the secret, or None: then the loss is not trivial.

    To a trivial loss no information is worth anything: its uncertainty is linear in the prior, and the mechanism that
    tells nothing is optimal. For no other loss is it.

    Args:
        loss: (n, k), exact.

    Source: [fernandes2022], appendix, definition 1; definition 6 asks for losses that no action changes.

    >>> trivial_action([[1, 0], [2, 2]]), trivial_action([[1, 0], [0, 1]])
    (1, None)
    """
    table = exact_loss(loss, len(loss_matrix(loss)))
    best = (table == table.min(axis=1)[:, None]).all(axis=0)
    return int(best.argmax()) if best.any() else None
