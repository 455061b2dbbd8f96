"""Noise: a million integers, one draw, the staircase at any sensitivity, and responses relaxed."""

import contextlib
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from comparison.lines import Line, is_installed, script

from utmost.noise import DiscreteStaircase, Geometric, IntegerDistribution, Laplace
from utmost.releases import GradualRelease, bridge, relax, tighten
from utmost.sampling import sample

DISTRIBUTION = Geometric(epsilon=1)
FEW = 10_000
OPENDP, DIFFPRIVLIB, PYDP, TUMULT = "OpenDP", "diffprivlib", "PyDP", "Tumult"


def fits(distribution: IntegerDistribution, drawn: Any) -> bool:
    """Whether chi-square over some twenty classes leaves draws to their distribution, at one in 10^9."""
    from scipy.stats import chi2

    edges = np.unique([int(distribution.ppf(part)) for part in np.linspace(0.05, 0.95, 19)])
    chances = np.diff([0.0, *map(float, distribution.cdf(edges)), 1.0])
    seen = np.bincount(np.searchsorted(edges, np.asarray(drawn).ravel()), minlength=len(chances))
    expected = chances * np.size(drawn)
    return bool(chi2.sf(((seen - expected) ** 2 / expected).sum(), len(chances) - 1) > 1e-9)


def opendp_of(count: int | None) -> Callable[[], Any]:
    """A vector of so many zeros noised, or one integer."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    if count is None:
        scalar = dp.m.make_geometric(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0)
        return lambda: scalar(0)
    vector = dp.m.make_geometric(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=1.0)
    zeros = [0] * count
    return lambda: vector(zeros)


def diffprivlib_of(name: str = "Geometric", **facts: Any) -> Callable[[], Any]:
    """One call of a mechanism of diffprivlib."""
    # Version 0.6 fails to import beside today's scikit-learn, which only its models need.
    sys.modules.setdefault("diffprivlib.models", types.ModuleType("diffprivlib.models"))
    from diffprivlib import mechanisms

    mechanism = getattr(mechanisms, name)(epsilon=1, **{"sensitivity": 1} | facts)
    return lambda: mechanism.randomise(0)


def pydp_of() -> Callable[[], Any]:
    """One call of PyDP's Laplace mechanism on an integer."""
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    mechanism = LaplaceMechanism(epsilon=1, sensitivity=1)
    return lambda: mechanism.add_noise(0)


def repeated(call: Callable[[], Any], count: int) -> Callable[[], list[Any]]:
    """The call so many times."""
    return lambda: [call() for _ in range(count)]


NEIGHBOURS = {
    OPENDP: ("opendp", lambda: opendp_of(None)),
    DIFFPRIVLIB: ("diffprivlib", diffprivlib_of),
    PYDP: ("pydp", pydp_of),
    TUMULT: ("tmlt", None),
}
"""Who noises one integer a call: the module, and how a call is made; Tumult noises tables in Spark sessions only."""


def by_calls(line: Line, work: str, count: int) -> list[Any]:
    """The neighbours that noise an integer a call, as contenders; the others named."""
    timing = script("sampling", "timing")
    found = []
    for who, (module, made) in NEIGHBOURS.items():
        if not is_installed(module):
            line.absent(who, work)
        elif made is None:
            line.absent(who, work, "installed, but noises no single integer")
        else:
            found.append(timing.Contender(f"{who}, a call each", repeated(made(), count), count))
    return found


def compared(line: Line, work: str, contenders: list[Any], unit: str, scale: float = 1, repeats: int = 5) -> dict:
    """Least times of contenders that take turns, kept in the line."""
    found = script("sampling", "timing").compared(contenders, repeats=repeats)
    least = {name: times[0] * scale for name, times in found.items()}
    for name, amount in least.items():
        line.took(name, work, amount, unit)
    return least


