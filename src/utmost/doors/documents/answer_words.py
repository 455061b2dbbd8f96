"""What is promised of answers drawn from a mechanism, in words, and the check of a statement that says so."""

from collections.abc import Mapping
from typing import Any

from utmost.design.spaces import Space
from utmost.doors.documents.space_names import stated_space
from utmost.errors import BadTable
from utmost.laws.exact import Level
from utmost.laws.exact.written_levels import level_facts, stated_level
from utmost.publish.releases.statement_kinds import ANSWERS_FORMAT, ANSWERS_KIND
from utmost.publish.statements import codec
from utmost.publish.statements.statement_check import does_not_follow, names_of, stated_field, stated_rows

EACH_ROW = "each row, as one person"
"""Whose the answers of a table are."""

_OF_A_TABLE = ("public", "rows", "column", "of")
_FIELDS = {
    *("kind", "format", "utmost", "guarantee", "epsilon", "epsilon_rounded_up", "alpha", "space", "mechanism"),
    *(*_OF_A_TABLE, "repeated", "table", "name", "dataset", "data_version", "together"),
}

AGAIN = (
    "Each further answer about the same person adds up: k answers cost k times epsilon. So answer once, keep the "
    "answer, and repeat it."
)

KEPT = (
    "The ledger keeps the answer: whoever asks about the same person under this name and version gets it again, at no "
    "further cost. Answers under other names and versions add up."
)


def answers_guarantee(epsilon: str, unit: str | None, *, kept: bool) -> str:
    """The promise of one answer, and what more of them cost; or that a ledger repeats it.

    Args:
        epsilon: the level for one unit of distance, as its text.
        unit: in which distances are.
        kept: whether a ledger keeps the answer.
    """
    measured = "" if unit is None else f" in {unit}"
    return (
        f"Whatever anyone concludes from one answer, the chance of concluding it would have been at most "
        f"e^(epsilon d) times larger or smaller if the secret had been any other at distance d{measured} "
        f"(epsilon = {epsilon}). {KEPT if kept else AGAIN}"
    )


def check_answers(said: Mapping[str, Any]) -> tuple[Level, Space]:
    """Check that a statement of answers follows from itself: level, sentence and space; its level and its space.

    That the mechanism keeps the level is proved by the design whose digest it names, which is another file.

    Raises:
        BadTable: naming the first field that does not follow from the others.
        Unsupported: for a format that is not known.
    """
    codec.check_header(said, ANSWERS_KIND, ANSWERS_FORMAT, "a statement of answers")
    for name in said:
        if name not in _FIELDS:
            raise does_not_follow(str(name))
    at, epsilon = stated_level(said), stated_field(said, "epsilon", str)
    _check_table(said)
    with codec.fields("a statement of answers", "space"):
        space = stated_space(said["space"])
    if "alpha" in said or "epsilon_rounded_up" in said:  # a level that is exact; else the least decimal above it
        for name, fact in level_facts(at).items():
            if codec.differing({name: said.get(name)}, {name: fact}):
                raise does_not_follow(name)
    sentences = [answers_guarantee(epsilon, space.unit, kept=kept) for kept in (False, True)]
    if said.get("guarantee") not in sentences:
        raise does_not_follow("guarantee")
    mechanism = stated_field(said, "mechanism", dict)
    if not isinstance(mechanism.get("sha256"), str) or not isinstance(mechanism.get("checked"), str):
        raise BadTable("a statement of answers must name its mechanism", came="none", where="mechanism")
    return at, space


def _check_table(said: Mapping[str, Any]) -> None:
    """Check what is said of the answers' table, or of those that a ledger keeps, as far as it can be without them."""
    stated_field(said, "utmost", str)
    if "repeated" in said and stated_field(said, "repeated", int) < 0:
        raise does_not_follow("repeated")
    for name in ("name", "together"):
        if name in said and not stated_field(said, name, str):
            raise does_not_follow(name)
    if any(name in said for name in _OF_A_TABLE):
        names_of(said, "public")
        if stated_field(said, "repeated", int) > stated_rows(said):
            raise does_not_follow("repeated")
        if not stated_field(said, "column", str) or said.get("of") != EACH_ROW:
            raise does_not_follow("of")
