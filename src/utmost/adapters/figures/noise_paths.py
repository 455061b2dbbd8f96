"""Figure 1 of Koufogiannis et al.: paths of the noise, from strict levels to loose ones."""

from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from utmost.adapters.figures.canvas import BLUE, GOLD, GREEN, INK, PALE, RED, bare, page, write
from utmost.exact import level
from utmost.sampling.gradual_path import sample_path
from utmost.testing import SeededRandomness

# Steps of the grid in one unit of the value.
_FINE = 256
_STRICT, _LOOSE = "1/20", 20
_TICKS = (-10, -3, -1, 0, 1, 3, 10)


@dataclass(frozen=True, slots=True)
class Steps:
    """A path between two levels: the noise from each epsilon on."""

    epsilons: list[float]
    noise: list[float]


def noise_paths(file: BinaryIO, kind: str, *, seed: int = 8, paths: int = 4) -> None:
    """Some paths of Laplace noise (on a grid of 1/256) by level, over the bands that hold half and 95 % of all paths.

    The vertical axis is arctan, as in the paper: at epsilon = 0 every path leaves the picture, at infinity all are 0.
    """
    figure, axes = page(7.6, 4.6)
    epsilons = np.geomspace(float(level(_STRICT).epsilon_float), _LOOSE, 300)
    for share, shade in ((0.95, 0.10), (0.5, 0.16)):
        reach = -np.log(1 - share) / epsilons
        axes.fill_between(epsilons, -reach, reach, color=BLUE, alpha=shade, linewidth=0)
    for number, colour in zip(range(paths), (RED, INK, GOLD, GREEN), strict=False):
        steps = path_steps(f"figure 1, {seed}, {number}")
        axes.step(steps.epsilons, steps.noise, where="post", color=colour, linewidth=1.7)
        axes.plot(steps.epsilons[1:-1], steps.noise[1:-1], "o", color=colour, markersize=2.8)
    axes.axhline(0, color=PALE, linewidth=0.8, zorder=0)
    axes.set_xscale("log")
    axes.set_yscale("function", functions=(np.arctan, np.tan))
    axes.set_yticks(_TICKS, [str(tick).replace("-", "\N{MINUS SIGN}") for tick in _TICKS])
    axes.set_xticks([0.05, 0.1, 0.3, 1, 3, 10, 20], ["0.05", "0.1", "0.3", "1", "3", "10", "20"])
    axes.minorticks_off()
    axes.set(xlim=(0.05, 20), ylim=(-40, 40), xlabel="level ε", ylabel="noise V at the level (arctan scale)")
    axes.set_title("One path is the noise at every level: it stays, and jumps", loc="left", fontsize=11)
    for text, at, to in (("95 % of all paths", (5, -1.35), (3.2, -0.85)), ("half of them", (5, -0.95), (2.4, -0.24))):
        axes.annotate(text, to, at, fontsize=8.5, color=INK, va="center", arrowprops={"arrowstyle": "-", "color": INK})
    bare(axes)
    write(figure, file, kind)


def path_steps(seed: str) -> Steps:
    """One path on the grid, between the two levels of the picture."""
    strict, loose = level(_STRICT), level(_LOOSE)
    path = sample_path(strict.scaled(f"1/{_FINE}"), randomness=SeededRandomness(seed))
    jumps = sorted(zip((each * _FINE for each in path.levels), path.jumps, strict=True), key=lambda pair: pair[0])
    epsilons, noise = [strict.epsilon_float], [path.at(strict.scaled(f"1/{_FINE}")) / _FINE]
    for epsilon, jump in jumps:
        if epsilon < loose.epsilon_float:
            epsilons.append(epsilon)
            noise.append(noise[-1] - jump.size / _FINE)
    return Steps([*epsilons, loose.epsilon_float], [*noise, noise[-1]])
