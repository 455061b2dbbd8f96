"""Budgets of datasets: checked before a draw, rehearsed, and limited."""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from utmost.core.exact.display import few
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact_integer
from utmost.core.exact.written_levels import level_text
from utmost.errors import (
    AlreadyPublished,
    BudgetExceeded,
    BudgetUnused,
    LimitBelowSpent,
    NotPublished,
    OutOfRange,
    SeparateDatasets,
    warn,
)
from utmost.publish.counting.counted_facts import Part
from utmost.publish.ledger.event_log import EventLog, Transaction
from utmost.publish.ledger.events import check_name
from utmost.publish.ledger.spending import Account, Budget, Spending
from utmost.publish.ledger.state import Published, State

# Printable, and drawn as nothing.
_INVISIBLE = {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C}
_INVISIBLE |= {0x180D, 0x180F, 0x2800}


@lru_cache(maxsize=1 << 14)
def name_as_read(name: str) -> str:
    """A name as people read it: equal for names that differ in case, in Unicode's forms, and in what is not seen.

    Letters of other scripts that look the same are not found.

    >>> name_as_read("Café") == name_as_read("cafe\ufe00\u0301"), name_as_read("a") == name_as_read("b")
    (True, False)
    """
    plain, before = name, None
    while plain != before:  # what is unseen may hold letters apart that are one, and come of normalising
        before = plain
        seen = "".join(letter for letter in plain if ord(letter) not in _INVISIBLE)
        plain = " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold()).split())
    return plain


def lookalike_of(name: str, known: Iterable[str]) -> str | None:
    """A known name that people would read as this new name; None where there is none.

    >>> lookalike_of("CAFE", ["cafe", "tea"]), lookalike_of("cafe", ["CAFE", "cafe"])
    ('cafe', None)
    """
    there, mine = set(known), name_as_read(name)
    return None if name in there else min((other for other in there if name_as_read(other) == mine), default=None)


def check_names_differ(state: State, dataset: str) -> None:
    """Check that a dataset that is new does not read as one that is there: they would be one, with two budgets."""
    if dataset in state.accounts:  # it was compared when it came
        return
    twin = lookalike_of(dataset, state.datasets)
    if twin is not None:
        raise OutOfRange(
            f"the name of a dataset must not read as that of another, {twin!a}",
            came=ascii(dataset),
            where="dataset",
            remedy="Write it as it was written first. For other individuals' data take a name that reads otherwise.",
        )


def check_named(state: State, dataset: str) -> None:
    """Check that a new dataset without a limit is not named where a limit waits for a dataset that nothing names."""
    waiting = [name for name in state.limits if name not in state.accounts]
    if waiting and dataset not in state.limits and dataset not in state.accounts:
        raise OutOfRange(
            f"a release must spend the budget that was set, and no release names {', '.join(map(repr, waiting))} yet",
            came=f"dataset {dataset!r}, which has no limit",
            where="dataset",
            remedy=f"Pass dataset={waiting[0]!r}; or set a limit on {dataset!r} too, or pass independent=True.",
        )


def separate_from(known: Iterable[str], dataset: str) -> str | None:
    """The fact, in words, that a new dataset is charged apart from those that are there; None where it is one of them.

    >>> separate_from(["persons"], "ages")
    "'ages' and 'persons' are charged as different people: no budget adds up what both spend"
    >>> separate_from(["persons"], "persons"), separate_from([], "ages")
    (None, None)
    """
    others = sorted(known)
    if not others or dataset in others:
        return None
    named = few(list(map(repr, others)), _MOST_NAMED)
    return f"{dataset!r} and {named} are charged as different people: no budget adds up what both spend"


def warn_of_separate(state: State, dataset: str) -> None:
    """Warn, before anything is drawn, of a new dataset beside others.

    Warns:
        SeparateDatasets: where it is new, and the ledger holds others.
    """
    if dataset in state.accounts:
        return
    known = sorted(state.accounts)
    words = separate_from(known, dataset)
    if words is not None:
        remedy = f"Pass dataset={known[0]!r} if they are the same people, or independent=True if nobody is in both."
        warn(f"{words}. {remedy}", SeparateDatasets)


_MOST_NAMED = 3


def rehearsed(
    state: State,
    name: str,
    level: Level,
    *,
    dataset: str | None,
    independent: bool,
    version: int | None,
    part: Part | None = None,
) -> Budget:
    """The budget as it would stand after a release, new or not, has been answered at a level.

    Raises:
        BudgetExceeded, OutOfRange: where the call would raise it.
    """
    versions = state.versions(name)
    wanted = max(versions, default=1) if version is None else exact_integer(version, "version")
    release = state.releases.get((name, wanted))
    group = check_name(dataset if dataset is not None else name, "dataset") if release is None else release.dataset
    if release is None:
        check_names_differ(state, group)
        if not independent:
            check_named(state, group)
            warn_of_separate(state, group)
    after = spending_after(state, group, release, level, part)
    check_budget(state, group, after)
    return Budget(group, state.limits.get(group), after)


def check_known(state: State, dataset: str) -> None:
    """Check that the ledger knows a dataset: a misspelt name would read as one that has spent nothing."""
    if dataset not in state.datasets:
        there = ", ".join(map(repr, state.datasets))
        raise NotPublished(
            "a dataset must be in the ledger",
            came=repr(dataset),
            remedy=f"The ledger has {there}." if there else "The ledger has none yet.",
        )


