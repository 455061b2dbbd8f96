"""The ledger: releases kept for years, relaxed at any time, and nothing said twice."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.publish.ledger.events import Event
    from utmost.publish.ledger.kept_mechanisms import KeptMechanism
    from utmost.publish.ledger.ledger import Ledger
    from utmost.publish.ledger.opening import read_sealed
    from utmost.publish.ledger.process_release import rehearse, release
    from utmost.publish.ledger.remembered_release import Release
    from utmost.publish.ledger.response_folder import ResponseFolder, check_responses
    from utmost.publish.ledger.spending import Budget
    from utmost.publish.ledger.state import Published
    from utmost.publish.ledger.store import Store
    from utmost.publish.ledger.verification import Status, Verification
    from utmost.publish.promises.cell_noise import CellNoise
    from utmost.publish.promises.noise_of_keys import KeyNoise, key_noise
    from utmost.publish.promises.noise_of_universe import NamedCellNoise, named_cell_noise
    from utmost.publish.promises.noise_together import TogetherNoise, together_noise
    from utmost.publish.promises.promise import Promise
    from utmost.publish.promises.promised_noise import Answering, Noise
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "Answering",
    "Budget",
    "CellNoise",
    "Event",
    "KeptMechanism",
    "KeyNoise",
    "Ledger",
    "NamedCellNoise",
    "Noise",
    "Promise",
    "Published",
    "Release",
    "ResponseFolder",
    "Status",
    "Store",
    "TogetherNoise",
    "Verification",
    "check_responses",
    "key_noise",
    "named_cell_noise",
    "read_sealed",
    "rehearse",
    "release",
    "together_noise",
]
