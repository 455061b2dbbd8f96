"""A workload release as JSON: the statement of what was promised, and the noisy sums that everything follows from.

The document holds no true value. Whoever has it can compute every estimate, margin and ratio that the publisher can;
the weights of least squares stand in it, so that all compute the same numbers.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import read_confidence
from utmost.core.exact.written_levels import level_facts, level_from_facts
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.integers import narrowed
from utmost.errors import BadTable, Unsupported, UtmostError
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.statement_kinds import FORMAT, WORKLOAD_KIND, WORKLOAD_TABLE_KIND, check_format
from utmost.publish.promises.sum_laws import noise_laws
from utmost.publish.promises.table_statements import promise
from utmost.publish.workloads.measuring.measured_families import measured_family
from utmost.publish.workloads.measuring.product_rows import rows_of_facts
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.row_unit import WholeRows
from utmost.tables.axes.domain import Domain, Family
from utmost.version import __version__

_MOST_SUMS = 1 << 26
_AT_ONCE = 1 << 16


class Noised(Protocol):
    """The subject of a statement; a `NoisySums` is one."""

    @property
    def plan(self) -> Plan:
        """The families and their shares."""

    @property
    def level(self) -> Level:
        """The level of the whole."""

    @property
    def confidence(self) -> Fraction:
        """The margins."""

    @property
    def measured(self) -> Mapping[Family, NDArray[Any]]:
        """The noisy sums."""

    @property
    def weights(self) -> Mapping[Family, int]:
        """The weights of least squares."""

    @property
    def part(self) -> tuple[str, str] | None:
        """The part of a partition."""

    @property
    def measure(self) -> str | None:
        """The name of one of several measures."""

    @property
    def ledger_facts(self) -> LedgerFacts | None:
        """The fields that a ledger adds."""


def workload_statement(release: Noised) -> dict[str, Any]:
    """The public statement of a workload release: the promise, the domain, the families and their noise."""
    unit, plan = release.plan.unit, release.plan
    promised = promise(release.level, unit, "the released sums", "cell")
    assumed = "The promise also assumes that the lists of values of the domain depend on no individual."
    return {
        "kind": WORKLOAD_KIND,
        "format": FORMAT,
        "utmost": __version__,
        "guarantee": f"{promised} {_assumed(plan)}{assumed}",
        **level_facts(release.level),
        "neighbours": unit.neighbours,
        **unit.facts(),
        "charged": unit.charged_facts,
        "theorem": plan.measurement.theorem(plan.unit, plan.shares),
        "confidence": float(release.confidence),
        "confidence_exactly": str(release.confidence),
        "domain": release.plan.domain.facts(),
        "domain_cells": release.plan.domain.size,
        "families": _family_facts(release),
        **({} if plan.together is None else {"changed_together": plan.together}),
        **({} if plan.rows is None else {"rows": plan.rows.facts()}),
        "part": None if release.part is None else list(release.part),
        **({} if release.measure is None else {"measure": release.measure}),
        "domain_from": "declared",
        "measured": {"of": "domain and sums", "sha256": sums_digest(release)},
        "shares": {plan.domain.family_name(family): str(share) for family, share in plan.shares.items()},
        **({} if release.ledger_facts is None else release.ledger_facts.facts()),
    }


def workload_table_statement(
    release: Noised, family: Any, digest: Mapping[str, str] | None, *, with_means: bool = False
) -> dict[str, Any]:
    """The statement beside one table of a workload release: the whole release, from which it can be computed.

    Args:
        release: the release.
        family: which table, as the release takes it.
        digest: Digest of the table.
        with_means: whether the table has the means of amounts beside their sums and counts.
    """
    names: Any = family
    if isinstance(family, tuple) and family and all(isinstance(level, int) for level in family):
        names = release.plan.domain.level_names(family)
    return {
        "kind": WORKLOAD_TABLE_KIND,
        "format": FORMAT,
        "utmost": __version__,
        "guarantee": workload_statement(release)["guarantee"],
        "family": names
        if isinstance(names, str)
        else [name if isinstance(name, str) else list(name) for name in names],
        **({"means": True} if with_means else {}),
        "table": None if digest is None else dict(digest),
        "release": workload_facts(release),
    }


def _assumed(plan: Plan) -> str:
    """The assumptions beside the unit: that nothing is negative, and which cells change together."""
    amount = plan.unit.amount
    lowers = "" if amount is None or amount.clipped is None else f"Sums and means are of {amount.clipped}. "
    lowers += "The promise also assumes that no individual lowers the number of any cell. " * plan.unit.nonnegative
    if plan.unit.exactly:
        lowers += (
            "The promise also assumes that every individual changes exactly so many cells by all of that, and that "
            "nobody is left out: the total is public. "
        )
    if plan.together is None:
        return lowers
    whole = WholeRows.of(plan.domain, plan.together)
    rows, count = plan.unit.cells // whole.values, ("two", "three", "four", "five")[whole.values - 2]
    which = f"the {count} cells of one row" if rows == 1 else f"the cells of at most {rows} rows"
    return lowers + (
        f"The promise also assumes that these are {which}, a row having a cell for {whole.words} of "
        f"{plan.together!r}, and that no other cell changes. "
    )


def _family_facts(release: Noised) -> list[dict[str, Any]]:
    laws = noise_laws(release.plan, release.level)
    return [
        {
            "family": release.plan.domain.family_name(family),
            "sums": int(np.prod(release.plan.measured_shape(family))),
            **({"of": kind} if (kind := release.plan.measurement.kind(family)) else {}),
            "share": str(release.plan.shares[family]),
            "per_sum": level_facts(law.level),
            "law": type(law).__name__,
            "sensitivity": law.sensitivity,
            "margin": release.plan.unit.margin(law.margin(release.confidence)),
            "weight": release.weights[family],
        }
        for family, law in laws.items()
    ]


def sums_digest(release: Noised) -> str:
    """The SHA-256 of the UTF-8 text of a JSON list, without spaces: the domain, and a pair for each measured family.

    Where sums and differences of an axis of two values were measured, its name follows the domain; where rows are
    listed along the axes, these do.
    A pair is the family's name and its noisy sums as decimal text, in the order of the domain's values; the families
    come in the order of the statement.
    """
    plan, digest = release.plan, hashlib.sha256()
    together = [] if plan.together is None else [plan.together]
    rows = [] if plan.rows is None else [plan.rows.facts()]
    digest.update(
        f"[{','.join(_digested(part) for part in (plan.domain.facts(), *together, *rows))}".encode(
            "utf-8", "surrogatepass"
        )
    )
    for family, sums in release.measured.items():
        digest.update(f",[{_digested(plan.domain.family_name(family))},[".encode("utf-8", "surrogatepass"))
        flat = sums.ravel()
        for start in range(0, len(flat), _AT_ONCE):
            texts = ",".join(f'"{noisy}"' for noisy in flat[start : start + _AT_ONCE].tolist())
            digest.update(("," * bool(start) + texts).encode())
        digest.update(b"]]")
    digest.update(b"]")
    return digest.hexdigest()


def _digested(facts: Any) -> str:
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False)


def workload_facts(release: Noised) -> dict[str, Any]:
    """A workload release as JSON values: its statement, and the noisy sums of each measured family, in one row each."""
    return {**workload_statement(release), "sums": _sums(release)}


def workload_parts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the `NoisySums` that `workload_facts` wrote.

    Raises:
        WrongKind: for what is no mapping.
        BadTable: for a document of another kind or format, and one that lacks a field.
    """
    if not isinstance(facts, Mapping):
        raise wrong_kind("facts", "a mapping", facts)
    if facts.get("kind") != WORKLOAD_KIND:
        remedy = "It is what a release by a plan is written as."
        required = f"the document must be of the kind {WORKLOAD_KIND!r}"
        raise BadTable(required, came=repr(facts.get("kind")), remedy=remedy)
    check_format(facts, "a release by a plan")
    with _all_parts():
        return _read(facts)


