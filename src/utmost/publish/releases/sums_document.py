"""Write the noisy sums of a plan as JSON, read them, and compute their digest."""

import hashlib
import json
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.sampling.integers import narrowed
from utmost.errors import BadTable
from utmost.publish.promises.codec import does_not_follow, stated_field
from utmost.publish.workloads.planning.plan import Plan
from utmost.tables.axes.domain import Marginal

_AT_ONCE = 1 << 16


def sums_facts(plan: Plan, measured: Mapping[Marginal, NDArray[Any]]) -> dict[str, list[int]]:
    """Return the noisy sums of each measured marginal as a flat list, by the marginal's name."""
    return {plan.domain.marginal_name(marginal): sums.ravel().tolist() for marginal, sums in measured.items()}


def read_sums(plan: Plan, document: Mapping[str, Any]) -> dict[Marginal, NDArray[Any]]:
    """Read the noisy sums that `sums_facts` wrote, from a document's field ``sums``; refuse other content."""
    facts = stated_field(document, "sums", dict)
    names = {plan.domain.marginal_name(marginal): marginal for marginal in plan.shares}
    if set(facts) != set(names):
        raise does_not_follow("sums")
    measured = {}
    for name, marginal in names.items():
        row, shape = facts[name], plan.measured_shape(marginal)
        if not isinstance(row, list) or not all(type(number) is int for number in row):
            raise BadTable("the noisy sums must be integers", came="other values", where=repr(name))
        if len(row) != prod(shape):
            raise does_not_follow(f"sums.{name}")
        measured[marginal] = narrowed(np.array(row, dtype=object)).reshape(shape)
    return measured


def sums_digest(plan: Plan, measured: Mapping[Marginal, NDArray[Any]]) -> str:
    """Return the SHA-256 of a JSON list (UTF-8, no spaces): the domain, then a pair [name, sums] for each marginal."""
    # After the domain the list has the name of an axis of two values, if its sums and differences were measured, and
    # the rows, if they are listed along the axes. Sums are decimal text in the order of the domain's values; marginals
    # are in the order of the statement.
    digest = hashlib.sha256()
    together = [] if plan.together is None else [plan.together]
    rows = [] if plan.rows is None else [plan.rows.facts()]
    digest.update(
        f"[{','.join(_digested(part) for part in (plan.domain.facts(), *together, *rows))}".encode(
            "utf-8", "surrogatepass"
        )
    )
    for marginal, sums in measured.items():
        digest.update(f",[{_digested(plan.domain.marginal_name(marginal))},[".encode("utf-8", "surrogatepass"))
        flat = sums.ravel()
        for start in range(0, len(flat), _AT_ONCE):
            texts = ",".join(f'"{noisy}"' for noisy in flat[start : start + _AT_ONCE].tolist())
            digest.update(("," * bool(start) + texts).encode())
        digest.update(b"]]")
    digest.update(b"]")
    return digest.hexdigest()


def _digested(facts: Any) -> str:
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False)
