"""Read and write plans as JSON files: the measured marginals, their budget shares, and the wanted sums."""

from collections.abc import Mapping
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any

from utmost.core.exact.arguments import instance, truth
from utmost.core.exact.arguments import path as path_argument
from utmost.core.exact.written_levels import level_from_text, level_text
from utmost.core.privacy.unit import Unit
from utmost.errors import BadTable, OutOfRange
from utmost.publish.promises.codec import Form
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.sums_in_words import read_wanted
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain
from utmost.tables.files.atomic import write_together
from utmost.tables.files.json_files import write_json


def _facts(chosen: Plan) -> dict[str, Any]:
    unit, workload, deviations = chosen.unit, chosen.workload, chosen.variances
    assert workload is not None
    assert chosen.level is not None
    assert chosen.tuned_at is not None
    return {
        "level": level_text(chosen.level),
        "tuned_at": level_text(chosen.tuned_at),
        "unit": unit.facts(),
        **chosen.facts(),
        "wanted": [
            {
                "sums": part.name,
                "weight": str(part.weight),
                "answers": part.answers,
                "standard_deviation": sqrt(deviations[part.name]),
            }
            for part in workload.parts
        ],
    }


def _value(facts: Mapping[str, Any]) -> Plan:
    unit, wanted, domain = facts["unit"], facts["wanted"], Domain.of_facts(facts["domain"])
    if not isinstance(wanted, list) or not wanted:
        raise BadTable("a plan must name at least one wanted sum", came="none", where="wanted")
    named = read_wanted(domain, [want["sums"] for want in wanted])
    workload: Workload = named.reweighted({want["sums"]: want["weight"] for want in wanted})
    proved = Unit.of_facts(unit)
    plan = Plan.of_facts({name: fact for name, fact in facts.items() if name != "wanted"}, proved)
    levels = level_from_text(facts["level"]), level_from_text(facts["tuned_at"])
    return Plan(domain, proved, plan.shares, workload, *levels, plan.together, plan.rows, plan.narrowed_from)


PLAN_FORM = Form("workload plan", "a plan", _facts, _value, frozenset({"standard_deviation"}))
"""The form of plans in files: level, unit, domain, budget shares, and the standard deviation of each wanted table."""


def read_plan(path: Path | str) -> Plan:
    """Read a plan from a file of `save_plan` or `utmost plan`.

    Raises:
        BadTable: if the file is not a plan, or has an invalid field, which the message names.
        Unsupported: if another version of utmost wrote the file, in another format.
    """
    return PLAN_FORM.read(Path(path_argument(path, "path")))


def save_plan(plan: Plan, path: Path | str, *, overwrite: bool = False) -> None:
    """Write a plan to a JSON file, for an approver and for `utmost release --plan`.

    Args:
        plan: Plan with a workload and a level, as from `choose_plan`.
        path: Path of the file; it ends in .json.
        overwrite: True to replace an existing file.

    Raises:
        OutOfRange: if the path does not end in .json, or if the plan has no workload or no level.
        Unsupported: if the file exists, unless ``overwrite`` is set.

    >>> from tempfile import mkdtemp
    >>> from utmost.workloads import choose_plan
    >>> towns = Domain(town=["Ash", "Elm"])
    >>> plan = choose_plan(Workload(towns, {"town": 1}), Unit(1, 1), epsilon=1)
    >>> path = Path(mkdtemp()) / "plan.json"
    >>> save_plan(plan, path)
    >>> read_plan(path).shares == plan.shares
    True
    """
    instance(plan, Plan, "plan")
    file = Path(path_argument(path, "path"))
    if file.suffix.lower() != ".json":
        raise OutOfRange("path must end in .json", came=file.name, remedy=f"Pass {str(file.with_suffix('.json'))!r}.")
    if plan.workload is None or plan.level is None or plan.tuned_at is None:
        remedy = "Call ut.choose_plan, or pass workload= and level= to Plan."
        raise OutOfRange(
            "a plan that is saved must have a workload and a level",
            came="a plan without a workload or a level",
            remedy=remedy,
        )
    write_together({file: partial(write_json, PLAN_FORM.document(plan))}, overwrite=truth(overwrite, "overwrite"))
