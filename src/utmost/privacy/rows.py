"""Telling two finite distributions apart: the lemma of Neyman and Pearson, outcome by outcome."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from utmost.errors import NotAChannel
from utmost.exact import Interval, Level

Floats = NDArray[np.float64]
