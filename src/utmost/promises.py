"""Promises: all that is decided before anybody looks at the data, and the kinds of noise that keep them."""

from utmost.publish.promises.noise_of_keys import key_noise
from utmost.publish.promises.noise_of_universe import named_cell_noise
from utmost.publish.promises.noise_together import once_together, together_noise
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Noise

__all__ = ["Noise", "Promise", "key_noise", "named_cell_noise", "once_together", "together_noise"]


def __dir__() -> list[str]:
    return __all__
