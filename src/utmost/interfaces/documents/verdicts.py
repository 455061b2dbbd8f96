"""Write and read a verdict on universal optimality as a document that anyone can check again without a solver.

The document leaves out everything that can be computed: the vertices of the type, and the cells of priors, are computed
on reading.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from utmost.core.exact.arrays import Array, as_array, objects, plain_cells
from utmost.core.exact.numbers import exact
from utmost.design.channels.channel import Channel
from utmost.design.geometry.best_action_cells import Complex, Conflict, Dominance, exact_expected_loss
from utmost.design.geometry.log_domain import Distances, LogPowers
from utmost.design.geometry.power_channels import AnyChannel, PowerChannel, is_member, member
from utmost.design.geometry.power_numbers import PowerField, PowerNumber, images_decide
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import priors
from utmost.errors import BadTable, PromiseBroken
from utmost.interfaces.documents.space_names import stated_type, type_facts
from utmost.publish.promises.codec import Form, plain

KIND = "utmost universal verdict"
ANY, THIS = "any mechanism", "this mechanism"


@dataclass(frozen=True, slots=True, eq=False)
class StatedVerdict:
    """A verdict on universal optimality with its proof."""

    ptype: PrivacyType
    loss: Array  # (n, k) Fractions
    asked: str  # about ANY mechanism, or THIS channel
    holds: bool
    channel: AnyChannel  # the optimal mechanism, the one with the least regret, or the judged one
    dominance: Dominance | None  # proves that the channel has at most the stated regret
    conflict: Conflict | None  # proves that every mechanism has at least that regret
    better: tuple[Array, AnyChannel] | None  # a prior, and a mechanism with a smaller loss there

    @classmethod
    def of_existence(cls, existence: Any, ptype: PrivacyType) -> "StatedVerdict":
        """Convert the result of `universal_mechanism`, whose module is not imported, because it loads the solver."""
        proof = existence.certificate
        return cls(ptype, proof.loss, ANY, existence.exists, existence.mechanism, proof, existence.conflict, None)

    @classmethod
    def of_channel(cls, verdict: Any, ptype: PrivacyType, channel: Channel, loss: Array) -> "StatedVerdict":
        """Convert the result of `universality` for a channel."""
        is_rational = LogPowers.of(ptype.level, Distances.of(ptype.space)).is_rational
        judged = channel if is_rational else member(ptype, channel)
        better = None if verdict.better is None else (verdict.prior, verdict.better)
        return cls(ptype, loss, THIS, verdict.holds, judged, verdict.certificate, None, better)

    @property
    def regret(self) -> Any:
        """Upper bound on the regret of the channel at the worst prior; None if unknown."""
        return None if self.dominance is None else self.dominance.slack

    def verify(self) -> bool:
        """Check the proof by exact arithmetic, without a solver."""
        if not is_member(self.ptype, self.channel) or self.asked not in (ANY, THIS):
            return False
        if self.better is not None:
            if self.dominance is not None or self.conflict is not None or self.holds or self.asked != THIS:
                return False
            prior, other = self.better
            own, theirs = (exact_expected_loss(C.matrix, self.loss, prior) for C in (self.channel, other))
            return is_member(self.ptype, other) and bool(theirs < own)
        if self.dominance is None or not self.dominance.verify():
            return False
        if self.holds or self.conflict is None:
            return self.holds and self.conflict is None and self.dominance.slack == 0
        if self.asked != ANY or self.conflict.regret != self.dominance.slack:
            return False
        return self.conflict.verify()


def _plain(value: Any) -> Any:
    """Return numbers as JSON values; an irrational number as the terms of its polynomial."""
    if isinstance(value, np.ndarray | list | tuple):
        return list(map(_plain, plain_cells(value)))
    return value.stored() if isinstance(value, PowerNumber) else plain(value)


def _facts(stated: StatedVerdict) -> dict[str, Any]:
    proof, conflict, better = stated.dominance, stated.conflict, stated.better
    return {
        **type_facts(stated.ptype),
        "loss": _plain(stated.loss),
        "asked": stated.asked,
        "verdict": stated.holds,
        "mechanism": _plain(stated.channel.matrix),
        "regret": _plain(stated.regret),
        "duals": None if proof is None else [[_plain(prior), _plain(z)] for prior, z in proof.duals.items()],
        "conflict": None
        if conflict is None
        else {
            "priors": _plain(conflict.priors),
            "weights": _plain(conflict.weights),
            "mechanisms": [_plain(mechanism.matrix) for mechanism in conflict.mechanisms],
            "multipliers": _plain(conflict.multipliers),
        },
        "better": None if better is None else {"prior": _plain(better[0]), "mechanism": _plain(better[1].matrix)},
    }


def _stated(facts: Mapping[str, Any]) -> StatedVerdict:
    ptype = stated_type(facts)
    if len(facts["loss"]) != ptype.space.size:  # before a table of its distances is made
        raise BadTable("there must be a row of losses for each secret", came=f"{len(facts['loss'])} rows")
    numbers = _Numbers.of(ptype)
    loss, channel = numbers.rational_table(facts["loss"]), numbers.channel(facts["mechanism"])
    conflict, better = facts["conflict"], facts["better"]
    regret = None if facts["regret"] is None else numbers.number(facts["regret"])
    dominated = None
    if facts["duals"] is not None:
        # The cells are computed again, because a file could leave some out.
        with images_decide():  # `verify` checks the cells without it
            cells = Complex.of(channel.matrix, loss)
        known = {tuple(map(numbers.ray_entry, prior)): tuple(map(numbers.number, z)) for prior, z in facts["duals"]}
        wrong = [prior for prior in cells.priors if len(known.get(prior, ())) != numbers.size]
        if len(known) != len(cells.priors) or wrong or regret is None or regret < 0:
            required = "a verdict must have a regret, and multipliers for every vertex of the cells"
            raise BadTable(required, came=wrong[:1])
        dominated = Dominance(ptype, loss, channel, regret, cells, known)
    contradiction = None
    if conflict is not None:
        if regret is None:
            raise BadTable("a conflict of priors must have a regret", came="no regret")
        contradiction = Conflict(
            ptype,
            loss,
            tuple(map(numbers.prior, conflict["priors"])),
            tuple(map(numbers.number, conflict["weights"])),
            tuple(map(numbers.channel, conflict["mechanisms"])),
            tuple(numbers.row(conflict["multipliers"])),
            regret,
        )
    stated = StatedVerdict(
        ptype,
        loss,
        facts["asked"],
        facts["verdict"] is True,
        channel,
        dominated,
        contradiction,
        None if better is None else (numbers.prior(better["prior"]), numbers.channel(better["mechanism"])),
    )
    if not stated.verify():
        raise PromiseBroken("the proof in the file must prove its verdict")
    return stated


VERDICT = Form(KIND, "a verdict", _facts, _stated)
document, read = VERDICT.document, VERDICT.read


@dataclass(frozen=True, slots=True, eq=False)
class _Numbers:
    """Reads the numbers in a file as Fractions, or as elements of a field with irrational powers of alpha."""

    ptype: PrivacyType
    field: PowerField | None

    @classmethod
    def of(cls, ptype: PrivacyType) -> "_Numbers":
        powers = LogPowers.of(ptype.level, Distances.of(ptype.space))
        return cls(ptype, None if powers.is_rational else PowerField.of(powers))

    @property
    def size(self) -> int:
        return self.ptype.space.size

    def number(self, stored: Any) -> Any:
        return exact(stored) if self.field is None or not isinstance(stored, list) else self.field.read(stored)

    def ray_entry(self, stored: Any) -> Any:
        return self.number(stored) if isinstance(stored, list) else int(stored)

    def row(self, entries: Any) -> Array:
        numbers = [self.number(x) for x in entries]
        return self._sized(objects(numbers, (len(numbers),)))

    def table(self, rows: Any) -> Array:
        numbers = [[self.number(x) for x in row] for row in rows]
        if len({len(row) for row in numbers}) > 1:
            raise BadTable("the rows of a matrix must be equally long", came="rows of different lengths")
        return self._sized(objects([x for row in numbers for x in row], (len(numbers), len(numbers[0]))))

    def rational_table(self, rows: Any) -> Array:
        return self._sized(as_array([[exact(x) for x in row] for row in rows], "matrix", ndim=2))

    def prior(self, entries: Any) -> Array:
        row = self.row(entries)
        if self.field is None:
            return priors.prior(row)
        if any(p < 0 for p in row) or sum(row) != 1:
            raise BadTable("a prior must be nonnegative and sum to 1", came="another prior")
        return row

    def channel(self, rows: Any) -> AnyChannel:
        if self.field is None:
            return Channel(self._sized(as_array([[exact(x) for x in row] for row in rows], "matrix", ndim=2)))
        return PowerChannel(self.field.fractions(self.table(rows)))

    def _sized(self, array: Array) -> Array:
        if len(array) != self.size:
            raise BadTable(
                f"a prior or a matrix must have {self.size} entries or rows, one for each secret", came=len(array)
            )
        return array
