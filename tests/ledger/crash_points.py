"""Places inside one call of a ledger where a process dies, a disk is full, or a check is skipped. Each function plants
one such fault by ``monkeypatch``."""

import sqlite3

from utmost.errors import LedgerUnavailable

# The store, the log and the witness break off between two of their own steps, which no public call reaches.
from utmost.publish.ledger import opening, publishing, relaxing, sqlite_store
from utmost.publish.ledger import witness as witness_file
from utmost.publish.ledger.event_log import EventLog, Transaction
from utmost.publish.ledger.postgres_store import PostgresStore
from utmost.publish.ledger.sqlite_store import SqliteStore
from utmost.publish.ledger.store import Rows
from utmost.publish.ledger.witness import Witness
from utmost.publish.promises import response_noise


def the_store_cannot_write(patch):
    """The witness holds the draw, but the store has no room for it; return the list of what the store should write."""
    tried = []

    def failing(self, events, seal, parts):
        tried.append((events, parts))
        raise LedgerUnavailable("the disk must have room")

    patch.setattr(Rows, "write", failing)
    return tried


def the_process_dies_before_the_witness_is_told(patch):
    """The process dies after the commit, before the witness settles."""

    def died(self, rows):
        raise OSError("died")

    patch.setattr(Witness, "settle", died)


def the_process_is_interrupted_before_it_writes(patch):
    """The process is interrupted between the draw and the write to the store."""

    def interrupted(page):
        if page.appended:
            raise KeyboardInterrupt

    patch.setattr(Transaction, "write_down", interrupted)


def the_witness_has_no_room(patch):
    def full(*_):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = 13
        raise error

    patch.setattr(witness_file, "_write", full)


def nothing_may_be_drawn(patch):
    """Make every draw an error."""
    patch.setattr(publishing.Draft, "draw", None)
    patch.setattr(relaxing, "draw_relaxation", None)


def a_draw_fails(patch, number):
    """Make the draw with this number, counted from 1, run out of memory."""
    draw, calls = publishing.Draft.draw, []

    def failing(*words):
        calls.append(words)
        if len(calls) == number:
            raise MemoryError("cut off")
        return draw(*words)

    patch.setattr(publishing.Draft, "draw", failing)


def nothing_may_be_written(patch):
    """Make every call that takes the writers' lock an error."""
    patch.setattr(EventLog, "write", None)


def a_look_before_it_writes(patch, look):
    """Call ``look`` with the number of events that one transaction is about to write."""
    write_down = Transaction.write_down

    def watched(page):
        look(len(page.appended))
        write_down(page)

    patch.setattr(Transaction, "write_down", watched)


def a_look_around_every_write(patch, look):
    """Call ``look`` before and after each step that writes a file of the ledger, the witness or a journal."""

    def noted(real):
        def call(*arguments):
            look()
            made = real(*arguments)
            look()
            return made

        return call

    for owner, name in ((Rows, "write"), (Rows, "head"), (Witness, "settle"), (sqlite_store, "_schema")):
        patch.setattr(owner, name, noted(getattr(owner, name)))
    patch.setattr(witness_file, "_write", noted(witness_file._write))


def a_call_while_a_backup_is_copied(patch, call):
    """Call a function once, after a backup was copied and before it gets its name."""
    real, made = opening.copy_rows, []

    def copied(source, to):
        real(source, to)
        if not made:
            made.append(1)
            call()

    patch.setattr(opening, "copy_rows", copied)


def nobody_looks_at_the_tables(patch):
    """Switch off the check that finds triggers and rules that others put into the store."""
    patch.setattr(sqlite_store, "_schema_differences", lambda connection: [])
    patch.setattr(PostgresStore, "_checked", lambda self, rows: rows)


def a_budget_is_passed_over(patch):
    patch.setattr(publishing, "check_budgets", lambda state, spends: None)


def an_answer_claims_another_distribution(patch):
    """Make the next answers claim that they were tightened."""
    real = Transaction.append

    def as_a_view(page, kind, facts, parts):
        real(page, kind, facts | {"how": "tighten"}, parts)

    patch.setattr(Transaction, "append", as_a_view)


def the_draws_of_a_key_drift(patch):
    """From here on a key gives other noise, as a faulty later version of the library might."""
    real = response_noise.KeyedRandomness
    patch.setattr(response_noise, "KeyedRandomness", lambda key: real(key[::-1]))


def transactions(patch):
    """Return a list that gets "read" or "write" for each transaction of a store in a file."""
    made, real = [], SqliteStore.transact

    def transact(self, work, *, write):
        made.append("write" if write else "read")
        return real(self, work, write=write)

    patch.setattr(SqliteStore, "transact", transact)
    return made


def pending(witness):
    """The number of draws that a witness file holds as pending."""
    return len(Witness(witness, 5.0).record().pending)


def last_event(witness):
    """The number of the last event of a witness file."""
    return Witness(witness, 5.0).record().last[0]
