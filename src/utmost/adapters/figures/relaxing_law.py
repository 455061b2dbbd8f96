"""Figure 3 of Koufogiannis et al.: the law of the looser noise, given the stricter one."""

from typing import Any, BinaryIO

import numpy as np

from utmost.adapters.figures.canvas import BLUE, GOLD, GREEN, INK, RED, bare, page, write
from utmost.exact import level
from utmost.noise.gradual import LaplaceRelaxing, Relaxing

_NAMES = ("across", "inward", "outward", "stay")
_COLOURS = {"across": GOLD, "inward": BLUE, "outward": GREEN, "stay": RED}


def relaxing_law(file: BinaryIO, kind: str, *, strict: str = "1", loose: str = "2", x: int = 1, z: int = 3) -> None:
    """The four pieces of Algorithm 1 for Laplace noise at x, and of its twin on the integers at z."""
    figure, (left, right) = page(9.2, 3.9, nrows=1, ncols=2)
    _laplace(left, LaplaceRelaxing(level(strict), level(loose)), x)
    _geometric(right, Relaxing(level(strict), level(loose)), z)
    write(figure, file, kind)


def _laplace(axes: Any, law: LaplaceRelaxing, x: float) -> None:
    pieces = law.pieces(float(x))
    for name, low, high in (("across", -2.0, 0.0), ("inward", 0.0, x), ("outward", x, x + 2.0)):
        ys = np.linspace(low, high, 200)
        density = law.density(ys, float(x))
        axes.fill_between(ys, density, color=_COLOURS[name], alpha=0.35, linewidth=0)
        axes.plot(ys, density, color=_COLOURS[name], linewidth=1.8)
    atom = float(pieces.stay)
    axes.plot([x, x], [0, atom], color=RED, linewidth=2.4)
    axes.plot([x], [atom], "o", color=RED, markersize=6)
    where = {
        "across": (-1.15, 0.14),
        "inward": (x / 2 + 0.12, 0.66),
        "outward": (x + 1.0, 0.07),
        "stay": (x + 0.1, 0.27),
    }
    for name in _NAMES:
        note = f"{name}\n{float(getattr(pieces, name)):.3f}"
        beside = "left" if name == "stay" else "center"
        axes.annotate(note, where[name], ha=beside, va="bottom", fontsize=8.5, color=INK)
    axes.set(xlim=(-2, x + 2), ylim=(0, 0.92), xlabel="looser noise $V_2$", ylabel="density, and one atom")
    axes.set_title(f"Laplace noise given $V_1$ = {x}, ε from {law.start.epsilon} to {law.to.epsilon}", fontsize=10)
    bare(axes)


def _geometric(axes: Any, law: Relaxing, z: int) -> None:
    ys = np.arange(-3, z + 5)
    pmf = np.asarray(law.pmf(ys, np.full(ys.shape, z)))
    stay = float(law.pieces(z).stay)
    colours = [_COLOURS["across" if y < 0 else "inward" if y < z else "outward"] for y in ys.tolist()]
    smooth = np.where(ys == z, pmf - stay, pmf)
    axes.bar(ys, smooth, width=0.72, color=colours, alpha=0.75)
    axes.bar([z], [stay], width=0.72, bottom=smooth[ys == z], color=RED)
    axes.set(xlabel="looser noise $V_2$", ylabel="probability", ylim=(0, 1.12 * float(pmf.max())))
    axes.set_title(f"On the integers, given $V_1$ = {z}", fontsize=10)
    kept = float(law.keep(z))
    axes.annotate(f"the response\nstays: {kept:.3f}", (z + 0.5, kept), fontsize=8.5, color=INK, va="center")
    bare(axes)
