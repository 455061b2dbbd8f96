"""A verdict on universal optimality as a JSON file, which anyone can read back and check again without a solver.

The file holds mechanisms, priors and multipliers as exact text. What can be recomputed is not in it: the vertices of
the type, and the cells of priors, are made anew when it is read. Fields are never removed and never change their
meaning; `format` grows when one is added.
"""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from utmost.channels import Channel
from utmost.documents.reports import fields, read_json
from utmost.documents.space_names import space_facts, stated_space
from utmost.documents.statement_files import write as write_json
from utmost.errors import BadTable
from utmost.exact import Array, as_array, exact
from utmost.geometry import ExistenceVerdict, UniversalityVerdict, vertices
from utmost.geometry.best_action_cells import Complex, Prior
from utmost.geometry.universal_optima import Conflict, Dominance, exact_expected_loss
from utmost.privacy import PrivacyType
from utmost.release.statements import level_facts, stated_level
from utmost.spaces import priors
from utmost.version import __version__

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
    def of_existence(cls, found: ExistenceVerdict, ptype: PrivacyType) -> "Stated":
        """What `universal_mechanism` found."""
        proof = found.certificate
        return cls(ptype, proof.loss, ANY, found.exists, found.mechanism, proof, found.conflict, None)

    @classmethod
    def of_channel(cls, found: UniversalityVerdict, ptype: PrivacyType, channel: Channel, loss: Array) -> "Stated":
        """What `universality` found of a channel."""
        better = None if found.better is None else (found.prior, found.better)
        return cls(ptype, loss, THIS, found.holds, channel, found.certificate, None, better)  # type: ignore[arg-type]

    @property
    def regret(self) -> Fraction | None:
        """How much more than the best the channel may lose at the worst prior; None where it is not known."""
        return None if self.dominance is None else self.dominance.slack

    def verify(self) -> bool:
        """Whether the proof proves the verdict: rational arithmetic, and no solver."""
        if not self.ptype.contains(self.channel):
            return False
        if self.better is not None:
            return not self.holds and self.asked == THIS and self._is_better(*self.better)
        if self.dominance is None or not self.dominance.verify():
            return False
        if self.holds:
            return self.dominance.slack == 0
        if self.conflict is None or self.asked != ANY or self.conflict.regret != self.dominance.slack:
            return False
        return self.conflict.verify() and all(map(self.ptype.contains, self.conflict.mechanisms))

    def _is_better(self, prior: Array, other: Channel) -> bool:
        mine, theirs = (exact_expected_loss(channel.matrix, self.loss, prior) for channel in (self.channel, other))
        return self.ptype.contains(other) and theirs < mine


def document(stated: Stated) -> dict[str, Any]:
    """A verdict as plain data."""
    proof, conflict = stated.dominance, stated.conflict
    return {
        "kind": KIND,
        "format": 1,
        "utmost": __version__,
        "space": space_facts(stated.ptype.space),
        **level_facts(stated.ptype.level),
        "loss": _plain(stated.loss),
        "asked": stated.asked,
        "verdict": stated.holds,
        "mechanism": _plain(stated.channel.matrix),
        "regret": None if stated.regret is None else str(stated.regret),
        "duals": None if proof is None else [[list(prior), _plain(z)] for prior, z in proof.duals.items()],
        "conflict": None
        if conflict is None
        else {
            "priors": _plain(conflict.priors),
            "weights": _plain(conflict.weights),
            "mechanisms": [_plain(mechanism.matrix) for mechanism in conflict.mechanisms],
            "multipliers": _plain(conflict.multipliers),
        },
        "better": None
        if stated.better is None
        else {"prior": _plain(stated.better[0]), "mechanism": _plain(stated.better[1].matrix)},
    }


def write(facts: dict[str, Any], file: BinaryIO) -> None:
    """Write a verdict as JSON."""
    write_json(facts, file)


def read(path: Path) -> Stated:
    """The verdict in a file; ``verify()`` checks it.

    Raises:
        BadTable: for a file that is no verdict.
    """
    found = read_json(path, "a verdict must")
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise BadTable(f"a verdict must be of the kind {KIND!r}", came=type(found).__name__, where=str(path))
    with fields(path, "a verdict must"):
        return _stated(found)


def _stated(found: dict[str, Any]) -> Stated:
    ptype = PrivacyType(stated_space(found["space"]), stated_level(found))
    loss, channel = _table(found["loss"], ptype), Channel(_table(found["mechanism"], ptype))
    columns = vertices(ptype).weights
    conflict, better = found["conflict"], found["better"]
    regret = None if found["regret"] is None else exact(found["regret"])
    return Stated(
        ptype,
        loss,
        found["asked"],
        found["verdict"] is True,
        channel,
        None if found["duals"] is None else _dominance(found["duals"], columns, loss, channel, regret),
        None if conflict is None else _conflict(conflict, columns, loss, ptype, regret),
        None if better is None else (priors.prior(_row(better["prior"], ptype)), _channel(better["mechanism"], ptype)),
    )


def _dominance(duals: Any, columns: Array, loss: Array, channel: Channel, regret: Fraction | None) -> Dominance:
    """The cells are made anew: a file that leaves some out proves nothing about them."""
    cells = Complex.of(channel.matrix, loss)
    known: dict[Prior, tuple[Fraction, ...]] = {tuple(prior): tuple(map(exact, z)) for prior, z in duals}
    missing = [prior for prior in cells.priors if len(known.get(prior, ())) != len(columns)]
    if missing or regret is None or regret < 0:
        raise BadTable("a verdict must have a regret, and multipliers for every vertex of the cells", came=missing[:1])
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
        tuple(_channel(mechanism, ptype) for mechanism in found["mechanisms"]),
        tuple(multipliers.tolist()),
        regret,
    )


def _channel(rows: Any, ptype: PrivacyType) -> Channel:
    return Channel(_table(rows, ptype))


def _table(rows: Any, ptype: PrivacyType) -> Array:
    table = as_array([[exact(x) for x in row] for row in rows], "matrix", ndim=2)
    if len(table) != ptype.space.size:
        raise BadTable(f"a matrix must have {ptype.space.size} rows, one for each secret", came=len(table))
    return table


def _row(entries: Any, ptype: PrivacyType) -> Array:
    row = as_array([exact(x) for x in entries], "row", ndim=1)
    if len(row) != ptype.space.size:
        raise BadTable(f"a row must have {ptype.space.size} entries, one for each secret", came=len(row))
    return row


def _plain(numbers: Any) -> Any:
    """Nested lists of exact numbers as text."""
    if isinstance(numbers, list | tuple | np.ndarray):
        return [_plain(x) for x in numbers]
    return str(numbers)
