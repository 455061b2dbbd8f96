"""Write and read surveys: the labels, level and blocks that clients and the collector share, in one file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from importlib.resources import files
from itertools import accumulate
from math import lcm
from typing import Any

from utmost.core.exact.display import Display
from utmost.core.exact.levels import level
from utmost.core.exact.written_levels import factor_text, level_facts, level_from_facts, level_name
from utmost.design.local.block_families import BlockFamily
from utmost.design.local.block_selection import BlockSelection
from utmost.errors import BadTable, Unsupported
from utmost.interfaces.documents.sampler_files import Language, page, typed
from utmost.publish.promises.codec import Form

_BITS = 61
_SOURCES: dict[Language, str] = {"js": "survey.mjs", "kotlin": "Survey.kt", "swift": "Survey.swift"}


@dataclass(frozen=True, slots=True, repr=False)
class Survey(Display):
    """A question with k answers, and the mechanism by which each client reports one."""

    labels: tuple[str, ...]  # k distinct categories
    how: BlockSelection  # blocks and level

    def __post_init__(self) -> None:
        k = self.how.categories
        if len(self.labels) != k or len(set(self.labels)) != k or not all(isinstance(x, str) for x in self.labels):
            raise BadTable(f"a survey must have {k} different labels", came="other labels")

    @property
    def rounded(self) -> "Survey":
        """Return this survey at a slightly smaller epsilon, whose alpha (61 bits) a phone can draw exactly."""
        at = self.how.level
        if at.is_rational:
            return self
        above = at.alpha_interval(_BITS + 64).upper
        return Survey(self.labels, self.how.at(level(alpha=Fraction(-(-above * (1 << _BITS) // 1), 1 << _BITS))))


def survey_files(survey: Survey, to: Language = "js") -> dict[str, bytes]:
    """Return the files of a language by name: source code that draws reports, and the survey for counting them."""
    if not survey.how.level.is_rational:
        remedy = "Add --round, which lowers epsilon in about its nineteenth digit."
        raise Unsupported(
            "alpha, which is exp(-epsilon), must be a fraction, so that a phone can draw exactly",
            came="another alpha",
            remedy=remedy,
        )
    source = _SOURCES[to]
    table, code = (
        _text(SURVEY.document(survey)),
        (files("utmost.interfaces.documents") / source).read_text(encoding="utf-8"),
    )
    if to == "js":
        types = typed("survey.d.mts", Answer=survey.labels)
        # The page stores a report under a key of all that determines its distribution, so that it repeats the report
        # after an export of the same survey by another version of utmost.
        drawn = ("labels", "inside", "multipliers", "bases", "weights")
        facts = _facts(survey)
        key = sha256(_text({name: facts[name] for name in drawn}).encode()).hexdigest()
        head = f'const survey = new Survey(table), key = "{key}", names = table.labels;\n'
        head += "const draw = (answer) => String(survey.report(answer));\n"
        written = {
            source: f"{code}\nexport default new Survey({table});\n",
            "survey.d.mts": types,
            "index.html": page(table, code, head),
        }
    else:
        # The file has the integers for drawing a report, in hexadecimal: the cumulative weights of the bases, and the
        # chance that the report holds the answer.
        family, inside = survey.how.family, Fraction(survey.how.inside)
        common_denominator = lcm(*(weight.denominator for weight in family.weights))
        lasts = accumulate(int(weight * common_denominator) for weight in family.weights)
        written = {
            source: code,
            "survey_draws.json": _text(
                {
                    "kind": "utmost survey draws",
                    "format": 1,
                    "labels": list(survey.labels),
                    "multipliers": list(family.multipliers),
                    "bases": list(map(list, family.bases)),
                    "lasts": list(map(_digits, lasts)),
                    "inside": [_digits(inside.numerator), _digits(inside.denominator)],
                }
            )
            + "\n",
        }
    return {name: text.encode() for name, text in (written | {"survey.json": table + "\n"}).items()}


def _digits(number: int) -> str:
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8)).hex()


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1)


def _facts(survey: Survey) -> dict[str, Any]:
    how, family = survey.how, survey.how.family
    facts = level_facts(how.level)
    inside = how.inside
    return {
        "guarantee": "Replacing the answer by another multiplies or divides the chance of any report by at most "
        f"{factor_text(how.level)} ({level_name(how.level)}), whatever else is known. Report once, and keep the "
        f"report: a second one about one person costs the level again.",
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
    return Survey(labels, BlockSelection(family, level_from_facts(facts)))


SURVEY = Form("utmost survey", "a survey", _facts, _survey)
