"""Write and read the capacities of a privacy type as a document that anyone can check again.

The field ``method`` says how a capacity was found. The document does not prove the method, so no check reports
it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from utmost.core.exact.arrays import Array, objects
from utmost.core.exact.numbers import exact, exact_integer
from utmost.design.capacities.capacity_evidence import (
    CAPACITY_METHODS,
    CapacityCertificate,
    PairMultipliers,
    ProductDual,
    TypeCapacity,
    UniformDual,
)
from utmost.design.capacities.implicit_mechanisms import (
    EnvelopeMechanism,
    ImplicitMechanism,
    LatticeMechanism,
    ProductMechanism,
    SimilarityMechanism,
    UniformMechanism,
    product_parts,
)
from utmost.design.channels.channel import Channel
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.errors import BadTable
from utmost.interfaces.documents.space_names import stated_type, type_facts
from utmost.publish.promises.codec import Form, plain

KIND = "utmost capacity"


def _facts(capacities: Sequence[TypeCapacity]) -> dict[str, Any]:
    written = []
    for capacity in capacities:
        certificate, multipliers = capacity.certificate, capacity.certificate.multipliers
        written.append(
            {
                "capacity": certificate.kind,
                "value": plain(certificate.upper),
                "lower": plain(certificate.lower),
                "method": capacity.method,
                "theorem": certificate.theorem,
                "mechanism": _mechanism(certificate.mechanism),
                "dual": _dual(certificate.dual),
                "multipliers": None
                if multipliers is None
                else {name: plain(getattr(multipliers, name)) for name in ("x", "y", "j", "values")},
            }
        )
    return {**type_facts(capacities[0].certificate.ptype), "capacities": written}


def _capacities(facts: Mapping[str, Any]) -> Sequence[TypeCapacity]:
    ptype, capacities = stated_type(facts), []
    for written in facts["capacities"]:
        if written["method"] not in CAPACITY_METHODS:
            raise BadTable(
                f"a capacity must be found by one of {', '.join(CAPACITY_METHODS)}",
                came="another method",
                where="method",
            )
        if written["capacity"] not in ("multiplicative", "additive"):
            raise BadTable("a capacity must be multiplicative or additive", came=written["capacity"])
        multipliers = None
        if written["multipliers"] is not None:
            x, y, j = positions = [np.array(written["multipliers"][name], dtype=np.int64) for name in ("x", "y", "j")]
            values = _fractions(written["multipliers"]["values"])
            if any(at.shape != values.shape or (at < 0).any() or (at >= ptype.space.size).any() for at in positions):
                raise BadTable("each multiplier must name a pair of secrets and a column")
            multipliers = PairMultipliers(x, y, j, values)
        mechanism, dual = _read_mechanism(ptype, written["mechanism"]), _read_dual(written["dual"])
        certificate = CapacityCertificate(ptype, written["capacity"], mechanism, dual, multipliers)
        capacities.append(TypeCapacity.of(certificate, written["method"]))
    if len({capacity.certificate.kind for capacity in capacities}) != len(capacities) or not capacities:
        raise BadTable(
            "a file of capacities must have at least one capacity, and at most one of each kind",
            came=f"{len(capacities)} capacities",
        )
    return capacities


CAPACITIES = Form(KIND, "a file of capacities", _facts, _capacities, frozenset({"value", "lower"}))
document, read = CAPACITIES.document, CAPACITIES.read


def _mechanism(mechanism: Channel | ImplicitMechanism) -> dict[str, Any]:
    match mechanism:
        case SimilarityMechanism():
            similarity = {"sign": mechanism.sign, "has_rest": mechanism.has_rest}
            return {"form": "similarity", **similarity, "weights": plain(mechanism.weights)}
        case UniformMechanism():
            return {"form": "uniform", "sign": mechanism.sign}
        case ProductMechanism():
            return {"form": "product", "parts": [_mechanism(part) for part in mechanism.parts]}
        case LatticeMechanism():
            return {"form": "lattice"}
        case EnvelopeMechanism():
            return {"form": "envelope", "heights": plain(mechanism.heights)}
    return {"form": "matrix", "rows": plain(mechanism.matrix)}


def _read_mechanism(ptype: PrivacyType, facts: dict[str, Any]) -> Any:
    match facts["form"]:
        case "similarity" | "uniform" if facts["sign"] not in (1, -1):
            raise BadTable("the sign of a similarity must be 1 or -1", came=facts["sign"])
        case "similarity":
            return SimilarityMechanism(
                ptype, _fractions(facts["weights"]), exact_integer(facts["sign"]), bool(facts["has_rest"])
            )
        case "uniform":
            return UniformMechanism(ptype, exact_integer(facts["sign"]))
        case "lattice":
            return LatticeMechanism(ptype)
        case "envelope":
            return EnvelopeMechanism(ptype, np.array(facts["heights"], dtype=np.float64))
        case "product":
            parts = zip(product_parts(ptype) or (), facts["parts"], strict=True)
            return ProductMechanism(tuple(_read_mechanism(part, written) for part, written in parts))
        case "matrix":
            return Channel([list(row) for row in facts["rows"]])
    raise BadTable(
        "the form of a mechanism must be similarity, uniform, lattice, envelope, product or matrix", came=facts["form"]
    )


def _dual(dual: Any) -> dict[str, Any]:
    match dual:
        case UniformDual():
            return {"form": "uniform"}
        case ProductDual(parts):
            return {"form": "product", "parts": [_dual(part) for part in parts]}
    return {"form": "vector", "values": plain(dual)}


def _read_dual(facts: dict[str, Any]) -> Any:
    match facts["form"]:
        case "uniform":
            return UniformDual()
        case "product":
            return ProductDual(tuple(_read_dual(part) for part in facts["parts"]))
        case "vector":
            return _fractions(facts["values"])
    raise BadTable("the form of a dual must be uniform, product or vector", came=facts["form"])


def _fractions(texts: list[Any]) -> Array:
    return objects(map(exact, texts))
