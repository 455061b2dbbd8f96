"""Plans as JSON files: which families a release is to measure, their shares of the level, and what is wanted of it."""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from utmost.core.exact.written_levels import level_of_text, level_text
from utmost.core.privacy.unit import Unit
from utmost.errors import BadTable
from utmost.publish.promises.codec import Form
from utmost.publish.workloads.planning.strategy import Strategy
from utmost.publish.workloads.sums_in_words import read_wanted
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain


def _facts(chosen: Strategy) -> dict[str, Any]:
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


def _value(facts: Mapping[str, Any]) -> Strategy:
    unit, wanted, domain = facts["unit"], facts["wanted"], Domain.of_facts(facts["domain"])
    if not isinstance(wanted, list) or not wanted:
        raise BadTable("a plan must say what is wanted", came="nothing", where="wanted")
    named = read_wanted(domain, [want["sums"] for want in wanted])
    workload: Workload = named.reweighted({want["sums"]: want["weight"] for want in wanted})
    proved = Unit.of_facts(unit)
    strategy = Strategy.of_facts(facts, proved)
    levels = level_of_text(facts["level"]), level_of_text(facts["tuned_at"])
    return Strategy(domain, proved, strategy.shares, workload, *levels, strategy.together, strategy.rows)


PLAN_FORM = Form("workload plan", "a plan", _facts, _value, frozenset({"standard_deviation"}))
"""Plans as documents: level, unit, domain, shares, and of each part that is wanted the standard deviation."""
