"""Check the budgets of datasets before a draw, compute them as they would be after a call, and set limits."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

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
from utmost.publish.counting.counted_facts import Part, read_part
from utmost.publish.ledger.event_log import EventLog, Transaction
from utmost.publish.ledger.means_names import releases_of_means
from utmost.publish.ledger.names import SAME_IN_NAMES, check_name, lookalike_of
from utmost.publish.ledger.requests import PublishRequest
from utmost.publish.ledger.spending import Account, Budget, Spending
from utmost.publish.ledger.state import Published, State

RAISING = "ledger.budget(dataset, limit=), or utmost ledger budget --limit"
"""How the holder of a ledger raises a limit."""


def check_names_differ(state: State, dataset: str) -> None:
    """Refuse the name of a new dataset that differs from a known dataset's name only by case or Unicode forms."""
    # Two names that people read as one would split one budget in two.
    if dataset in state.accounts:  # its name was compared when it was new
        return
    twin = lookalike_of(dataset, state.datasets)
    if twin is not None:
        raise OutOfRange(
            f"the name of a dataset must differ from {twin!a} by more than {SAME_IN_NAMES}",
            came=ascii(dataset),
            where="dataset",
            remedy="Write the name exactly as it was first written; for data of other individuals, choose a name "
            "that reads differently.",
        )


def check_no_release(state: State, dataset: str) -> None:
    """Refuse a dataset's name that is the name of a release, table of means or mechanism of another dataset."""
    if dataset in state.datasets:
        return
    charged = {release.dataset for (name, _), release in state.releases.items() if name == dataset}
    charged |= {release.dataset for release in releases_of_means(state.releases.values(), dataset, None).values()}
    charged |= {mechanism.dataset for (name, _), mechanism in state.mechanisms.items() if name == dataset}
    if charged:
        raise OutOfRange(
            "lost levels must be charged to datasets, not to releases",
            came=f"{dataset!r}, the name of a release of dataset {min(charged)!r}",
            where="missing",
            remedy=f"Name the dataset: {min(charged)!r}.",
        )


def check_named(state: State, dataset: str) -> None:
    """Refuse a new dataset without a limit while a limit is set on a dataset that no release names."""
    waiting = [name for name in state.limits if name not in state.accounts]
    if waiting and dataset not in state.limits and dataset not in state.accounts:
        raise OutOfRange(
            f"a release must name a dataset whose limit no release uses yet: {', '.join(map(repr, waiting))}",
            came=f"dataset {dataset!r}, which has no limit",
            where="dataset",
            remedy=f"Pass dataset={waiting[0]!r}; or set a limit on {dataset!r} too, or pass independent=True.",
        )


def separate_from(known: Iterable[str], dataset: str) -> str | None:
    """Return the warning that a new dataset has a separate budget; None if the dataset is known, or the first one."""
    others = sorted(known)
    if not others or dataset in others:
        return None
    named = few(list(map(repr, others)), _MOST_NAMED)
    return f"{dataset!r} and {named} are charged as different people: no budget adds up the levels of both"


def warn_of_separate(state: State, dataset: str) -> None:
    """Warn (SeparateDatasets) of a new dataset in a ledger that has other datasets."""
    warning = separate_warning(state.accounts, dataset)
    if warning is not None:
        warn(warning, SeparateDatasets)


def separate_warning(known: Collection[str], dataset: str) -> str | None:
    """Return the warning of `separate_from`, followed by a remedy."""
    words = separate_from(known, dataset)
    if words is None:
        return None
    remedy = (
        f"Pass dataset={min(known)!r} if these are the same people; or pass independent=True if "
        "nobody is in both datasets."
    )
    return f"{words}. {remedy}"


_MOST_NAMED = 3


def budget_after(
    state: State,
    name: str,
    level: Level,
    *,
    dataset: str | None,
    independent: bool,
    version: int | None,
    part: Part | None = None,
) -> Budget:
    """Return the budget as it would be after an answer at ``level`` to a release, which may be new."""
    wanted = state.newest(name) if version is None else exact_integer(version, "version")
    release = state.releases.get((name, wanted))
    group = check_name(dataset if dataset is not None else name, "dataset") if release is None else release.dataset
    if release is None:
        check_names_differ(state, group)
        if not independent:
            check_named(state, group)
            warn_of_separate(state, group)
    expense = Expense(group, level, read_part(part)) if release is None else Expense.of_answer(release, level)
    return budget_with(state, group, [expense])


def check_known(state: State, dataset: str) -> None:
    """Check that the ledger has this dataset: a misspelt name would appear to have spent nothing."""
    if dataset not in state.datasets:
        there = ", ".join(map(repr, state.datasets))
        raise NotPublished(
            "dataset must be the name of a dataset in the ledger",
            came=repr(dataset),
            remedy=f"Pass a dataset of the ledger: {there}."
            if there
            else "Publish first: the ledger has no dataset yet.",
        )


def set_limit(log: EventLog, dataset: str, limit: Level) -> Budget:
    def work(transaction: Transaction) -> tuple[Budget, list[str]]:
        check_names_differ(transaction.state, dataset)
        if transaction.state.limits.get(dataset) != limit:
            log.check_writable(transaction)
            transaction.append("budgeted", {"dataset": dataset, "limit": level_text(limit)})
        return Budget(dataset, limit, transaction.state.spending(dataset)), sorted(transaction.state.accounts)

    budget, known = log.write(work)
    if known and dataset not in known:
        names = ", ".join(map(repr, known))
        # A limit on a dataset that no release names is set, with a warning: the name may be misspelt.
        warning = f"no release names dataset {dataset!r} yet; the releases of this ledger name {names}"
        warn(warning, BudgetUnused)
    if budget.spending.exceeds(limit):
        # A limit below what is spent is set, with a warning: it stops the dataset.
        warning = f"dataset {dataset!r} has spent more than this limit: nothing more is released from it"
        warn(warning, LimitBelowSpent)
    return budget


