"""Report the status of a ledger, make receipts, verify the ledger by recomputing all checks, and end a quarantine."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.exact.written_levels import level_from_text, level_text
from utmost.errors import KeyRefused, LedgerDamaged, OutOfRange, Quarantined
from utmost.publish.ledger.block_encryption import level_seal
from utmost.publish.ledger.budgets import check_known, check_names_differ, check_no_release
from utmost.publish.ledger.event_log import EventLog, Transaction
from utmost.publish.ledger.events import START, Event, check_chain, check_seal, read_event
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.labels import label_seal, opened_label_seal
from utmost.publish.ledger.names import check_name
from utmost.publish.ledger.personal_answers import checked_answers
from utmost.publish.ledger.responses import labels_of, stored_blocks
from utmost.publish.ledger.spending import Budget, Spending
from utmost.publish.ledger.state import Published, State, folded
from utmost.publish.ledger.store import STORE_VERSION
from utmost.publish.promises.level_steps import Step


@dataclass(frozen=True, slots=True, repr=False)
class Status(Display):
    """The condition of a ledger: its size, its budgets, and the reason for a quarantine.

    Attributes:
        place: Address of the ledger.
        identity: Random name of the ledger, which its copies share.
        events, releases: Number of events, and of releases.
        datasets: Budget of each dataset.
        quarantine: Reason for refusing new answers; None if they are allowed.
        sealed, derived: Whether responses are encrypted, and whether noise is derived from the key.
    """

    place: str
    identity: str
    events: int
    releases: int
    datasets: tuple[Budget, ...]
    quarantine: str | None
    sealed: bool
    derived: bool


def status_of(place: str, state: State, quarantine: str | None) -> Status:
    return Status(
        place=place,
        identity=state.identity,
        events=state.number,
        releases=len(state.releases),
        datasets=tuple(Budget(name, state.limits.get(name), state.spending(name)) for name in state.datasets),
        quarantine=quarantine,
        sealed=state.is_sealed,
        derived=state.is_derived,
    )


@dataclass(frozen=True, slots=True, repr=False)
class Verification(Display):
    """The result of a verification that found no damage.

    Attributes:
        events: Number of events of the chain.
        responses: Number of stored responses.
        cells: Number of cells of all stored responses.
        spent: Sum of the levels that each dataset has spent.
        answers: Number of stored answers of single persons.
    """

    events: int
    responses: int
    cells: int
    spent: Mapping[str, Spending]
    answers: int = 0


def verify_events(key: Key, transaction: Transaction) -> Verification:
    """Recompute the chain, the digest and length of every response, the order of levels, and the budgets."""
    rows = transaction.rows
    if rows.version() != STORE_VERSION:
        raise LedgerDamaged(
            f"the tables of the ledger must have version {STORE_VERSION}", came=rows.version(), where="utmost_schema"
        )
    chain = rows.events()
    last = check_chain(key, 0, START, chain)
    check_seal(key, rows.head(), len(chain), last)
    state, events = State(0, START), []
    # Events are checked one by one: whether a level was allowed depends on the state at that time.
    for number, body, mac in chain:
        event = read_event(number, body)
        events.append(event)
        if event.kind in ("published", "answered"):
            release = state.releases.get((event.facts["name"], event.facts["version"]))
            step = Step.from_known(() if release is None else release.responses, level_from_text(event.facts["level"]))
            if step.how != event.facts["how"]:
                raise LedgerDamaged(
                    f"the stored kind of this answer must be {step.how!r}, given the levels answered before it",
                    came="another kind",
                    where=f"event {number}",
                )
        state = folded(state, [(event, mac)])
        _check_limits(state, event)
    named = [(event.number, part) for event in events for part in range(event.facts.get("parts", 0))]
    stored = list(rows.parts())
    if stored != named:
        odd = sorted(set(stored) ^ set(named))
        raise LedgerDamaged(
            "the store must contain exactly the parts that the events name",
            came=f"event {odd[0][0]}, part {odd[0][1]}",
            where="utmost_parts",
        )
    cells = sum(_check_responses(key, transaction, state, release) for release in state.releases.values())
    responses = sum(len(release.responses) for release in state.releases.values())
    spent = {d: state.spending(d) for d in state.datasets}
    return Verification(len(chain), responses, cells, spent, checked_answers(key, rows, state))


def verify_with_witness(log: EventLog) -> Verification:
    """Check the database's files and the chain of the witness, then everything that `verify_events` checks."""
    problems = log.store.problems()
    if problems:
        raise LedgerDamaged("the database must pass its own integrity check", came=problems[0], where=log.store.place)
    log.check_witness()
    return log.read(lambda transaction: verify_events(transaction.key, transaction))


