"""Surveys: what clients and collector share of short reports, as one file: the labels, the level and the blocks."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from typing import Any

from utmost.design.local import BlockSelection
from utmost.design.local.block_families import BlockFamily
from utmost.errors import BadTable, Unsupported
from utmost.laws.exact import level
from utmost.laws.exact.shown import Shown
from utmost.laws.exact.written_levels import level_facts, stated_level
from utmost.publish.statements.codec import Form

_BITS = 61


@dataclass(frozen=True, slots=True, repr=False)
class Survey(Shown):
    """A question with k answers, and how each client reports its own.

    Attributes:
        labels: the categories, k of them, all different.
        how: the blocks and the level.

    >>> from utmost.design.local import balanced_family
    >>> Survey(("tea", "milk", "water"), BlockSelection(balanced_family(3, 1), "1/2")).how.bits
    2
    """

    labels: tuple[str, ...]
    how: BlockSelection

    def __post_init__(self) -> None:
        k = self.how.categories
        if len(self.labels) != k or len(set(self.labels)) != k or not all(isinstance(x, str) for x in self.labels):
            raise BadTable(f"a survey must have {k} different labels", came="others")

    @property
    def rounded(self) -> "Survey":
        """The same at a stricter level whose alpha is a fraction of 61 bits, which a phone can draw exactly.

        >>> from utmost.design.local import balanced_family
        >>> survey = Survey(("tea", "milk", "water"), BlockSelection(balanced_family(3, 1), "1/2"))
        >>> survey.rounded.how.level < survey.how.level, survey.rounded.how.level.is_rational
        (True, True)
        """
        at = self.how.level
        if at.is_rational:
            return self
        above = at.alpha_interval(_BITS + 64).upper
        return Survey(self.labels, self.how.at(level(alpha=Fraction(-(-above * (1 << _BITS) // 1), 1 << _BITS))))


def survey_files(survey: Survey) -> dict[str, bytes]:
    """A module of JavaScript that draws reports by itself, and the survey beside it.

    Raises:
        Unsupported: at a level of irrational alpha: `Survey.rounded` is at one that phones can draw.
    """
    if not survey.how.level.is_rational:
        remedy = "Take --round: a level that is stricter in the nineteenth digit."
        raise Unsupported("a phone draws by fractions, so alpha must be one", came="another", remedy=remedy)
    table = json.dumps(SURVEY.document(survey), ensure_ascii=False, indent=1)
    code = (files("utmost.doors.documents") / "survey.mjs").read_text(encoding="utf-8")
    written = {"survey.mjs": f"{code}\nexport default new Survey({table});\n", "survey.json": table + "\n"}
    return {name: text.encode() for name, text in written.items()}


def _facts(survey: Survey) -> dict[str, Any]:
    how, family = survey.how, survey.how.family
    facts = level_facts(how.level)
    inside = how.inside
    return {
        "guarantee": f"Each report keeps epsilon = {facts['epsilon']} by itself, whatever else is known. Report once, "
        "and keep the report: a second one about one person costs the level again.",
        **facts,
        "labels": list(survey.labels),
        "size": family.size,
        "bits": family.bits,
        "inside": str(inside) if isinstance(inside, Fraction) else None,
        "multipliers": list(family.multipliers),
        "bases": list(map(list, family.bases)),
        "weights": list(map(str, family.weights)),
    }


def _survey(facts: Mapping[str, Any]) -> Survey:
    labels, bases = tuple(facts["labels"]), tuple(map(tuple, facts["bases"]))
    family = BlockFamily(len(labels), facts["size"], tuple(facts["multipliers"]), bases, tuple(facts["weights"]))
    return Survey(labels, BlockSelection(family, stated_level(facts)))


SURVEY = Form("utmost survey", 1, "a survey", _facts, _survey)