def million_integers(line: Line) -> None:
    """Exact integer noise at epsilon 1."""
    contender = script("sampling", "timing").Contender
    n, work = 10_000 if line.quick else 1_000_000, "an integer's noise, in an array"
    values, generator = np.arange(n), np.random.default_rng()
    ours = {
        "utmost, constant time (the default)": lambda: sample(DISTRIBUTION, n),
        "utmost, by table": lambda: sample(DISTRIBUTION, n, method="table"),
    }
    line.alone(*ours.values())
    contenders = [contender(name, call, n) for name, call in ours.items()]
    contenders += [
        contender("numpy laplace, legacy (float, insecure)", lambda: np.random.laplace(size=n), n),
        contender("numpy laplace, Generator (float, insecure)", lambda: generator.laplace(size=n), n),
        contender("numpy copies the array", lambda: values.copy(), n),
    ]
    with contextlib.suppress(ImportError):
        from scipy.stats import dlaplace

        contenders.append(contender("scipy dlaplace (float, insecure)", lambda: dlaplace(1.0).rvs(n), n))
    contenders += by_calls(line, work, 200 if line.quick else FEW)
    few = 1_000 if line.quick else FEW
    if is_installed("opendp"):
        contenders.append(contender(f"{OPENDP}, vectors", opendp_of(few), few))
        line.checks["OpenDP's draws have the distribution"] = fits(DISTRIBUTION, opendp_of(few)())
    least = compared(line, work, contenders, "ns")
    default = least["utmost, constant time (the default)"]
    if f"{OPENDP}, vectors" in least:
        line.goal("times as fast as OpenDP's vectors", least[f"{OPENDP}, vectors"] / default, 1000, "times", True)
    line.goal(
        "faster than numpy's insecure Laplace", default, min(v for k, v in least.items() if "laplace," in k), "ns"
    )
    for name, call in ours.items():
        line.checks[f"{name}: chi-square"] = fits(DISTRIBUTION, call())
    sizes = [n // 100, n // 10, n]
    once = script("sampling", "timing").compared(
        [contender(str(m), lambda m=m: sample(DISTRIBUTION, m), 1) for m in sizes]
    )
    line.grows("utmost", {m: once[str(m)][0] for m in sizes})


def one_draw(line: Line) -> None:
    """One draw a call."""
    contender = script("sampling", "timing").Contender
    n, work = 1_000 if line.quick else 20_000, "one draw a call"
    distributions = [Geometric(epsilon=1), DiscreteStaircase(epsilon=1, sensitivity=1000), Laplace(epsilon=1)]
    line.alone(*(lambda distribution=distribution: sample(distribution) for distribution in distributions))
    contenders = [
        contender(f"utmost {distribution!r}", repeated(lambda distribution=distribution: sample(distribution), n), n)
        for distribution in distributions
    ]
    contenders += by_calls(line, work, 200 if line.quick else 2_000)
    least = compared(line, work, contenders, "us", 1e-3)
    for distribution in distributions:
        line.goal(repr(distribution), least[f"utmost {distribution!r}"], 1.5, "us")
    for distribution in distributions[:2]:
        line.checks[f"{distribution!r}: chi-square"] = fits(distribution, [sample(distribution) for _ in range(n)])


def staircases(line: Line) -> None:
    """The discrete staircase at sensitivity 1 to 10^9."""
    contender = script("sampling", "timing").Contender
    n, work = 10_000 if line.quick else 1_000_000, "a draw of a staircase, in an array"
    distributions = {D: DiscreteStaircase(epsilon=1, sensitivity=D) for D in (1, 10**3, 10**6, 10**9)}
    line.alone(*(lambda distribution=distribution: sample(distribution, n) for distribution in distributions.values()))
    contenders = [
        contender(f"utmost, sensitivity {D:,}", lambda distribution=distribution: sample(distribution, n), n)
        for D, distribution in distributions.items()
    ]
    if is_installed("diffprivlib"):
        few = 200 if line.quick else FEW
        call = repeated(diffprivlib_of("Staircase"), few)
        contenders.append(contender("diffprivlib Staircase, sensitivity 1 (float)", call, few))
    else:
        line.absent(DIFFPRIVLIB, work)
    line.absent("an exact neighbour", work, "there is none")
    least = compared(line, work, contenders, "ns")
    times = [least[f"utmost, sensitivity {D:,}"] for D in distributions]
    line.goal("at every sensitivity", max(times), 25, "ns")
    line.goal("no growth with the sensitivity, from 10^3 to 10^9", max(times[1:]) / min(times[1:]), 1.5, "times")
    for D, distribution in distributions.items():
        line.checks[f"sensitivity {D:,}: chi-square"] = fits(distribution, sample(distribution, n))
    line.grows("utmost, by sensitivity", dict(zip(distributions, times, strict=True)))


def relaxing(line: Line) -> None:
    """Responses relaxed, tightened and bridged: the neighbours draw anew, which costs both levels."""
    contender = script("sampling", "timing").Contender
    n, work = 10_000 if line.quick else 10_000_000, "a response at another level"
    noise = sample(Geometric("1/2"), n)
    at_two = relax(noise, from_epsilon="1/2", to_epsilon=2)
    answer = GradualRelease(np.arange(n), sensitivity=1)
    answer.at(epsilon="1/2")
    levels = iter(f"{100 + i}/100" for i in range(1000))
    calls = {
        "utmost, relax 1/2 to 1": lambda: relax(noise, from_epsilon="1/2", to_epsilon=1),
        "utmost, relax 1/2 to 1, constant time": lambda: relax(
            noise, from_epsilon="1/2", to_epsilon=1, method="constant"
        ),
        "utmost, tighten 2 to 1": lambda: tighten(at_two, from_epsilon=2, to_epsilon=1),
        "utmost, bridge 1/2 and 2 to 1": lambda: bridge(noise, at_two, lower="1/2", middle=1, higher=2),
        "utmost, a gradual release at a higher epsilon": lambda: answer.at(epsilon=next(levels)),
    }
    line.alone(*calls.values())
    contenders = [contender(name, call, n) for name, call in calls.items()]
    few = 1_000 if line.quick else FEW
    if is_installed("opendp"):
        contenders.append(contender("OpenDP, drawn anew: both levels are spent", opendp_of(few), few))
    else:
        line.absent(OPENDP, work)
    least = compared(line, work, contenders, "ns", repeats=3)
    for name in calls:
        line.goal(name.removeprefix("utmost, "), least[name], 60, "ns")
        if "gradual" not in name:
            line.checks[f"{name.removeprefix('utmost, ')}: chi-square"] = fits(DISTRIBUTION, calls[name]())
    relaxed = calls["utmost, relax 1/2 to 1"]()
    step = np.corrcoef(noise - relaxed, relaxed)[0, 1]
    line.checks["the noise at the lower epsilon is that at the higher plus an uncorrelated step"] = bool(
        abs(step) < 6 / n**0.5
    )
    sizes = [n // 100, n // 10, n]
    once = script("sampling", "timing").compared(
        [contender(str(m), lambda m=m: relax(noise[:m], from_epsilon="1/2", to_epsilon=1), 1) for m in sizes], repeats=3
    )
    line.grows("utmost, relax", {m: once[str(m)][0] for m in sizes})