def history(transaction: Transaction, name: str | None, dataset: str | None) -> tuple[Event, ...]:
    """Return the events, oldest first: all of them, or those of one release or one dataset."""
    state = transaction.state
    if dataset is not None:
        check_known(state, dataset)
    if name is not None and (name, 1) not in state.mechanisms:
        state.release(name, None)  # raises for an unknown name
    if name is not None and (name, 1) in state.releases:
        # Only the events of this release are read, and each is verified by its MAC, so that the running time does not
        # depend on other releases.
        releases = [state.releases[name, version] for version in range(1, state.newest(name) + 1)]
        numbers = sorted(response.event for release in releases for response in release.responses.values())
        events = []
        for number in numbers:
            row, before = transaction.rows.event(number), transaction.rows.mac(number - 1) or START
            check_chain(transaction.key, number - 1, before, [] if row is None else [row])
            if row is None:
                raise LedgerDamaged("the store must contain every event", came="no event", where=f"event {number}")
            events.append(read_event(number, row[1]))
    else:
        rows = transaction.rows.events()
        check_chain(transaction.key, 0, START, rows)
        events = [read_event(number, body) for number, body, _ in rows]
    return tuple(event for event in events if _concerns(event, name, dataset, state))


def _concerns(event: Event, name: str | None, dataset: str | None, state: State) -> bool:
    """Whether an event is about the release ``name`` and the dataset ``dataset``; None stands for any."""
    facts = event.facts
    if name is not None and facts.get("name") != name:
        return False
    if dataset is None:
        return True
    if "name" in facts:
        item = facts["name"], facts["version"]
        return (state.releases.get(item) or state.mechanisms[item]).dataset == dataset
    return facts.get("dataset") == dataset or dataset in facts.get("missing", {})


def _check_limits(state: State, event: Event) -> None:
    """Check that an event did not exceed the limit that its dataset had at that time."""
    if event.kind not in ("published", "answered", "offered", "charged"):
        return
    if event.kind == "charged":
        dataset = event.facts["dataset"]
    else:
        item = event.facts["name"], event.facts["version"]
        dataset = (state.releases.get(item) or state.mechanisms[item]).dataset
    limit, spends = state.limits.get(dataset), event.facts.get("how", "fresh") in ("fresh", "relax")
    if limit is not None and state.spending(dataset).exceeds(limit) and spends:
        raise LedgerDamaged(
            "the releases of a dataset must not exceed its budget",
            came=f"dataset {dataset!r}",
            where=f"event {event.number}",
        )


def _check_responses(key: Key, transaction: Transaction, state: State, release: Published) -> int:
    """Check digests, encryption and lengths of all responses of a release; return the number of their cells."""
    if release.items is not None and not release.items.is_stored:
        return 0
    labels = label_seal(key, state.identity, release)
    labels_of(transaction.rows, release, labels)
    cells = 0
    for at, response in release.responses.items():
        seal = level_seal(key, state, release, at)
        cells += sum(block.size for block in stored_blocks(transaction.rows, release, at, seal))
        if opened_label_seal(seal, response.event, response.label_key) != labels:
            where = f"event {response.event}"
            raise LedgerDamaged(
                "the key of each level must decrypt the labels", came="a key that does not decrypt them", where=where
            )
    return cells


_MEND_MISSING = (
    "Pass missing={dataset: epsilon}, or {} if it is certain that nothing was lost; on the command line "
    "--missing DATASET=EPSILON, or --nothing-missing."
)


def receipt(key: Key, state: State) -> str:
    """Return a line with the ledger's identity, the number and MAC of its last event, and a MAC of this text."""
    text = f"utmost-receipt:{state.identity}:{state.number}:{state.mac.hex()}"
    return f"{text}:{_signed(key, text)}"


def is_newer_receipt(line: str, than: str) -> bool:
    """Check whether a receipt is about more events than another one of the same ledger; both are unchanged."""
    (_, identity, number, *_), (_, other, earlier, *_) = line.split(":"), than.split(":")
    return identity == other and int(number) > int(earlier)


