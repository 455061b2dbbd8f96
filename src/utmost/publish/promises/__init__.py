"""Promises: all that is decided before anybody looks at the data, and the kinds of noise that keep them."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.publish.promises.noise_of_keys import key_noise as key_noise
    from utmost.publish.promises.noise_of_universe import named_cell_noise as named_cell_noise
    from utmost.publish.promises.noise_together import together_noise as together_noise
    from utmost.publish.promises.promise import Promise as Promise
    from utmost.publish.promises.promised_noise import Noise as Noise
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
