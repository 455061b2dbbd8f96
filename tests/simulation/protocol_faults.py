"""Faults planted in the protocol, each of which a history must find; the first line of each says what goes wrong."""

from contextlib import contextmanager
from dataclasses import replace

# Each fault is planted where it stands.
from utmost.core.sampling import draw, integers, random_bits
from utmost.interfaces.service import approvals, proposals
from utmost.ledger import Published
from utmost.noise import Geometric
from utmost.publish.ledger import block_encryption as vault
from utmost.publish.ledger import event_log, publishing, relaxing, responses, sqlite_store, state, verification, witness
from utmost.publish.ledger.event_log import EventLog
from utmost.publish.ledger.personal_answers import ResponseRequest
from utmost.publish.ledger.sqlite_store import SqliteStore
from utmost.publish.ledger.witness import Witness, WitnessRecord
from utmost.publish.promises.response_noise import DrawnNoise


def answered_before_the_commit(plant):
    """The event is drawn and returned, and its transaction rolled back."""
    real = SqliteStore.transact

    def transact(self, work, *, write):
        if not write:
            return real(self, work, write=write)
        made = []

        def lost(rows):
            made.append(work(rows))
            if made and isinstance(made[0], tuple) and made[0][1]:
                raise KeyboardInterrupt
            return made[0]

        try:
            return real(self, lost, write=True)
        except KeyboardInterrupt:
            return made[0]

    plant.setattr(SqliteStore, "transact", transact)


def the_tail_not_read_again(plant):
    """A process goes by the events that it read first."""
    real = EventLog._present_state
    plant.setattr(
        EventLog, "_present_state", lambda self, rows: self._seen if self._seen.number > 1 else real(self, rows)
    )


def the_witness_not_asked(plant):
    """Nothing is compared with the witness, and nothing put down in it."""
    plant.setattr(Witness, "intend", lambda self, after, rows, parts: None)
    plant.setattr(Witness, "settle", lambda self, rows: None)
    plant.setattr(Witness, "record", lambda self: WitnessRecord(None, ()))
    plant.setattr(EventLog, "check_writable", lambda self, page: None)
    plant.setattr(EventLog, "_difference", staticmethod(lambda page, held: None))


def a_person_drawn_twice(plant):
    """Whoever asks again about a person gets another draw."""
    plant.setattr(ResponseRequest, "_found", lambda self, page, mechanism: {})


def a_level_drawn_twice(plant):
    """Whoever views a level again gets another draw."""
    plant.setattr(Published, "check_kept", lambda self: None)
    real = relaxing.view_release

    def view_again(page, request, *rest, **options):
        release = page.state.release(request.name, request.version)
        others = {at: response for at, response in release.responses.items() if at != request.level}
        if others:
            forgotten = {(release.name, release.version): replace(release, responses=others)}
            page.state = replace(page.state, releases={**page.state.releases, **forgotten})
        return real(page, request, *rest, **options)

    plant.setattr("utmost.publish.ledger.ledger.view_release", view_again)
    plant.setattr(
        state,
        "_answered",
        lambda release, facts, number: replace(
            release,
            responses={
                **release.responses,
                state.level_from_text(facts["level"]): state._response(facts, number, 0),
            },
        ),
    )


def nothing_forced_to_the_disk(plant):
    """Syncs are left out."""
    plant.setattr(sqlite_store, "_WRITER", ("journal_mode=DELETE", "synchronous=OFF"))


def the_folder_not_forced_to_the_disk(plant):
    """The deletion of the journal, by which SQLite commits, is not synced."""
    plant.setattr(sqlite_store, "_WRITER", ("journal_mode=DELETE", "synchronous=FULL"))


def spent_by_the_last_request(plant):
    """What a release costs is the level asked for last, and not the largest."""
    plant.setattr(Published, "spent", property(lambda self: self.path[-1]))


def labels_swapped(plant):
    """A view shows the rows under each other's labels."""
    real = relaxing.labels_by_ledger_key

    def swapped(page, release):
        order, columns = real(page, release)
        return order, {name: column[::-1] for name, column in columns.items()}

    plant.setattr(relaxing, "labels_by_ledger_key", swapped)


def the_lock_let_go(plant):
    """A writer lets the lock go as soon as it has it."""
    real = sqlite_store.transaction

    @contextmanager
    def let_go(path, timeout, *, write):
        with real(path, timeout, write=write) as connection:
            if write:
                connection.execute("COMMIT")
                connection.execute("BEGIN")
            yield connection

    plant.setattr(sqlite_store, "transaction", let_go)