def check_receipt(log: EventLog, line: str) -> None:
    """Check that a ledger has, or was charged for, the events of a receipt; if not, begin a quarantine."""
    text, _, signed = line.strip().rpartition(":") if isinstance(line, str) and line.isascii() else ("", "", "")
    # The comparison takes constant time: a caller who tries receipts must not find a mac byte by byte.
    if not hmac.compare_digest(signed.encode(), _signed(log.key, text).encode()):
        raise KeyRefused(
            "the receipt must be one of this ledger, and unchanged",
            where="receipt",
            remedy="Pass the whole line that receipt printed.",
        )
    _, identity, number, mac = text.split(":")

    def work(transaction: Transaction) -> bool:
        if transaction.state.identity != identity:  # the receipt of another ledger with the same key
            raise KeyRefused(
                "the receipt must be one of this ledger", came="a receipt of another ledger", where="receipt"
            )
        # The ledger still has all events of the receipt if its event of that number has the same MAC, which chains
        # them.
        if transaction.rows.mac(int(number)) == bytes.fromhex(mac):
            return True
        # The witness knew the event when a quarantine ended: all that was lost up to it is charged.
        rows = transaction.rows.events()
        check_chain(log.key, 0, START, rows)
        if any(mac in read_event(one, body).facts.get("lost", ()) for one, body, _ in rows):
            return True
        if transaction.state.quarantine is None:
            transaction.append("quarantined", {"reason": f"a receipt is about {number} events that it does not hold"})
        return False

    if not log.write(work, quarantined=True):
        raise Quarantined(
            "the ledger must still contain all events that the receipt covers",
            came="an earlier or another state",
            where="receipt",
        )


def end_quarantine(
    log: EventLog, reason: str, missing: Mapping[str, Number | Level] | None
) -> dict[str, tuple[Level, ...]]:
    """Write the event that ends a quarantine, and return the levels that it charges; the witness gets a new history."""
    check_name(reason, "reason")
    if missing is not None and not isinstance(missing, Mapping):
        raise wrong_kind("missing", "a mapping of datasets to levels", missing)
    levels_missing = {check_name(dataset, "dataset"): level(epsilon) for dataset, epsilon in (missing or {}).items()}

    def work(transaction: Transaction) -> dict[str, tuple[Level, ...]]:
        if transaction.reason is None:
            raise OutOfRange(
                "resume needs a ledger in quarantine",
                came="a ledger that is not in quarantine",
                where="resume",
                remedy="Do not resume it; to charge more, use ledger.charge, or utmost ledger charge.",
            )
        for dataset in levels_missing:
            check_names_differ(transaction.state, dataset)
            check_no_release(transaction.state, dataset)
        known = log.loss(transaction)
        if known is None and missing is None:
            raise OutOfRange(
                "without a witness, missing= must give the lost levels",
                came="no witness",
                where="resume",
                remedy=_MEND_MISSING,
            )
        # Limits that the rollback has lost are restored before anything else is charged.
        for dataset, limit in ({} if known is None else known.limits).items():
            transaction.append("budgeted", {"dataset": dataset, "limit": level_text(limit)})
        lost = {} if known is None else {dataset: list(levels) for dataset, levels in known.missing.items()}
        for dataset, spent in levels_missing.items():
            lost.setdefault(dataset, []).append(spent)
        state = transaction.state
        # If the witness was lost, every release may have lost an answer, and is never relaxed again.
        closed = [*state.releases, *state.mechanisms] if known is None else list(known.closed)
        # A ledger with derived noise repeats lost answers exactly, so that its releases may be relaxed; noise keyed by
        # identifier repeats only if levels are requested in the same order.
        if state.is_derived:
            closed = [item for item in closed if item in state.mechanisms or state.releases[item].items is not None]
        texts = {dataset: [level_text(spent) for spent in levels] for dataset, levels in lost.items()}
        facts = {"reason": reason, "missing": texts, "closed": [list(item) for item in closed]}
        transaction.append("resumed", facts | {"lost": [] if known is None else list(known.events)})
        return {dataset: tuple(map(level_from_text, levels)) for dataset, levels in texts.items() if levels}

    return log.write(work, quarantined=True, replace_witness=True)


def _signed(key: Key, text: str) -> str:
    return hmac.digest(key.derived("receipt"), text.encode(), sha256).hex()
