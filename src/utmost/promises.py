"""Promises (everything that is decided before anybody looks at the data) and the kinds of noise in them."""

from utmost.publish.promises.cell_noise import CellNoise
from utmost.publish.promises.distribution_noise import DistributionNoise
from utmost.publish.promises.noise_of_keys import key_noise
from utmost.publish.promises.noise_of_universe import selected_cell_noise
from utmost.publish.promises.noise_together import once_together, together_noise
from utmost.publish.promises.one_draw_noise import OneDraw, OneWayDraw
from utmost.publish.promises.point_noise import PointNoise
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.sum_noise import SumNoise
from utmost.publish.promises.until import Stop, Until, within

__all__ = [
    "CellNoise",
    "DistributionNoise",
    "Noise",
    "OneDraw",
    "OneWayDraw",
    "PointNoise",
    "Promise",
    "Stop",
    "SumNoise",
    "Until",
    "key_noise",
    "once_together",
    "selected_cell_noise",
    "together_noise",
    "within",
]


def __dir__() -> list[str]:
    return __all__