def requests_not_known_again(plant):
    """The name of a request means nothing: sent again, it is about the newest version."""
    real = publishing.requested_version
    plant.setattr(publishing, "requested_version", lambda known, asked: real(replace(known, requests={}), asked))


def a_torn_end_accepted(plant):
    """Neither chain nor seal nor digests are compared."""
    for module in (event_log, verification):
        plant.setattr(module, "check_chain", lambda key, number, before, rows: rows[-1][2] if rows else before)
        plant.setattr(module, "check_seal", lambda key, head, number, mac: None)
    for module in (responses, verification):
        plant.setattr(
            module,
            "checked_parts",
            lambda rows, event, count, root: (rows.part(event, k) for k in range(count)),
            raising=False,
        )


def an_old_store_accepted(plant):
    """A ledger that is behind its witness is taken for the present one."""
    plant.setattr(EventLog, "_difference", staticmethod(lambda page, held: None))


def forks_share_bits(plant):
    """A forked child goes on with its parent's stream."""

    def stream(self):
        if self._thread.state is None:
            seed = random_bits.entropy(random_bits.KEY_BYTES + random_bits.NONCE_BYTES)
            self._thread.state = random_bits.Keystream(seed[: random_bits.KEY_BYTES], seed[random_bits.KEY_BYTES :])
        return self._thread.state

    plant.setattr(random_bits.SystemRandomness, "_stream", stream)


def nonces_by_count(plant):
    """A nonce is a number that each process counts from the beginning."""
    plant.setattr(vault, "entropy", lambda count: bytes(count))


def what_was_drawn_dropped(plant):
    """What a process drew that died before its commit is drawn again by the next, though the store may have seen it."""
    real = Witness.record

    def held(self):
        found = real(self)
        if found.pending:
            with self._writing() as connection:
                for table in ("utmost_pending", "utmost_pending_parts"):
                    connection.execute(f"DELETE FROM {table}")
        return WitnessRecord(found.last, ())

    plant.setattr(Witness, "record", held)


def settled_too_early(plant):
    """The witness takes for settled what the store has not committed."""
    real = Witness.intend

    def intend(self, after, rows, parts):
        real(self, after, rows, parts)
        self.settle(rows)

    plant.setattr(Witness, "intend", intend)


def budgets_not_counted(plant):
    """No limit holds."""
    for module in (publishing, relaxing):
        plant.setattr(module, "check_budgets", lambda *_: None)


def stored_answers_mixed_up(plant):
    """A level that is stored is read from its neighbour."""
    real = responses.stored_response
    for module in (publishing, relaxing):
        plant.setattr(
            module,
            "stored_response",
            lambda page, release, level: real(page, release, max(release.levels)),
        )


def a_rollback_costs_nothing(plant):
    """What a rollback has lost is not charged."""
    real = witness.rollback_loss
    plant.setattr(event_log, "rollback_loss", lambda *states: replace(real(*states), missing={}))


def published_without_approval(plant):
    """Nobody looks whether a proposal was approved."""
    plant.setattr(proposals, "check_approved", lambda *_: None)


def approved_by_its_proposer(plant):
    """A proposer may decide."""
    plant.setattr(approvals.Proposal, "is_of", lambda self, token: False)


def fresh_noise_on_relax(plant):
    """The noise at a higher level is drawn anew."""

    def at_highest(self, column, block, count, below):
        distribution = Geometric(self.lattice.of(self.step.to))
        return integers.joined(draw.draws(distribution, count, randomness=self.randomness, method=self.method), count)

    plant.setattr(DrawnNoise, "at_highest", at_highest)


FAULTS = {
    answered_before_the_commit: 0, the_tail_not_read_again: 3, the_witness_not_asked: 0, a_person_drawn_twice: 3,
    a_level_drawn_twice: 38, nothing_forced_to_the_disk: 11, the_folder_not_forced_to_the_disk: 11,
    spent_by_the_last_request: 5, labels_swapped: 3, the_lock_let_go: 0, requests_not_known_again: 7,
    a_torn_end_accepted: 37, an_old_store_accepted: 37, forks_share_bits: 35, nonces_by_count: 0,
    what_was_drawn_dropped: 37, settled_too_early: 28, budgets_not_counted: 3, stored_answers_mixed_up: 23,
    a_rollback_costs_nothing: 22, published_without_approval: 14, approved_by_its_proposer: 41, fresh_noise_on_relax: 0,
}  # fmt: skip
"""Fault to the number of the first history that is tried: those before would find it, if at all, no sooner."""
