"""Seeded randomness and strategies for tests; nothing here may touch a real release."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.doors.testing.seeded import SeededRandomness as SeededRandomness
    from utmost.doors.testing.seeded import seeded_draw as seeded_draw
    from utmost.doors.testing.seeded import seeded_gradual_release as seeded_gradual_release
    from utmost.doors.testing.seeded import seeded_ledger as seeded_ledger
    from utmost.doors.testing.seeded import seeded_planar_release as seeded_planar_release
    from utmost.doors.testing.seeded import seeded_release as seeded_release
    from utmost.doors.testing.seeded import seeded_responses as seeded_responses
    from utmost.doors.testing.seeded import seeded_workload_release as seeded_workload_release
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
