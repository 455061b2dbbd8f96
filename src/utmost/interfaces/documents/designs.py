"""Write and read designs as documents: mechanism, remap and certificate, which anyone can check again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from utmost.core.exact.arrays import Array, as_array
from utmost.design.channels.channel import Remap
from utmost.design.optima.checker import Multipliers
from utmost.design.optima.closed_form import theorem_for
from utmost.design.optima.evidence import Certificate
from utmost.design.spaces import losses
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import LineMetric
from utmost.design.spaces.losses import loss_named
from utmost.design.spaces.space import Space
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.interfaces.documents.space_names import stated_type, type_facts
from utmost.publish.promises.codec import Form, plain

KIND = "utmost design"


def document(design: Any, loss: str | None) -> dict[str, Any]:
    """Return an `Optimum` as plain data; its loss is stored by the name ``loss``, or as a matrix if that is None."""
    # The module of `Optimum` is not imported: it solves, and reading a document needs no solver.
    if not isinstance(design.certificate, Certificate):
        raise Unsupported("only a design without constraints can be saved", came=design.method)
    return DESIGN.document((design.certificate, loss))


def read(path: Path) -> Certificate:
    return DESIGN.read(path)[0]


def _facts(design: tuple[Certificate, str | None]) -> dict[str, Any]:
    certificate, loss = design
    remap, multipliers = certificate.remap, certificate.multipliers
    return {
        **type_facts(certificate.ptype),
        "prior": plain(certificate.consumer.prior),
        "loss": loss if loss is not None else plain(certificate.consumer.loss),
        "method": method_of(certificate),
        "theorem": certificate.theorem,
        "hypotheses": list(certificate.hypotheses),
        "expected_loss": plain(certificate.upper),
        "lower_bound": plain(certificate.lower),
        "remap": None if remap is None else {"actions": plain(remap.actions), "ties": list(remap.ties)},
        "channel": plain(certificate.matrix),
        "dual": plain(certificate.dual),
        "multipliers": {name: plain(getattr(multipliers, name)) for name in ("low", "high", "action", "value")}
        if isinstance(multipliers, Multipliers)
        else plain(multipliers),
    }


def method_of(certificate: Certificate) -> str:
    """Return how the optimum was found, as its evidence shows."""
    if certificate.remap is not None:
        return "closed form"
    return "column generation" if isinstance(certificate.multipliers, Multipliers) else "program"


def _design(facts: Mapping[str, Any]) -> tuple[Certificate, str | None]:
    ptype = stated_type(facts)
    space, loss = ptype.space, facts["loss"]
    rule = loss
    if isinstance(loss, str):
        rule = losses.distance(space) if loss == "distance" else loss_named(loss)
    consumer = Consumer(facts["prior"], rule)
    remap, matrix = facts["remap"], facts["channel"]
    dual = as_array(facts["dual"], "dual", ndim=1)
    # Check all shapes here: the checker trusts them, and with other shapes it would prove another problem.
    on_counts = isinstance(space.metric, LineMetric)
    if not (consumer.secrets == space.size == len(dual)):
        raise BadTable("prior and dual must have an entry for each secret", came=f"{consumer.secrets} and {len(dual)}")
    if (remap is None) == (matrix is None) or (facts["multipliers"] is None and not on_counts):
        raise BadTable(
            "a design must have a channel and its privacy multipliers; on counts it may have a remap instead"
        )
    if remap is not None and not (on_counts and len(remap["actions"]) == space.size):
        raise BadTable("a remap must have an action for each count", came=len(remap["actions"]))
    if matrix is not None and [len(row) for row in matrix] != [consumer.actions] * space.size:
        raise BadTable("the channel must have a row for each secret", came=len(matrix))
    certificate = Certificate(
        ptype,
        consumer,
        dual,
        remap=None if remap is None else Remap(remap["actions"], consumer.actions, remap["ties"]),
        matrix=None if matrix is None else as_array(matrix, "channel", ndim=2),
        multipliers=_multipliers(facts["multipliers"], space, consumer),
    )
    theorem = None if remap is None else theorem_for(consumer)
    named = loss if isinstance(loss, str) else None
    return certificate if theorem is None else certificate.with_theorem(*theorem), named


DESIGN = Form(KIND, "a design", _facts, _design, frozenset({"expected_loss", "lower_bound"}))


def _multipliers(multipliers: Any, space: Space, consumer: Consumer) -> Array | Multipliers | None:
    """Read the multipliers of a certificate: a table of shape (edges, 2, actions), or its nonzero entries."""
    if multipliers is None:
        return None
    if not isinstance(multipliers, dict):
        return as_array(multipliers, "multipliers").reshape(len(space.edges), 2, consumer.actions)
    try:
        values = as_array(multipliers["value"], "multipliers", ndim=1)
        listed = Multipliers(multipliers["low"], multipliers["high"], multipliers["action"], values)
    except OutOfRange as error:
        raise BadTable(error.required, came=error.came) from None
    secrets = max(listed.low.max(initial=0), listed.high.max(initial=0))
    if secrets >= space.size or listed.action.max(initial=0) >= consumer.actions:
        raise BadTable("multipliers must name secrets and actions of the design", came=f"secret {secrets}")
    return listed
