"""Verifying a ledger: everything that can be recomputed is."""

from collections.abc import Mapping
from dataclasses import dataclass

from utmost.errors import LedgerDamaged
from utmost.release.gradual.chain import Step
from utmost.release.ledger.book import Page
from utmost.release.ledger.chain import START, check_chain, check_seal
from utmost.release.ledger.event import Event, read_event
from utmost.release.ledger.key import Key
from utmost.release.ledger.responses import stored_blocks
from utmost.release.ledger.schema import missing_steps
from utmost.release.ledger.spending import Spending
from utmost.release.ledger.state import Published, State, folded
from utmost.release.ledger.vault import level_seal
from utmost.release.statement import level_of_text


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
