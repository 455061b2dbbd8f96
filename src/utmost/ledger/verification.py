"""What a ledger says about itself: budgets, status, and everything that can be computed again."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from utmost.errors import LedgerDamaged
from utmost.exact import Level, Number, checked
from utmost.ledger.book import Page
from utmost.ledger.events import START, Event, check_chain, check_seal, read_event
from utmost.ledger.key import Key
from utmost.ledger.promise import Promise
from utmost.ledger.responses import stored_blocks
from utmost.ledger.spending import Spending
from utmost.ledger.state import Published, State, folded
from utmost.ledger.store import missing_steps
from utmost.ledger.vault import level_seal
from utmost.noise import DiscreteStaircase, Geometric, IntegerLaw, Laplace, Law
from utmost.noise.costs import absolute
from utmost.noise.law import read_confidence
from utmost.release.level_steps import Step
from utmost.release.plan import Plan
from utmost.release.statements import level_of_text


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of a dataset.

    Attributes:
        dataset: whose.
        limit: what may be spent; None for no limit.
        spending: what is spent, exactly.
    """

    dataset: str
    limit: Level | None
    spending: Spending

    @property
    def spent(self) -> Fraction | float:
        """The epsilon that is spent; rounded up where it is irrational."""
        return self.spending.epsilon

    @property
    def remaining(self) -> Fraction | float | None:
        """The epsilon that is left; rounded down where it is irrational, None without a limit."""
        return None if self.limit is None else self.spending.left(self.limit)


@dataclass(frozen=True, slots=True)
class Status:
    """A ledger at a glance.

    Attributes:
        place: where it is.
        identity: its random name, which its copies share.
        events, releases: how many.
        datasets: the budget of each.
        quarantine: why nothing new may be said; None where all is well.
        sealed, derived: how it was made.
    """

    place: str
    identity: str
    events: int
    releases: int
    datasets: tuple[Budget, ...]
    quarantine: str | None
    sealed: bool
    derived: bool

    @classmethod
    @checked
    def of(cls, place: str, state: State, quarantine: str | None) -> "Status":
        """The status in a state."""
        budgets = tuple(Budget(name, state.limits.get(name), state.spending(name)) for name in state.datasets)
        return cls(
            place,
            state.identity,
            state.number,
            len(state.releases),
            budgets,
            quarantine,
            state.is_sealed,
            state.is_derived,
        )


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found sound.

    Attributes:
        events: how many events the chain has.
        responses: how many responses are stored, and ``cells`` how many cells they have in all.
        spent: dataset to what it has spent.
    """

    events: int
    responses: int
    cells: int
    spent: Mapping[str, Spending]


def verified(key: Key, page: Page) -> Verification:
    """Recompute the chain, every response's digest and length, the order of levels, and the budgets.

    Raises:
        LedgerDamaged: naming the first thing that is not as it was written.
    """
    rows = page.rows
    if missing_steps(rows.version()):
        raise LedgerDamaged("the tables must be up to date", came=rows.version(), where="utmost_schema")
    chain = rows.events()
    last = check_chain(key, 0, START, chain)
    check_seal(key, rows.head(), len(chain), last)
    state, events = State(0, START), []
    for number, body, mac in chain:
        events.append(read_event(number, body))
        _check_step(state, events[-1])
        state = folded(state, [(events[-1], mac)])
        _check_limits(state, events[-1])
    _check_places(page, events)
    cells = sum(_check_responses(key, page, state, release) for release in state.releases.values())
    responses = sum(len(release.responses) for release in state.releases.values())
    return Verification(len(chain), responses, cells, {d: state.spending(d) for d in state.datasets})


def _check_step(state: State, event: Event) -> None:
    """A response was drawn from the law that the levels known then ask for."""
    if event.kind not in ("published", "answered"):
        return
    release = state.releases.get((event.facts["name"], event.facts["version"]))
    step = Step.from_known(() if release is None else release.responses, level_of_text(event.facts["level"]))
    if step.how != event.facts["how"]:
        raise LedgerDamaged("a level must follow from those before it", came=step.how, where=f"event {event.number}")


def _check_limits(state: State, event: Event) -> None:
    """No event that spends may have been written beyond the limit that held then."""
    if event.kind not in ("published", "answered"):
        return
    dataset = state.release(event.facts["name"], event.facts["version"]).dataset
    limit = state.limits.get(dataset)
    if limit is not None and state.spending(dataset).exceeds(limit) and event.facts["how"] in ("fresh", "relax"):
        raise LedgerDamaged("a budget must not be exceeded", came=f"dataset {dataset!r}", where=f"event {event.number}")


def _check_places(page: Page, events: list[Event]) -> None:
    """Exactly the parts that the events name are stored."""
    named = [(event.number, part) for event in events for part in range(event.facts.get("parts", 0))]
    stored = list(page.rows.parts())
    if stored != named:
        odd = sorted(set(stored) ^ set(named))
        raise LedgerDamaged(
            "the parts must be those that the events name",
            came=f"event {odd[0][0]}, part {odd[0][1]}",
            where="utmost_parts",
        )


def _check_responses(key: Key, page: Page, state: State, release: Published) -> int:
    """Digests, seals and lengths of all responses of a release; how many cells they have."""
    cells = 0
    for level, response in release.responses.items():
        seal = level_seal(key, state.identity, release, level, response.seal, is_sealed=state.is_sealed)
        cells += sum(block.size for block in stored_blocks(page.rows, release, level, seal))
    return cells


def response_plan(promise: Promise, level: Level, confidence: Number = "0.95") -> Plan:
    """The plan by which a response at this level was drawn, whatever other levels were answered.

    Args:
        promise: of the release, as the ledger has it.
        level: of the response.
        confidence: of the error bar.

    >>> from utmost.exact import level
    >>> from utmost.ledger.promise import promised
    >>> promise = promised(sensitivity=1, cells=2)
    >>> response_plan(promise, level(1)).law, response_plan(promise, level(1)).radius
    (Geometric(epsilon='1/2', sensitivity=1), 6)
    """
    sure = read_confidence(confidence)
    unit, steps = promise.unit, promise.lattice.sensitivity
    here = unit.per_cell(level)
    drawn: IntegerLaw = DiscreteStaircase.half_step(here, steps) if promise.half_step else Geometric(here, steps)
    law: Law = drawn if promise.grid is None or promise.half_step else Laplace(here, Fraction(unit.sensitivity))
    return Plan(level, unit, law, drawn, absolute, True, sure, promise.radius(level, sure), promise.grid)
