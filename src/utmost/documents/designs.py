"""A design as a JSON file: mechanism, remap and certificate, which anyone can read back and check again.

Exact numbers stand as text, floats as JSON numbers, which give the same float back. Fields are never removed and never
change their meaning; `format` grows when one is added.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

from utmost.channels import Channel, Remap
from utmost.design import Bounds, Certificate, Multipliers, Optimum
from utmost.documents.reports import fields, read_json
from utmost.documents.space_names import space_facts, stated_space
from utmost.documents.statement_files import write as write_json
from utmost.errors import BadTable, OutOfRange
from utmost.exact import Array, Level, as_array, exact
from utmost.privacy import PrivacyType
from utmost.release.statements import level_facts, stated_level
from utmost.spaces import Consumer, LineMetric, Space, losses
from utmost.spaces.losses import loss_named
from utmost.version import __version__

KIND = "utmost design"


def document(found: Optimum, loss: str | None) -> dict[str, Any]:
    """A design as plain data.

    Args:
        found: the optimum.
        loss: the name of its loss, or None to write the matrix.
    """
    certificate = found.certificate
    remap, matrix, multipliers = certificate.remap, certificate.matrix, certificate.multipliers
    return {
        "kind": KIND,
        "format": 2,
        "utmost": __version__,
        "space": space_facts(certificate.ptype.space),
        **level_facts(certificate.ptype.level),
        "prior": _plain(certificate.consumer.prior),
        "loss": loss if loss is not None else _plain(certificate.consumer.loss),
        "method": found.method,
        "theorem": found.theorem,
        "hypotheses": list(certificate.hypotheses),
        "expected_loss": _number(found.loss),
        "lower_bound": _number(found.lower),
        "remap": None if remap is None else {"actions": remap.actions.tolist(), "ties": list(remap.ties)},
        "channel": None if matrix is None else _plain(matrix),
        "dual": _plain(certificate.dual),
        "multipliers": _plain_multipliers(multipliers),
    }


def write(design: dict[str, Any], file: BinaryIO) -> None:
    """Write a design as JSON."""
    write_json(design, file)


def read(path: Path) -> Certificate:
    """The certificate in a file, with the bounds that the file states: ``verify()`` checks them.

    Raises:
        BadTable: for a file that is no design.
        PromiseBroken: for a channel or a dual that proves nothing.
    """
    found = read_json(path, "a design must")
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise BadTable(f"a design must be of the kind {KIND!r}", came=type(found).__name__, where=str(path))
    with fields(path, "a design must"):
        return _certificate(found)


def matrix_text(channel: Channel) -> list[list[str]]:
    """The channel as rows of text: the secret, then the probability of each answer."""
    return [[str(x), *map(str, row)] for x, row in enumerate(channel.matrix.tolist())]


def _certificate(found: dict[str, Any]) -> Certificate:
    space = stated_space(found["space"])
    level: Level = stated_level(found)
    consumer = Consumer(found["prior"], _loss(found["loss"], space))
    remap, channel, multipliers = found["remap"], found["channel"], found["multipliers"]
    dual = as_array(found["dual"], "dual", ndim=1)
    _check_shapes(space, consumer, dual, remap, channel, multipliers)
    return Certificate(
        PrivacyType(space, level),
        consumer,
        dual,
        remap=None if remap is None else Remap(remap["actions"], consumer.actions, remap["ties"]),
        matrix=None if channel is None else as_array(channel, "channel", ndim=2),
        multipliers=_multipliers(multipliers, space, consumer),
        theorem=found["theorem"],
        hypotheses=tuple(found["hypotheses"]),
        bounds=Bounds(_read(found["lower_bound"]), _read(found["expected_loss"])),
    )


def _multipliers(found: Any, space: Space, consumer: Consumer) -> Array | Multipliers | None:
    """A table (edges, 2, actions), or a list of those that are not zero."""
    if found is None:
        return None
    if not isinstance(found, dict):
        return as_array(found, "multipliers").reshape(len(space.edges), 2, consumer.actions)
    try:
        values = as_array(found["value"], "multipliers", ndim=1)
        listed = Multipliers(found["low"], found["high"], found["action"], values)
    except OutOfRange as error:
        raise BadTable(error.required, came=error.came) from None
    secrets = max(listed.low.max(initial=0), listed.high.max(initial=0))
    if secrets >= space.size or listed.action.max(initial=0) >= consumer.actions:
        raise BadTable("multipliers must name secrets and actions of the design", came=f"secret {secrets}")
    return listed


def _plain_multipliers(multipliers: Array | Multipliers | None) -> Any:
    if not isinstance(multipliers, Multipliers):
        return None if multipliers is None else _plain(multipliers)
    numbers = {name: getattr(multipliers, name).tolist() for name in ("low", "high", "action")}
    return {**numbers, "value": _plain(multipliers.value)}


def _check_shapes(space: Space, consumer: Consumer, dual: Array, remap: Any, channel: Any, multipliers: Any) -> None:
    """The checker trusts these: what has another shape would prove something about another problem."""
    on_counts = isinstance(space.metric, LineMetric)
    if not (consumer.secrets == space.size == len(dual)):
        raise BadTable("prior and dual must have an entry for each secret", came=f"{consumer.secrets} and {len(dual)}")
    if (remap is None) == (channel is None) or (multipliers is None and not on_counts):
        raise BadTable("a design must have a channel, and multipliers of privacy, or on counts a remap and none")
    if remap is not None and not (on_counts and len(remap["actions"]) == space.size):
        raise BadTable("a remap must have an action for each count", came=len(remap["actions"]))
    if channel is not None and [len(row) for row in channel] != [consumer.actions] * space.size:
        raise BadTable("the channel must have a row for each secret", came=len(channel))


def _loss(loss: Any, space: Space) -> Any:
    if not isinstance(loss, str):
        return loss
    return losses.distance(space) if loss == "distance" else loss_named(loss)


def _plain(numbers: Array) -> Any:
    """Nested lists of floats, or of exact numbers as text."""
    if numbers.ndim > 1:
        return [_plain(row) for row in numbers]
    return [_number(x) for x in numbers.tolist()]


def _number(x: Any) -> Any:
    return str(x) if isinstance(x, Fraction) else float(x)


def _read(x: Any) -> Any:
    return exact(x) if isinstance(x, str) else float(x)
