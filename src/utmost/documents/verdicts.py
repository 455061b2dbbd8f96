"""A verdict on universal optimality as a document, which anyone can read back and check again without a solver.

What can be computed again is not in it: the vertices of the type, and the cells of priors, are made when it is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from utmost.channels import Channel
from utmost.documents.codec import Form, plain, stated_type, type_facts
from utmost.errors import BadTable, PromiseBroken
from utmost.exact import Array, as_array, exact
from utmost.geometry.best_action_cells import Complex, Conflict, Dominance, Prior, exact_expected_loss
from utmost.geometry.vertex_search import vertices
from utmost.privacy import PrivacyType
from utmost.spaces import priors

KIND = "utmost universal verdict"
ANY, THIS = "any mechanism", "this mechanism"


@dataclass(frozen=True, slots=True, eq=False)
class Stated:
    """A verdict with its proof.

    Attributes:
        ptype: the type.
        loss: (n, k) Fractions.
        asked: whether ``ANY`` mechanism is universally optimal for the loss, or ``THIS`` one, ``channel``.
        holds: the verdict.
        channel: the universally optimal mechanism, the one with the least regret, or the one that was judged.
        dominance: that the channel loses at most the regret more than any other, for every prior; or None.
        conflict: that every mechanism has at least that regret; or None.
        better: a prior and a mechanism that loses less there than the channel; or None.
    """

    ptype: PrivacyType
    loss: Array
    asked: str
    holds: bool
    channel: Channel
    dominance: Dominance | None
    conflict: Conflict | None
    better: tuple[Array, Channel] | None

    @classmethod
    def of_existence(cls, found: Any, ptype: PrivacyType) -> "Stated":
        """What `universal_mechanism` found."""
        proof = found.certificate
        return cls(ptype, proof.loss, ANY, found.exists, found.mechanism, proof, found.conflict, None)

    @classmethod
    def of_channel(cls, found: Any, ptype: PrivacyType, channel: Channel, loss: Array) -> "Stated":
        """What `universality` found of a channel."""
        better = None if found.better is None else (found.prior, found.better)
        return cls(ptype, loss, THIS, found.holds, channel, found.certificate, None, better)

    @property
    def regret(self) -> Fraction | None:
        """How much more than the best the channel may lose at the worst prior; None where it is not known."""
        return None if self.dominance is None else self.dominance.slack

    def verify(self) -> bool:
        """Whether the proof proves the verdict: rational arithmetic, and no solver."""
        if not self.ptype.contains(self.channel) or self.asked not in (ANY, THIS):
            return False
        if self.better is not None:
            is_alone = self.dominance is None and self.conflict is None
            return is_alone and not self.holds and self.asked == THIS and self._is_better(*self.better)
        if self.dominance is None or not self.dominance.verify():
            return False
        if self.holds or self.conflict is None:
            return self.holds and self.conflict is None and self.dominance.slack == 0
        if self.asked != ANY or self.conflict.regret != self.dominance.slack:
            return False
        return self.conflict.verify() and all(map(self.ptype.contains, self.conflict.mechanisms))

    def _is_better(self, prior: Array, other: Channel) -> bool:
        mine, theirs = (exact_expected_loss(channel.matrix, self.loss, prior) for channel in (self.channel, other))
        return self.ptype.contains(other) and theirs < mine


def _facts(stated: Stated) -> dict[str, Any]:
    proof, conflict, better = stated.dominance, stated.conflict, stated.better
    return {
        **type_facts(stated.ptype),
        "loss": plain(stated.loss),
        "asked": stated.asked,
        "verdict": stated.holds,
        "mechanism": plain(stated.channel.matrix),
        "regret": plain(stated.regret),
        "duals": None if proof is None else [[list(prior), plain(z)] for prior, z in proof.duals.items()],
        "conflict": None
        if conflict is None
        else {
            "priors": plain(conflict.priors),
            "weights": plain(conflict.weights),
            "mechanisms": [plain(mechanism.matrix) for mechanism in conflict.mechanisms],
            "multipliers": plain(conflict.multipliers),
        },
        "better": None if better is None else {"prior": plain(better[0]), "mechanism": plain(better[1].matrix)},
    }


def _stated(found: Mapping[str, Any]) -> Stated:
    ptype = stated_type(found)
    loss, channel = _table(found["loss"], ptype), Channel(_table(found["mechanism"], ptype))
    columns = vertices(ptype).weights
    conflict, better = found["conflict"], found["better"]
    regret = None if found["regret"] is None else exact(found["regret"])
    stated = Stated(
        ptype,
        loss,
        found["asked"],
        found["verdict"] is True,
        channel,
        None if found["duals"] is None else _dominance(found["duals"], columns, loss, channel, regret),
        None if conflict is None else _conflict(conflict, columns, loss, ptype, regret),
        None
        if better is None
        else (priors.prior(_row(better["prior"], ptype)), Channel(_table(better["mechanism"], ptype))),
    )
    if not stated.verify():
        raise PromiseBroken("the proof must prove the verdict")
    return stated


VERDICT = Form(KIND, 1, "a verdict", _facts, _stated)
document, read = VERDICT.document, VERDICT.read


def _dominance(duals: Any, columns: Array, loss: Array, channel: Channel, regret: Fraction | None) -> Dominance:
    """The cells are made anew: a file that leaves some out proves nothing about them."""
    cells = Complex.of(channel.matrix, loss)
    known: dict[Prior, tuple[Fraction, ...]] = {tuple(prior): tuple(map(exact, z)) for prior, z in duals}
    wrong = [prior for prior in cells.priors if len(known.get(prior, ())) != len(columns)]
    wrong += known.keys() - set(cells.priors)
    if wrong or regret is None or regret < 0:
        raise BadTable("a verdict must have a regret, and multipliers for every vertex of the cells", came=wrong[:1])
    return Dominance(columns, loss, channel, regret, cells, known)


def _conflict(
    found: dict[str, Any], columns: Array, loss: Array, ptype: PrivacyType, regret: Fraction | None
) -> Conflict:
    multipliers = _row(found["multipliers"], ptype)
    if regret is None:
        raise BadTable("a conflict must have a regret", came="none")
    return Conflict(
        columns,
        loss,
        tuple(priors.prior(_row(prior, ptype)) for prior in found["priors"]),
        tuple(map(exact, found["weights"])),
        tuple(Channel(_table(mechanism, ptype)) for mechanism in found["mechanisms"]),
        tuple(multipliers.tolist()),
        regret,
    )


def _table(rows: Any, ptype: PrivacyType) -> Array:
    return _sized(as_array([[exact(x) for x in row] for row in rows], "matrix", ndim=2), ptype)


def _row(entries: Any, ptype: PrivacyType) -> Array:
    return _sized(as_array([exact(x) for x in entries], "row", ndim=1), ptype)


def _sized(array: Array, ptype: PrivacyType) -> Array:
    if len(array) != ptype.space.size:
        raise BadTable(f"{ptype.space.size} entries or rows must stand for as many secrets", came=len(array))
    return array