def limited(log: EventLog, dataset: str, limit: Level) -> Budget:
    """The budget of a dataset with a limit that is set now.

    Raises:
        OutOfRange: for a name that reads as that of another dataset.

    Warns:
        BudgetUnused: where the ledger holds releases, and none of this dataset.
        LimitBelowSpent: for a limit below what is spent.
    """

    def work(transaction: Transaction) -> tuple[Budget, list[str]]:
        check_names_differ(transaction.state, dataset)
        if transaction.state.limits.get(dataset) != limit:
            log.check_writable(transaction)
            transaction.append("budgeted", {"dataset": dataset, "limit": level_text(limit)})
        return Budget(dataset, limit, transaction.state.spending(dataset)), sorted(transaction.state.accounts)

    budget, known = log.write(work)
    if known and dataset not in known:
        warning = f"no release names dataset {dataset!r} yet; those of this ledger name {', '.join(map(repr, known))}"
        warn(warning, BudgetUnused)
    if budget.spending.exceeds(limit):
        warning = f"dataset {dataset!r} has spent more than this limit: nothing more is released from it"
        warn(warning, LimitBelowSpent)
    return budget


def charged(log: EventLog, dataset: str, level: Level, what: str, *, is_independent: bool) -> Budget:
    """The budget of a dataset after another tool's spending was written into the ledger, once.

    Raises:
        AlreadyPublished: where so much else was charged for the same.
        BudgetExceeded, OutOfRange: as for a release.
    """

    def work(transaction: Transaction) -> Budget:
        state = transaction.state
        known = state.charges.get((dataset, what))
        if known is None:
            log.check_writable(transaction)
            check_names_differ(state, dataset)
            if not is_independent:
                _check_charged(state, dataset)
            check_budget(state, dataset, spending_with(state, dataset, [(level, None)]))
            transaction.append("charged", {"dataset": dataset, "level": level_text(level), "what": what})
        elif known != level:
            raise AlreadyPublished(
                "what was charged must keep its level",
                came=f"{level}, where {known} was charged for {what!r}",
                where=f"dataset {dataset!r}",
                remedy="Charge another spending under other words: what=.",
            )
        return Budget(dataset, state.limits.get(dataset), transaction.state.spending(dataset))

    return log.write(work)


def _check_charged(state: State, dataset: str) -> None:
    """Check that a charge is to a dataset that is there: one under a misspelt name would count for nobody."""
    known = state.datasets
    if known and dataset not in known:
        raise OutOfRange(
            f"what was spent must be charged to a dataset of the ledger: {few(list(map(repr, known)), _MOST_NAMED)}",
            came=repr(dataset),
            where="dataset",
            remedy=f"Pass dataset={known[0]!r}; or independent=True if nobody of these people is in any of them.",
        )


def spending_after(
    state: State, dataset: str, release: Published | None, level: Level, part: Part | None = None
) -> Spending:
    """The sum that the dataset will have spent once a release, or a new one of a part, is answered at a level."""
    if release is None:
        return spending_with(state, dataset, [(level, part)])
    return spending_with(state, dataset, [(max(level, release.spent), release.part)], instead=[release])


def spending_with(
    state: State, dataset: str, more: Iterable[tuple[Level, Part | None]], instead: Sequence[Published] = ()
) -> Spending:
    """The sum that the dataset will have spent with new releases, or mechanisms, some in place of others."""
    account = state.accounts.get(dataset, Account())
    for release in instead:
        account = account.minus(release.spent, release.part)
    for level, part in more:
        account = account.plus(level, part)
    return account.spending + state.missing.get(dataset, Spending())


def check_relation(state: State, dataset: str, relation: str, name: str) -> None:
    """Check that all that spends one budget names it in one way, and protects against one relation."""
    check_names_differ(state, dataset)
    other = state.relation(dataset)
    if other not in (None, relation):
        raise OutOfRange(
            f"all releases of dataset {dataset!r} must protect against one relation: {other}",
            came=relation,
            where=repr(name),
            remedy="Levels add up only for one relation, as of neighbours= or per=.",
        )


def check_budget(state: State, dataset: str, after: Spending) -> None:
    """Check that a dataset may spend so much."""
    limit = state.limits.get(dataset)
    # What spends nothing more is answered even above a limit that was lowered later: it was said already.
    if limit is not None and after.exceeds(limit) and after != state.spending(dataset):
        raise BudgetExceeded(
            f"the dataset's releases must stay within {limit}",
            came=f"a sum of epsilon = {after.epsilon}",
            where=f"dataset {dataset!r}",
            remedy=f"What is left is epsilon = {state.spending(dataset).left(limit)}.",
        )


Spends = tuple[str, Level, Part | None, Published | None]
"""A dataset, a level and a part that an answer would spend, and the release that has spent less instead, if any."""


def check_budgets(state: State, spends: Sequence[Spends]) -> None:
    """Check that the datasets have room for several answers together, before any of them is drawn.

    One alone is checked where it is drawn, after all that is more worth saying.
    """
    if len(spends) < 2:
        return
    for dataset in {dataset for dataset, *_ in spends}:
        spent = [(level, part) for of, level, part, _ in spends if of == dataset]
        instead = [release for *_, release in spends if release is not None]
        check_budget(state, dataset, spending_with(state, dataset, spent, instead=instead))
