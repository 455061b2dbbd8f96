"""Whether a release in two stages is what its first stage and its rule make of it: everything is worked out again."""

from collections.abc import Mapping
from typing import Any

from utmost.core.exact.numbers import exact
from utmost.core.exact.written_levels import level_from_facts
from utmost.errors import BadTable, UtmostError
from utmost.publish.promises.codec import check_header
from utmost.publish.promises.statement import check_follows, does_not_follow, stated_field
from utmost.publish.promises.statement_kinds import DETAILED_KIND
from utmost.publish.releases.detailed_release import DetailedSums, DetailRule, detailed_unit
from utmost.publish.releases.noisy_sums import NoisySums


def check_whole(document: Mapping[str, Any]) -> NoisySums | DetailedSums:
    """Check a release that is one document, by a plan or in two stages."""
    is_staged = isinstance(document, Mapping) and document.get("kind") == DETAILED_KIND
    return check_detailed(document) if is_staged else NoisySums.of_facts(document)


def check_detailed(document: Mapping[str, Any]) -> DetailedSums:
    """Check a release in two stages: both follow from themselves, the rows are those that the rule chooses of the first
    noisy sums, the unit is what is left of the first one's, and the levels add up to the one that is stated.
    """
    check_header(document, DETAILED_KIND, "a release in two stages")
    first = NoisySums.of_facts(stated_field(document, "first", dict))
    fine = None if document.get("fine") is None else NoisySums.of_facts(stated_field(document, "fine", dict))
    try:
        facts = stated_field(document, "rule", dict)
        rule = DetailRule(stated_field(facts, "group", str), stated_field(facts, "details", dict))
        whole, share = level_from_facts(document), exact(stated_field(document, "share", str))
        release = DetailedSums(rule, first, fine, whole, share)
        _check_second(release, rule, first)
        expected = release.facts()
    except BadTable:
        raise
    except UtmostError as error:
        raise BadTable("the rule must be one for the first release", came=type(error).__name__, where="rule") from error
    # both stages are repeated, each in the words of its own format
    check_follows(document, expected | {name: document[name] for name in ("first", "fine")})
    return release


def _check_second(release: DetailedSums, rule: DetailRule, first: NoisySums) -> None:
    chosen, fine = rule.chosen(first), release.fine
    domain = first.domain
    if not 0 < release.share < 1 or first.level != release.level.scaled(release.share):
        raise does_not_follow("share")
    if first.plan.shares != {domain.family(rule.group): 1}:
        raise does_not_follow("first")
    if (fine is None) != (not chosen):
        raise does_not_follow("fine")
    if fine is None:
        return
    same = fine.domain.same_as(rule.domain_of(domain, chosen)) and fine.unit == detailed_unit(first.unit)
    plain = fine.plan.shares == {fine.domain.finest: 1} and fine.part == first.part
    if not (same and plain and fine.level == release.level.scaled(1 - release.share)):
        raise does_not_follow("fine")
