"""Draw Figures 1, 3, 5, 6 and 7 of Koufogiannis et al. (2015): noise paths, Algorithm 1, and social networks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.levels import Level, level
from utmost.core.gradual.laplace_steps import LaplaceRelaxing
from utmost.core.gradual.steps import Relaxing
from utmost.core.noise.geometric import Geometric
from utmost.core.sampling.draw import sample
from utmost.core.sampling.level_draws import sample_path
from utmost.design.spaces.graphs import graph
from utmost.interfaces.figures.canvas import BLUE, BY_TRUST, GOLD, GREEN, INK, PALE, RED, bare, page, write
from utmost.interfaces.testing.seeded import SeededRandomness, seeded_gradual_release
from utmost.publish.releases.trust import levels_by_distance
from utmost_papers.koufogiannis_applications import Ties

# Number of grid points per unit of the value. Geometric noise on this grid approximates Laplace noise.
_FINE = 256
_LOWER, _HIGHER = "1/20", 20
_TICKS = (-10, -3, -1, 0, 1, 3, 10)


@dataclass(frozen=True, slots=True)
class Steps:
    """The noise as a step function of epsilon. From each epsilon on, the noise has the value with the same index."""

    epsilons: list[float]
    noise: list[float]


def noise_paths(file: BinaryIO, kind: str) -> None:
    """Plot paths of noise (multiples of 1/256) against epsilon, over bands that contain 50 % and 95 % of all paths."""
    # The vertical axis is arctan, as in the paper: at epsilon = 0 every path leaves the picture, and at infinity all
    # paths are 0.
    figure, axes = page(7.6, 4.6)
    epsilons = np.geomspace(float(level(_LOWER).epsilon_float), _HIGHER, 300)
    for contained, shade in ((0.95, 0.10), (0.5, 0.16)):
        reach = -np.log(1 - contained) / epsilons
        axes.fill_between(epsilons, -reach, reach, color=BLUE, alpha=shade, linewidth=0)
    for number, colour in enumerate((RED, INK, GOLD, GREEN)):
        steps = path_steps(f"figure 1, 8, {number}")
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
    """Return the random path with this seed: the noise at epsilon 1/20 to 20, the range of the picture."""
    lower, higher = level(_LOWER), level(_HIGHER)
    path = sample_path(lower.scaled(f"1/{_FINE}"), randomness=SeededRandomness(seed))
    jumps = sorted(zip((each * _FINE for each in path.levels), path.jumps, strict=True), key=lambda pair: pair[0])
    epsilons, noise = [lower.epsilon_float], [path.at(lower.scaled(f"1/{_FINE}")) / _FINE]
    for epsilon, jump in jumps:
        if epsilon < higher.epsilon_float:
            epsilons.append(epsilon)
            noise.append(noise[-1] - jump.size / _FINE)
    return Steps([*epsilons, higher.epsilon_float], [*noise, noise[-1]])


_NAMES = ("across", "inward", "outward", "stay")
_COLOURS = {"across": GOLD, "inward": BLUE, "outward": GREEN, "stay": RED}


def relaxing_distribution(file: BinaryIO, kind: str) -> None:
    """Plot the four pieces of Algorithm 1, given Laplace noise 1 (left) or integer noise 3 (right) at epsilon 1."""
    figure, (left, right) = page(9.2, 3.9, nrows=1, ncols=2)
    _laplace(left, LaplaceRelaxing(level(1), level(2)), 1)
    _geometric(right, Relaxing(level(1), level(2)), 3)
    write(figure, file, kind)


def _laplace(axes: Any, distribution: LaplaceRelaxing, x: float) -> None:
    pieces = distribution.pieces(float(x))
    for name, low, high in (("across", -2.0, 0.0), ("inward", 0.0, x), ("outward", x, x + 2.0)):
        ys = np.linspace(low, high, 200)
        density = distribution.density(ys, float(x))
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
    axes.set(xlim=(-2, x + 2), ylim=(0, 0.92), xlabel="noise $V_2$ at the higher ε", ylabel="density, and one atom")
    axes.set_title(
        f"Laplace noise given $V_1$ = {x}, ε from {distribution.lower.epsilon} to {distribution.higher.epsilon}",
        fontsize=10,
    )
    bare(axes)


def _geometric(axes: Any, distribution: Relaxing, z: int) -> None:
    ys = np.arange(-3, z + 5)
    pmf = np.asarray(distribution.pmf(ys, np.full(ys.shape, z)))
    stay = float(distribution.pieces(z).stay)
    colours = [_COLOURS["across" if y < 0 else "inward" if y < z else "outward"] for y in ys.tolist()]
    smooth = np.where(ys == z, pmf - stay, pmf)
    axes.bar(ys, smooth, width=0.72, color=colours, alpha=0.75)
    axes.bar([z], [stay], width=0.72, bottom=smooth[ys == z], color=RED)
    axes.set(xlabel="noise $V_2$ at the higher ε", ylabel="probability", ylim=(0, 1.12 * float(pmf.max())))
    axes.set_title(f"On the integers, given $V_1$ = {z}", fontsize=10)
    stays = float(distribution.keep(z))
    axes.annotate(f"the response\nstays: {stays:.3f}", (z + 0.5, stays), fontsize=8.5, color=INK, va="center")
    bare(axes)


_ROUNDS = 300


def layout(edges: list[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    """Return a position (x, y) in the plane for each member of a network, by stress majorisation."""
    # Stress majorisation minimises the sum of d^-2 (|p - q| - d)^2 over pairs of positions p and q, where d is the
    # length of the shortest path between them. The start is a circle; no round increases the sum.
    space = graph(edges)
    d = np.asarray(space.distances, dtype=float)
    n = len(d)
    weights = 1 / np.where(d > 0, d, 1) ** 2 - np.eye(n)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + np.ones((n, n)) / n)
    angles = 2 * np.pi * np.arange(n) / n
    circle = np.stack([np.cos(angles), np.sin(angles) * 0.8 + 0.01 * angles], axis=1)
    positions: NDArray[np.float64] = circle * d.max() / 2
    for _ in range(_ROUNDS):
        differences = positions[:, None] - positions[None, :]
        length = np.sqrt((differences**2).sum(axis=2)) + np.eye(n)
        pull = weights * d / np.maximum(length, 1e-9)
        positions = inverse @ ((np.diag(pull.sum(axis=1)) - pull) @ positions)
    # Rotate the positions so that their longest axis is horizontal.
    positions = positions @ np.linalg.svd(positions, full_matrices=False)[2].T
    return {str(name): (float(x), float(y)) for name, (x, y) in zip(space.labels, positions, strict=True)}


def social_graph(file: BinaryIO, kind: str, edges: Ties, owner: str, title: str, named: Sequence[str] = ()) -> None:
    """Draw a network with members coloured by level, and a ring around each member farthest from the owner."""
    # In a network of more than 50 members, labels are written only at members in ``named`` and the farthest members.
    levels = {str(member): each for member, each in levels_by_distance(edges, owner).items()}
    positions = layout(edges)
    different = sorted(set(levels.values()), reverse=True)
    far = [member for member, each in levels.items() if each == different[-1]]
    is_large = len(positions) > 50
    size = 80 if is_large else 190
    figure, axes = page(9.0, 6.6)
    for start, friend in edges:
        (x1, y1), (x2, y2) = positions[start], positions[friend]
        axes.plot([x1, x2], [y1, y2], color=PALE, linewidth=0.7, zorder=1)
    for each, colour in zip(different, BY_TRUST[1:], strict=False):
        members = [member for member, own_level in levels.items() if own_level == each]
        xs, ys = zip(*(positions[member] for member in members), strict=True)
        label = f"ε = {each.epsilon}: {len(members)} members"
        axes.scatter(xs, ys, s=size, color=colour, edgecolor="#7d95a6", linewidth=0.7, zorder=2, label=label)
    xs, ys = zip(*(positions[member] for member in far), strict=True)
    naive = sum(levels[member].epsilon for member in far)
    note = f"coalition of the {len(far)} farthest: ε = {different[-1].epsilon} together, not {naive}"
    axes.scatter(xs, ys, s=1.8 * size, facecolor="none", edgecolor=RED, linewidth=1.4, zorder=2, label=note)
    axes.scatter(
        *positions[owner], s=2.2 * size, marker="*", color=BY_TRUST[0], zorder=3, label=f"{owner} shares a value"
    )
    for member, (x, y) in positions.items():
        if member != owner and (not is_large or member in named or member in far):
            short = len(member) <= 2
            axes.annotate(
                member, (x, y), xytext=(0, 0 if short else 9), textcoords="offset points", ha="center", zorder=4,
                va="center" if short else "bottom", fontsize=7, color=_ink(levels[member], different) if short else INK,
            )  # fmt: skip
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, markerscale=0.6)
    bare(axes)
    write(figure, file, kind)


def _ink(each: object, different: Sequence[object]) -> str:
    """Return the text colour for a member at level ``each``: white at the two highest levels, which are drawn dark, and
    else the colour ink.
    """
    return "white" if different.index(each) < 2 else INK


def trust_views(file: BinaryIO, kind: str, edges: Ties, owner: str) -> None:
    """Plot the response that each member sees (left), and the error of the average over growing coalitions (right)."""
    # Members at one level of one path see the same response, so they gain nothing by averaging; the noise of
    # independent responses averages out.
    levels = levels_by_distance(edges, owner)
    figure, (left, right) = page(9.4, 4.0, nrows=1, ncols=2)
    _views(left, levels, 1984, 5)
    _averages(right, min(levels.values()))
    write(figure, file, kind)


def _views(axes: Any, levels: dict[Any, Level], value: int, seed: int) -> None:
    release = seeded_gradual_release(value, 1, seed=seed)
    different = sorted(set(levels.values()))
    seen = {each: release.at(each) for each in different}
    rng = np.random.default_rng(seed)  # moves the dots of a column sideways, so that they do not overlap
    for column, each in enumerate(different):
        count = sum(own_level == each for own_level in levels.values())
        fresh = value + sample(Geometric(each), count, randomness=SeededRandomness(f"{seed} {column}"))
        spread = column + rng.uniform(-0.26, 0.26, count)
        axes.plot(
            spread, fresh, "o", color=GOLD, markersize=3.6, alpha=0.7, label=None if column else "drawn for each member"
        )
        note = None if column else "one path for all"
        axes.plot([column - 0.34, column + 0.34], [seen[each]] * 2, color=BLUE, linewidth=3, label=note)
    axes.axhline(value, color=RED, linewidth=1, linestyle="--", label=f"the value, {value}")
    names = [
        f"ε = {each.epsilon}\n{sum(own_level == each for own_level in levels.values())} members" for each in different
    ]
    axes.set_xticks(range(len(different)), names, fontsize=8.5)
    axes.set(ylabel="response")
    axes.set_title("What each member sees", loc="left", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    axes.ticklabel_format(axis="y", useOffset=False, style="plain")
    bare(axes)


def _averages(axes: Any, lowest: Level) -> None:
    sizes = np.unique(np.geomspace(1, 1000, 60).astype(int))
    noise = sample(Geometric(lowest), (2000, 1000), randomness=SeededRandomness("averages"))
    running = np.abs(np.cumsum(noise, axis=1) / np.arange(1, 1001)).mean(axis=0)
    one_error = float(Geometric(lowest).moment(1))
    axes.plot(sizes, running[sizes - 1], color=GOLD, linewidth=2)
    axes.plot(sizes, np.full(sizes.shape, one_error), color=BLUE, linewidth=2)
    axes.annotate("views of one path", (sizes[-1], one_error), xytext=(-4, 6), ha="right", **_NOTE)
    axes.annotate("drawn for each member", (sizes[-1], running[-1]), xytext=(-60, -2), ha="right", **_NOTE)
    axes.set(
        xscale="log", yscale="log", ylim=(0.13, 8), xlabel="colluding members", ylabel="mean error of their average"
    )
    axes.set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
    axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    axes.minorticks_off()
    axes.set_title(f"A coalition at ε = {lowest.epsilon} averages", loc="left", fontsize=10)
    axes.grid(alpha=0.25, color=PALE)
    bare(axes)


_NOTE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8.5, "color": INK}
