"""Plot the least loss as a curve over levels, with proved bounds between the levels."""

from pathlib import Path
from typing import BinaryIO

import numpy as np

from utmost.design.optima.loss_curves import LossCurve
from utmost.interfaces.figures.canvas import BLUE, PALE, bare, check_format, page, write


def loss_figure(curve: LossCurve, file: BinaryIO, path: Path, *, unit: str | None = None, loss: str = "loss") -> None:
    """Plot the loss at each level, and pale areas that bound the loss between the levels."""
    check_format(path)
    levels = np.array([level.epsilon_float for level in curve.levels])
    upper, lower = (np.array([float(value) for value in side]) for side in (curve.losses, curve.lower))
    figure, axes = page(6.4, 4.0)
    for step in range(len(levels) - 1):
        axes.fill_between(levels[step : step + 2], lower[step + 1], upper[step], color=PALE, alpha=0.5, linewidth=0)
    axes.plot(levels, upper, "o-", color=BLUE, linewidth=1.6, markersize=4)
    axes.set(xlabel="epsilon" + (f" per {unit}" if unit else ""), ylabel=f"expected {loss}", ylim=(0, None))
    axes.grid(alpha=0.25)
    bare(axes)
    write(figure, file, path.suffix[1:].lower())
