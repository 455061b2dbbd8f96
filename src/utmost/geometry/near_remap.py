"""Refinement of float64 channels, up to a tolerance: a remap that is near enough, or a joint loss that rules it out."""

from collections.abc import Callable

import numpy as np

from utmost.errors import SolverFailed
from utmost.exact import Array, to_floats
from utmost.geometry.clues import clues
from utmost.geometry.merging import MergedPair
from utmost.geometry.remap_program import nearest_remap_exactly
from utmost.geometry.witnesses import as_rationals

Check = Callable[[Array], bool]


def near_remap(pair: MergedPair, is_near: Check, is_told: Check) -> Array | None:
    """A row-stochastic P that is near enough; None once a loss has been told that rules all of them out.

    Args:
        pair: float64 channels.
        is_near: whether a remap (m', k') of the merged pair is near enough.
        is_told: is shown losses until one is accepted.

    Raises:
        SolverFailed: where the nearest remap is as far off as the tolerance, within the rounding of floats.
    """
    for clue in clues(*pair.near):
        if clue.loss is not None and is_told(clue.loss):
            return None
        if clue.remap is not None:
            remap = _stochastic(clue.remap)
            if is_near(remap):
                return remap
    found = nearest_remap_exactly(as_rationals(pair.coarse), as_rationals(pair.fine))
    remap = _stochastic(to_floats(found.remap))
    if is_near(remap):
        return remap
    if is_told(found.loss):
        return None
    raise SolverFailed(
        "a refinement of floats must be decided by more than their rounding",
        came=f"a nearest remap {float(found.distance):.3g} off",
        mend="Give another tolerance, or rational channels.",
    )


def _stochastic(near: Array) -> Array:
    """Negative entries put to 0, rows summing to 1."""
    clipped = np.maximum(near, 0.0)
    return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))
