"""The ledger stores releases for years, so that each can be relaxed to a larger epsilon at any time."""

from utmost.publish.ledger.events import Event
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.opening import read_sealed
from utmost.publish.ledger.releasing import release
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest
from utmost.publish.ledger.response_folder import ResponseFolder, check_responses
from utmost.publish.ledger.shared_measures import shared_requests
from utmost.publish.ledger.spending import Budget
from utmost.publish.ledger.state import Published
from utmost.publish.ledger.stored_mechanisms import StoredMechanism
from utmost.publish.ledger.verification import Status, Verification
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.release import Release

__all__ = [
    "Answer",
    "AnswerRequest",
    "Budget",
    "Event",
    "Ledger",
    "PublishRequest",
    "Published",
    "Release",
    "ResponseFolder",
    "Status",
    "StoredMechanism",
    "Verification",
    "check_responses",
    "read_sealed",
    "release",
    "shared_requests",
]


def __dir__() -> list[str]:
    return __all__