@contextmanager
def _all_parts() -> Iterator[None]:
    """Whatever a document that lacks a part raises is a `BadTable`."""
    try:
        yield
    except BadTable:
        raise
    except (UtmostError, LookupError, TypeError, ValueError, AttributeError) as error:
        came = f"{type(error).__name__}: {error}"
        raise BadTable("the document must have all parts of a workload release", came=came) from None


def unsummed_parts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a `NoisySums` whose statement has no sums: all of them are 0.

    Its labels, laws, bars and sentences are those of the release; its estimates are nobody's.

    Raises:
        WrongKind, BadTable: as `workload_parts`.
        Unsupported: for more sums than a file would hold.
    """
    if not isinstance(facts, Mapping):
        raise wrong_kind("facts", "a mapping", facts)
    with _all_parts():
        plan = _plan(facts)
        sizes = {family: prod(plan.measured_shape(family)) for family in plan.shares}
    if sum(sizes.values()) > _MOST_SUMS:
        raise Unsupported(f"a statement may be of {_MOST_SUMS} sums", came="more", where="families")
    return workload_parts({**facts, "sums": {plan.domain.family_name(name): [0] * n for name, n in sizes.items()}})


def _read(facts: Mapping[str, Any]) -> dict[str, Any]:
    plan = _plan(facts)
    domain = plan.domain
    sums, weights = {}, {}
    for fact in facts["families"]:
        family, row = measured_family(domain, fact["family"]), facts["sums"][fact["family"]]
        if not all(type(number) is int for number in row):
            raise BadTable("the noisy sums must be integers", came="others", where=repr(fact["family"]))
        sums[family] = narrowed(np.array(row, dtype=object)).reshape(plan.measured_shape(family))
        weights[family] = fact["weight"]
    level = level_from_facts(facts)
    return {
        "plan": plan,
        "level": level,
        "confidence": read_confidence(facts["confidence_exactly"]),
        "measured": sums,
        "part": _part(facts["part"]),
        "weights": weights,
        "ledger_facts": LedgerFacts.of_statement(facts, level),
        "measure": _measure(facts.get("measure")),
    }


def _plan(facts: Mapping[str, Any]) -> Plan:
    unit = Unit.of_facts(facts)
    domain = Domain.of_facts(facts["domain"])
    rows = rows_of_facts(domain, facts)
    return Plan(domain, unit, facts["shares"], together=facts.get("changed_together"), rows=rows)


def _measure(name: Any) -> str | None:
    if name is not None and (not isinstance(name, str) or not name):
        raise BadTable("the name of a measure must be text", came=type(name).__name__, where="measure")
    return name


def _part(part: Any) -> tuple[str, str] | None:
    if part is None:
        return None
    if not isinstance(part, list) or len(part) != 2 or not all(isinstance(text, str) for text in part):
        raise BadTable("a part must be a pair of texts", came=type(part).__name__, where="part")
    return part[0], part[1]


def _sums(release: Noised) -> dict[str, list[int]]:
    domain = release.plan.domain
    return {domain.family_name(family): sums.ravel().tolist() for family, sums in release.measured.items()}
