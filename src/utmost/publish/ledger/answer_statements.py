"""What is said of a ledger's answer that is a table: the statement of its level, and error bars of any confidence."""

from utmost.core.exact.levels import Level
from utmost.publish.ledger.spending import Spending
from utmost.publish.ledger.state import Published, State
from utmost.publish.promises.ledger_facts import LedgerFacts


def ledger_facts(state: State, release: Published, at: Level) -> LedgerFacts:
    """What the ledger adds to the statement of an answer that is there.

    It goes by the event of the answer, so that whoever asks again later is told the same, whatever came after it.
    """
    event = release.responses[at].event
    levels = tuple(level for level in release.levels if release.responses[level].event <= event)
    versions = (state.release(release.name, version) for version in state.versions(release.name))
    spent = (version.spent_by(event) for version in versions)
    together = Spending.of(level for level in spent if level is not None).level
    return LedgerFacts(release.name, release.version, levels, together)
