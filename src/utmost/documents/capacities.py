"""The capacities of a privacy type as a JSON file, which anyone can read back and check again.

Exact numbers stand as text, floats as JSON numbers, which give the same float back. Fields are never removed and never
change their meaning; `format` grows when one is added.
"""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from utmost.capacities import (
    CapacityCertificate,
    EnvelopeMechanism,
    ImplicitMechanism,
    KernelMechanism,
    LatticeMechanism,
    PairMultipliers,
    ProductDual,
    ProductMechanism,
    TypeCapacity,
    UniformDual,
    UniformMechanism,
    factors,
)
from utmost.channels import Channel
from utmost.design import Bounds
from utmost.documents.reports import fields, read_json
from utmost.documents.space_names import space_facts, stated_space
from utmost.errors import BadTable
from utmost.exact import Array, exact, objects
from utmost.privacy import PrivacyType
from utmost.release.statements import level_facts, stated_level
from utmost.version import __version__

KIND = "utmost capacity"


def document(found: Sequence[TypeCapacity]) -> dict[str, Any]:
    """Capacities of one type, with their certificates, as plain data."""
    ptype = found[0].certificate.ptype
    return {
        "kind": KIND,
        "format": 1,
        "utmost": __version__,
        "space": space_facts(ptype.space),
        **level_facts(ptype.level),
        "capacities": [_capacity(capacity) for capacity in found],
    }


def read(path: Path) -> list[TypeCapacity]:
    """The capacities in a file, with the bounds that the file states: ``certificate.verify()`` checks them.

    Raises:
        BadTable: for a file that holds none.
    """
    found = read_json(path, "capacities must")
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise BadTable(f"capacities must be of the kind {KIND!r}", came=type(found).__name__, where=str(path))
    with fields(path, "capacities must"):
        ptype = PrivacyType(stated_space(found["space"]), stated_level(found))
        return [_read_capacity(ptype, facts) for facts in found["capacities"]]


def _capacity(capacity: TypeCapacity) -> dict[str, Any]:
    certificate = capacity.certificate
    return {
        "capacity": certificate.kind,
        "value": _number(certificate.upper),
        "lower": _number(certificate.lower),
        "method": capacity.method,
        "theorem": certificate.theorem,
        "mechanism": _mechanism(certificate.mechanism),
        "dual": _dual(certificate.dual),
        "multipliers": None if certificate.multipliers is None else _multipliers(certificate.multipliers),
    }


def _read_capacity(ptype: PrivacyType, facts: dict[str, Any]) -> TypeCapacity:
    if facts["capacity"] not in ("multiplicative", "additive"):
        raise BadTable("a capacity must be multiplicative or additive", came=facts["capacity"])
    certificate = CapacityCertificate(
        ptype,
        facts["capacity"],
        _read_mechanism(ptype, facts["mechanism"]),
        _read_dual(facts["dual"]),
        None if facts["multipliers"] is None else _read_multipliers(ptype, facts["multipliers"]),
        facts["theorem"],
        Bounds(_read_number(facts["lower"]), _read_number(facts["value"])),
    )
    return TypeCapacity.of(certificate, str(facts["method"]))


def _mechanism(mechanism: Channel | ImplicitMechanism) -> dict[str, Any]:
    match mechanism:
        case KernelMechanism():
            kernel = {"sign": mechanism.sign, "has_rest": mechanism.has_rest}
            return {"form": "kernel", **kernel, "weights": _texts(mechanism.weights)}
        case UniformMechanism():
            return {"form": "uniform", "sign": mechanism.sign}
        case ProductMechanism():
            return {"form": "product", "parts": [_mechanism(part) for part in mechanism.parts]}
        case LatticeMechanism():
            return {"form": "lattice"}
        case EnvelopeMechanism():
            return {"form": "envelope", "heights": mechanism.heights.tolist()}
    return {"form": "matrix", "rows": [_texts(row) for row in mechanism.matrix]}


def _read_mechanism(ptype: PrivacyType, facts: dict[str, Any]) -> Any:
    match facts["form"]:
        case "kernel":
            return KernelMechanism(ptype, _fractions(facts["weights"]), _sign(facts["sign"]), bool(facts["has_rest"]))
        case "uniform":
            return UniformMechanism(ptype, _sign(facts["sign"]))
        case "lattice":
            return LatticeMechanism(ptype)
        case "envelope":
            return EnvelopeMechanism(ptype, np.array(facts["heights"], dtype=np.float64))
        case "product":
            parts = factors(ptype) or ()
            return ProductMechanism(
                tuple(_read_mechanism(part, m) for part, m in zip(parts, facts["parts"], strict=True))
            )
        case "matrix":
            return Channel([list(row) for row in facts["rows"]])
    raise BadTable("a mechanism must have a form that is known", came=facts["form"])


def _dual(dual: Any) -> dict[str, Any]:
    match dual:
        case UniformDual():
            return {"form": "uniform"}
        case ProductDual(parts):
            return {"form": "product", "parts": [_dual(part) for part in parts]}
    return {"form": "vector", "values": _texts(dual)}


def _read_dual(facts: dict[str, Any]) -> Any:
    match facts["form"]:
        case "uniform":
            return UniformDual()
        case "product":
            return ProductDual(tuple(_read_dual(part) for part in facts["parts"]))
        case "vector":
            return _fractions(facts["values"])
    raise BadTable("a dual must have a form that is known", came=facts["form"])


def _multipliers(multipliers: PairMultipliers) -> dict[str, Any]:
    places = {name: getattr(multipliers, name).tolist() for name in ("x", "y", "j")}
    return {**places, "values": _texts(multipliers.values)}


def _read_multipliers(ptype: PrivacyType, facts: dict[str, Any]) -> PairMultipliers:
    places = [np.array(facts[name], dtype=np.int64) for name in ("x", "y", "j")]
    values = _fractions(facts["values"])
    if any(place.shape != values.shape or (place < 0).any() or (place >= ptype.space.size).any() for place in places):
        raise BadTable("multipliers must stand at pairs of secrets and a column")
    x, y, j = places
    return PairMultipliers(x, y, j, values)


def _sign(value: Any) -> int:
    if value not in (1, -1):
        raise BadTable("the sign of a kernel must be 1 or -1", came=value)
    return int(value)


def _texts(numbers: Array) -> list[str]:
    return [str(number) for number in numbers.tolist()]


def _fractions(texts: list[Any]) -> Array:
    return objects(map(exact, texts))


def _number(x: Any) -> Any:
    return str(x) if isinstance(x, Fraction) else float(x)


def _read_number(x: Any) -> Any:
    return exact(x) if isinstance(x, str) else float(x)
