"""Promises: all that is decided before anybody looks at the data, and the kinds of noise that keep them."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.publish.promises.cell_noise import CellNoise
    from utmost.publish.promises.drawing import Answering
    from utmost.publish.promises.noise_of_keys import KeyNoise, key_noise
    from utmost.publish.promises.noise_of_universe import NamedCellNoise, named_cell_noise
    from utmost.publish.promises.noise_together import TogetherNoise, together_noise
    from utmost.publish.promises.point_noise import PointNoise
    from utmost.publish.promises.promise import Promise
    from utmost.publish.promises.promised_noise import Noise
    from utmost.publish.promises.sum_noise import SumNoise
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "Answering",
    "CellNoise",
    "KeyNoise",
    "NamedCellNoise",
    "Noise",
    "PointNoise",
    "Promise",
    "SumNoise",
    "TogetherNoise",
    "key_noise",
    "named_cell_noise",
    "together_noise",
]
