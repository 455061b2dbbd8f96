"""Draw Figures 1 to 5 of Geng and Viswanath (2012), and Figure 2 of Koufogiannis et al. (2015)."""

from fractions import Fraction
from typing import Any, BinaryIO

import numpy as np

from utmost.core.noise import costs
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.laplace import Laplace
from utmost.core.noise.optimal import gain_curve
from utmost.core.noise.staircase import Staircase, optimal_gamma
from utmost.interfaces.figures.canvas import BLUE, GOLD, INK, PALE, bare, curves_figure, page, write


def both_densities(file: BinaryIO, kind: str) -> None:
    """Plot Figure 1 of Geng and Viswanath: the densities of Laplace noise and of the staircase at epsilon = 1."""
    x = np.linspace(-5, 5, 4001)
    canvas, axes = page(7.2, 3.6)
    for distribution, name, colour in ((Laplace(1, 1), "Laplace", GOLD), (Staircase(1), "staircase", BLUE)):
        axes.plot(x, distribution.pdf(x), color=colour, linewidth=1.7, label=name)
    _finish(axes, "noise, in units of the sensitivity", "density", "Two distributions of one level, ε = 1")
    axes.legend(frameon=False)
    write(canvas, file, kind)


def gains(file: BinaryIO, kind: str) -> None:
    """Plot Figure 2 of Geng and Viswanath: cost of Laplace noise divided by the least cost, against epsilon."""
    epsilons = [Fraction(k, 10) for k in range(101)]
    curves = {"absolute": gain_curve(epsilons, costs.absolute), "squared": gain_curve(epsilons, costs.squared)}
    xs = [float(epsilon) for epsilon in epsilons]
    curves_figure(xs, curves, file, kind=kind, x="epsilon", y="Laplace cost / optimal cost")


def staircase_density(file: BinaryIO, kind: str) -> None:
    """Plot Figure 3 of Geng and Viswanath: the density of the staircase, with the heights and ends of its steps."""
    distribution = Staircase(1, gamma="2/5")
    x = np.linspace(-3.2, 3.2, 6401)
    top = float(distribution.pdf(0.0))
    canvas, axes = page(7.6, 4.0)
    axes.plot(x, distribution.pdf(x), color=BLUE, linewidth=1.8)
    marks = [0, distribution.gamma, 1, 1 + distribution.gamma, 2, 2 + distribution.gamma, 3]
    names = ["0", "γΔ", "Δ", "(1+γ)Δ", "2Δ", "(2+γ)Δ", "3Δ"]
    axes.set_xticks(marks, names, fontsize=8.5)
    heights = [top * np.exp(-k) for k in range(4)]
    axes.set_yticks(heights, ["a(γ)", "a(γ)e⁻ᵋ", "a(γ)e⁻²ᵋ", "a(γ)e⁻³ᵋ"])
    axes.hlines(heights, -3.2, 3.2, color=PALE, linewidth=0.7, zorder=0)
    _finish(axes, "noise", "density", "The staircase, step by step")
    write(canvas, file, kind)


def gammas(file: BinaryIO, kind: str) -> None:
    """Plot Figure 4 of Geng and Viswanath: the optimal gamma of the staircase against epsilon, for x^2 and |x|."""
    epsilons = [Fraction(k, 8) for k in range(1, 161)]
    canvas, axes = page(7.2, 3.6)
    for cost, name, colour in ((costs.squared, "for x²", BLUE), (costs.absolute, "for |x|", GOLD)):
        values = [optimal_gamma(epsilon, cost=cost) for epsilon in epsilons]
        axes.plot([float(epsilon) for epsilon in epsilons], values, color=colour, linewidth=1.7, label=name)
    axes.axhline(0.5, color=PALE, linewidth=0.8, zorder=0)
    axes.legend(frameon=False)
    _finish(axes, "ε", "γ", "Where the best staircase has its step")
    write(canvas, file, kind)


def staircase_masses(file: BinaryIO, kind: str) -> None:
    """Plot Figure 5 of Geng and Viswanath: the probabilities of a discrete staircase."""
    distribution = DiscreteStaircase(Fraction(1, 2), 5, step=2)
    x = np.arange(-17, 18)
    canvas, axes = page(7.6, 3.4)
    axes.bar(x, distribution.pmf(x), width=0.72, color=BLUE)
    axes.set_xticks(
        [-15, -10, -5, 0, 2, 5, 7, 10, 15], ["−3Δ", "−2Δ", "−Δ", "0", "r", "Δ", "Δ+r", "2Δ", "3Δ"], fontsize=8.5
    )
    _finish(axes, "noise", "probability", "On the integers: Δ = 5, r = 2, ε = 1/2")
    write(canvas, file, kind)


def two_notions(file: BinaryIO, kind: str) -> None:
    """Plot Figure 2 of Koufogiannis et al.: two optimal densities, and the privacy loss of each as a function of the
    change of the data.
    """
    changes = np.linspace(0, 3, 601)
    canvas, (left, right) = page(9.6, 3.6, ncols=2)
    x = np.linspace(-3, 3, 3001)
    distributions = ((Laplace(1, 1), "Laplace", GOLD), (Staircase(1), "staircase", BLUE))
    for distribution, name, colour in distributions:
        left.plot(x, distribution.pdf(x), color=colour, linewidth=1.7, label=name)
    left.legend(frameon=False)
    _finish(left, "noise", "density", "ε = 1")
    right.plot(changes, changes, color=GOLD, linewidth=1.7, label="Laplace")
    right.step(changes, np.ceil(changes), where="post", color=BLUE, linewidth=1.7, label="staircase")
    right.plot([1], [1], "o", color=INK, markersize=4)
    right.annotate("both lose ε at Δ", (1, 1), (1.25, 0.55), fontsize=8.5, arrowprops={"arrowstyle": "-", "color": INK})
    _finish(right, "change of the data, in Δ", "largest loss, in ε", "Only one is Lipschitz")
    write(canvas, file, kind)


def _finish(axes: Any, x: str, y: str, title: str) -> None:
    axes.set(xlabel=x, ylabel=y)
    axes.set_title(title, loc="left", fontsize=10.5)
    bare(axes)
