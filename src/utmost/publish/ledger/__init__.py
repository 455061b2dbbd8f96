"""The ledger: releases kept for years, relaxed at any time, and nothing said twice."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.publish.ledger.events import Event as Event
    from utmost.publish.ledger.kept_mechanisms import KeptMechanism as KeptMechanism
    from utmost.publish.ledger.ledger import Ledger as Ledger
    from utmost.publish.ledger.opening import read_sealed as read_sealed
    from utmost.publish.ledger.process_release import rehearse as rehearse
    from utmost.publish.ledger.process_release import release as release
    from utmost.publish.ledger.remembered_release import Release as Release
    from utmost.publish.ledger.response_folder import ResponseFolder as ResponseFolder
    from utmost.publish.ledger.response_folder import check_responses as check_responses
    from utmost.publish.ledger.spending import Budget as Budget
    from utmost.publish.ledger.state import Published as Published
    from utmost.publish.ledger.verification import Status as Status
    from utmost.publish.ledger.verification import Verification as Verification
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
