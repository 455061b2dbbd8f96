"""Preview a publication or an approval: its margins, the budget before and after, and warnings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from utmost.core.exact.levels import Level
from utmost.errors import UtmostError
from utmost.interfaces.service.api.problems import public_words
from utmost.interfaces.service.approvals import Proposal
from utmost.interfaces.service.published_margins import published_bars
from utmost.publish.ledger.budgets import separate_from
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest
from utmost.publish.ledger.spending import Budget, Spending

_STEPS = ("1/4", "1/2", "1", "2", "4")
_LOOKING = 2.0  # seconds after which no further level is previewed
UNREADABLE = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
_NOT_SHOWN = "Your token includes no release of this dataset: its budget is not shown to you."


@dataclass(frozen=True, slots=True)
class ProposalPreview:
    """The margins, budgets and warnings of a proposal, computed from public facts."""

    # Released columns, or the first 48 tables of a plan, with their margins at 95 %.
    bars: tuple[tuple[str, int | float], ...] = ()
    # Budget of the proposal's dataset before the proposal.
    before: Budget | None = None
    # The same budget after the proposal; None if the proposal would exceed the limit.
    after: Budget | None = None
    # Why the proposal cannot be carried out; empty if it can.
    problem: str = ""
    warnings: tuple[str, ...] = ()
    # Budgets of other datasets that the viewer may know.
    other_budgets: tuple[Budget, ...] = ()
    # Tables whose margins are not in `bars`.
    further: int = 0
    # Other proposals on the dataset that wait for a decision or for their table.
    waiting: tuple[Proposal, ...] = ()
    # Budget after this proposal and all in `waiting`; None if nothing else waits.
    together: Budget | None = None

    @property
    def largest(self) -> int | float | None:
        """The largest margin; None if counts, sums and means have margins in different units."""
        return None if any(": " in name for name, _ in self.bars) else max(margin for _, margin in self.bars)


def with_others(
    ledger: Ledger, seen: ProposalPreview, proposal: Proposal, others: Sequence[Proposal]
) -> ProposalPreview:
    """Add other waiting proposals on the dataset to a preview, and a warning if all together exceed the limit."""
    # Releases of disjoint parts are added up as if they had the same people.
    if seen.before is None or not others:
        return seen
    largest_levels = dict[tuple[str, int], Level]()
    for one in (proposal, *others):
        at = one.release, one.version
        largest_levels[at] = max(one.level, largest_levels.get(at, one.level))
    spending, dataset = seen.before.spending, seen.before.dataset
    known_releases = {(known.name, known.version): known for known in ledger.releases if known.dataset == dataset}
    for at, largest in largest_levels.items():
        known = known_releases.get(at)
        if known is None or known.part is not None:
            spending = spending.plus(largest)
        else:
            spending = spending.minus(known.spent).plus(max(known.spent, largest))
    together, warnings = replace(seen.before, spending=spending), seen.warnings
    if together.limit is not None and spending.exceeds(together.limit):
        warnings += (
            f"All waiting proposals for {dataset} together exceed its limit. Tables are published in the order in "
            "which they are sent; a table that exceeds the limit is refused, even if approved.",
        )
    return replace(seen, waiting=tuple(others), together=together, warnings=warnings)


def preview(
    ledger: Ledger,
    request: PublishRequest | AnswerRequest,
    may_know: Callable[[str], bool],
    *,
    sees_all: bool = True,
) -> ProposalPreview:
    """Return the margins, budgets and warnings of a request, or the reason why it cannot be carried out."""
    # `may_know` decides whether the viewer may see the budget of a dataset. With `sees_all`, the token is for all
    # releases; otherwise no dataset with an unused limit is named. Cost: at most 48 margins; nothing is drawn or
    # written.
    bars: tuple[tuple[str, int | float], ...] = ()
    before, level, further = None, request.level, 0
    warnings: tuple[str, ...] = ()
    others: tuple[Budget, ...] = ()
    try:
        if isinstance(request, PublishRequest):
            dataset, promise = request.dataset, request.promise
            noise, part, independent = promise.lasting_noise, promise.part, request.independent or not sees_all
        else:
            release = ledger.release(request.name, request.version)
            dataset, noise, part, independent = release.dataset, release.noise, release.part, False
        weakness = noise.at(level).weakness()
        warnings = (weakness,) if weakness else ()
        bars, further = published_bars(noise, level)
        if isinstance(request, PublishRequest) and request.promise.until is not None:
            bars = tuple((f"{name}, at the last level", margin) for name, margin in bars)
        if not may_know(dataset):
            return ProposalPreview(bars, warnings=(*warnings, _NOT_SHOWN), further=further)
        known_budgets = {budget.dataset: budget for budget in ledger.status().datasets}
        before = known_budgets.get(dataset, Budget(dataset, None, Spending()))
        others = tuple(budget for name, budget in known_budgets.items() if name != dataset and may_know(name))
        if isinstance(request, PublishRequest) and not independent:
            known = {stored.dataset for stored in ledger.releases} | {stored.dataset for stored in ledger.mechanisms}
            words = separate_from(known, dataset)
            warnings += () if words is None else (f"{words}.",)
        after = ledger.rehearse(
            request.name, epsilon=level, version=request.version, dataset=dataset, independent=independent, part=part
        )
    except UtmostError as error:
        return ProposalPreview(bars, before, None, public_words(error), warnings, others, further)
    return ProposalPreview(bars, before, after, "", warnings, others, further)


def ladder(
    ledger: Ledger, request: PublishRequest, may_know: Callable[[str], bool], *, sees_all: bool = True
) -> tuple[tuple[Level, ProposalPreview], ...]:
    """Return previews of a request at its level, and at a quarter, half, twice and four times that level."""
    # Cost: at most five previews; after two seconds no further preview begins.
    until, steps = monotonic() + _LOOKING, []
    for factor in _STEPS:
        if factor == "1" or monotonic() < until:
            at = request.level.scaled(factor)
            steps.append((at, preview(ledger, replace(request, level=at), may_know, sees_all=sees_all)))
    return tuple(steps)