def remove_limit(log: EventLog, dataset: str) -> None:
    def work(transaction: Transaction) -> None:
        state = transaction.state
        check_known(state, dataset)
        if dataset in state.accounts or state.spending(dataset) != Spending():
            # A limit cannot be removed once epsilon is spent: the dataset would be without a limit, unnoticed.
            remedy = "Set a larger limit."
            required = "the limit of a dataset can be removed only before the dataset has spent anything"
            raise OutOfRange(
                required, came="a dataset with releases or charges", where=f"dataset {dataset!r}", remedy=remedy
            )
        log.check_writable(transaction)
        transaction.append("budgeted", {"dataset": dataset, "limit": None})

    log.write(work)


def write_charge(log: EventLog, dataset: str, level: Level, what: str, *, is_independent: bool) -> Budget:
    """Write another tool's spending into the ledger, once; return the budget after it."""

    def work(transaction: Transaction) -> Budget:
        state = transaction.state
        known = state.charges.get((dataset, what))
        # A charge repeated with the same text counts once: after an interruption the same call is made again.
        if known is None:
            log.check_writable(transaction)
            check_names_differ(state, dataset)
            names = state.datasets
            if not is_independent and names and dataset not in names:
                # A misspelt name would split the budget.
                raise OutOfRange(
                    f"the charged dataset must be in the ledger, which has: {few(list(map(repr, names)), _MOST_NAMED)}",
                    came=repr(dataset),
                    where="dataset",
                    remedy=f"Pass dataset={names[0]!r}; or pass independent=True if nobody in the charged "
                    "dataset is in another dataset.",
                )
            try:
                check_budgets(state, [Expense(dataset, level)])
            except BudgetExceeded as error:
                remedy = (
                    "If the other tool has spent this level, raise the limit, and make the charge again. To raise it: "
                    f"{RAISING}."
                )
                raise BudgetExceeded(error.required, came=error.came, where=error.where, remedy=remedy) from None
            transaction.append("charged", {"dataset": dataset, "level": level_text(level), "what": what})
        elif known != level:
            raise AlreadyPublished(
                "a charge that is repeated must have the same level",
                came=f"{level}, after {known} was charged for {what!r}",
                where=f"dataset {dataset!r}",
                remedy="Pass another what= for a different charge.",
            )
        return Budget(dataset, state.limits.get(dataset), transaction.state.spending(dataset))

    return log.write(work)


def check_relation(state: State, dataset: str, relation: str, name: str, *, beside: str | None = None) -> None:
    """Check that a release protects the same neighbouring relation as all others of its dataset.

    ``beside`` is the relation of a release that the same call publishes.
    """
    other = state.relation(dataset) or beside
    if other not in (None, relation):
        raise OutOfRange(
            f"all releases of dataset {dataset!r} must have the same neighbouring relation, {other}",
            came=relation,
            where=repr(name),
            remedy="Pass neighbours= and per= as in these releases: levels of different relations do not add up.",
        )


@dataclass(frozen=True, slots=True)
class Expense:
    """The cost of an answer that a call will give."""

    dataset: str
    level: Level
    part: Part | None = None
    replaces: Published | None = None  # Release whose smaller spent level this level replaces; None for a new release

    @classmethod
    def of_request(cls, request: PublishRequest) -> "Expense":
        """Return the cost of the first answer of a new release."""
        return cls(request.dataset, request.level, request.promise.part)

    @classmethod
    def of_answer(cls, release: Published, level: Level) -> "Expense":
        """Return the cost of a further answer to a release; all answers together cost their largest level."""
        return cls(release.dataset, max(level, release.spent), release.part, release)


def spending_with(state: State, dataset: str, expenses: Sequence[Expense]) -> Spending:
    """Return the spending of a dataset after these expenses; those of other datasets do not count."""
    account = state.accounts.get(dataset, Account())
    for expense in expenses:
        if expense.dataset == dataset:
            if expense.replaces is not None:
                account = account.minus(expense.replaces.spent, expense.replaces.part)
            account = account.plus(expense.level, expense.part)
    return account.spending + state.missing.get(dataset, Spending())


def check_budgets(state: State, expenses: Sequence[Expense]) -> None:
    """Check that the budgets allow all answers of a call together, before any noise is drawn."""
    for dataset in {expense.dataset for expense in expenses}:
        limit, after = state.limits.get(dataset), spending_with(state, dataset, expenses)
        # A sum that equals the limit is within it. An answer that spends nothing more is allowed even if the limit was
        # lowered later: its level is already spent.
        if limit is not None and after.exceeds(limit) and after != state.spending(dataset):
            raise BudgetExceeded(
                f"the levels of all releases of the dataset must add up to at most {limit}",
                came=f"a sum of epsilon = {after.epsilon}",
                where=f"dataset {dataset!r}",
                remedy=f"The remaining budget is epsilon = {state.spending(dataset).left(limit)}. To raise the limit: "
                f"{RAISING}.",
            )


def budget_with(state: State, dataset: str, expenses: Sequence[Expense]) -> Budget:
    """Return the budget of a dataset after these expenses, which the budgets must allow."""
    check_budgets(state, expenses)
    return Budget(dataset, state.limits.get(dataset), spending_with(state, dataset, expenses))
