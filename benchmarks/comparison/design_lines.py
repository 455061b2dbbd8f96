"""Designs and capacities: counts, places of a grid, irregular places, beside HiGHS and qif."""

from collections.abc import Callable

import numpy as np
from comparison.lines import OURS, Line, is_installed, script, timed

import utmost as ut
from utmost.design.optima.column_generation import certificate_of_rays
from utmost.design.optima.consumer_program import user_program
from utmost.design.spaces import losses, priors
from utmost.optima import optimal_mechanism
from utmost.programs import solve
from utmost.spaces import Consumer, counts, grid

HIGHS, QIF = "HiGHS, floats, no proof", "qif"
NEAR = 1e-6
"""How far from the proven interval a neighbour's float may lie to be called the same, relatively."""


def qif_loss(ptype: ut.PrivacyType, consumer: Consumer) -> float:
    """The loss of qif's optimal mechanism, by a program of its own forming."""
    import qif

    d, loss = np.asarray(ptype.space.distances, float), np.asarray(consumer.loss, float)
    epsilon, prior = ptype.level.epsilon_float, np.asarray(consumer.prior, float)
    channel = qif.mechanism.d_privacy.min_loss_given_d(
        prior, loss.shape[1], lambda x, y: epsilon * d[x, y], lambda x, r: loss[x, r]
    )
    return float((prior[:, None] * loss * np.asarray(channel)).sum())


def ask(line: Line, who: str, work: str, call: Callable[[], float], lower: float, upper: float) -> float | None:
    """A neighbour's time, and whether its value lies in our proven interval, up to a millionth."""
    if who == QIF and not is_installed("qif"):
        line.absent(who, work)
        return None
    seconds, value = timed(call)
    off = min(0.0, value - lower) + max(0.0, value - upper)
    line.checks[f"{work}: {who} finds the same, to 1e-6"] = abs(off) <= NEAR * abs(upper)
    return line.took(who, work, seconds, note=f"{abs(off) / abs(upper):.0e} outside the proven interval")


def counts_of_users(line: Line) -> None:
    """The best mechanism for one reader of a count."""
    sizes = (10, 20, 40) if line.quick else (40, 100, 400, 2_000, 10_000)
    highs_to, qif_to, exact_to = (20, 10, 20) if line.quick else (100, 40, 400)
    ours: dict[int, float] = {}
    theirs: dict[int, float] = {}
    cases = []
    for n in sizes:
        prior = np.random.default_rng(n).dirichlet(np.ones(n + 1))
        ptype, consumer = ut.PrivacyType(counts(n), alpha="9/10"), Consumer(prior, losses.absolute)
        seconds, found = timed(lambda p=ptype, c=consumer: optimal_mechanism(p, c))
        ours[n] = line.took(OURS, f"n = {n:,}", seconds, note=f"gap {float(found.gap / found.loss):.0e}")
        cases.append((n, ptype, consumer, float(found.lower), float(found.loss)))
        if n <= exact_to:
            rational = Consumer(priors.from_counts(np.rint(prior * 10**6).astype(int)), losses.absolute)
            seconds, exact = timed(lambda p=ptype, c=rational: optimal_mechanism(p, c))
            line.took(f"{OURS}, exact", f"n = {n:,}", seconds)
            line.checks[f"n = {n:,}: exact, its certificate holds"] = exact.gap == 0 and exact.certificate.verify()
    for n, ptype, consumer, lower, upper in cases:
        if n <= highs_to:
            program = user_program(ptype, consumer, exactly=False)
            theirs[n] = ask(line, HIGHS, f"n = {n:,}", lambda p=program: solve(p).value, lower, upper)
        if n <= qif_to:
            ask(line, QIF, f"n = {n:,}", lambda p=ptype, c=consumer: qif_loss(p, c), lower, upper)
    if not line.quick:
        line.absent(HIGHS, "n = 400", "not asked: minutes")
        line.absent(QIF, "n = 100", "not asked: minutes")
    line.goal(f"n = {sizes[-1]:,}", ours[sizes[-1]], 10)
    line.grows(OURS, ours)
    line.grows(HIGHS, theirs)


def capacities(line: Line) -> None:
    """The most that any mechanism for the places of a lattice leaks."""
    other = script("capacities", "capacities_of_thousands_of_places_take_seconds")
    sides = (3, 4, 6) if line.quick else (3, 4, 5, 6, 10, 20, 40, 60)
    highs_to, qif_to = (4, 3) if line.quick else (6, 4)
    half = {"alpha": "1/2"}
    ut.capacity(ut.PrivacyType(grid(2, 3), **half))  # the first call loads the solver
    ours: dict[int, float] = {}
    theirs: dict[int, float] = {}
    cases = []
    for side in sides:
        ptype, work = ut.PrivacyType(grid(side, side), **half), f"{side} x {side} places"
        seconds, found = timed(lambda p=ptype: ut.capacity(p))
        gap = float(found.gap)
        ours[side * side] = line.took(OURS, work, seconds, note=f"by {found.method}, gap {gap:.0e}")
        checking, holds = timed(found.certificate.verify)
        line.took(f"{OURS}, the certificate checked again", work, checking)
        line.checks[f"{work}: the certificate holds"] = bool(holds)
        cases.append((side, work, ptype, float(found.lower), float(found.value)))
    for side, work, ptype, lower, upper in cases:
        if side <= highs_to:
            call = lambda p=ptype: other.highs(p, other.all_pairs(p))  # noqa: E731
            theirs[side * side] = ask(line, HIGHS, work, call, lower, upper)
        if side <= qif_to:
            ask(line, QIF, work, lambda p=ptype: other.qif_capacity(p), lower, upper)
    line.goal(f"{work}, with its certificate", ours[sides[-1] ** 2], 1.2)
    odd = 5 if line.quick else 59
    ptype = ut.PrivacyType(grid(odd, odd), **half)
    seconds, found = timed(lambda: ut.capacity(ptype, kind="additive"))
    line.took(f"{OURS}, additive", f"{odd} x {odd} places", seconds, note=f"gap {float(found.gap):.0e}")
    line.checks[f"{odd} x {odd} places, additive: the certificate holds"] = bool(found.certificate.verify())
    line.grows(OURS, ours)
    line.grows(HIGHS, theirs)


def places(line: Line) -> None:
    """The best mechanism for places, a prior and the distance as loss."""
    maps = script("design", "large_maps_are_designed_in_minutes")
    sides = (3, 4, 5) if line.quick else (5, 6, 7, 8, 10, 14, 20)
    highs_to, qif_to = (4, 3) if line.quick else (7, 5)
    maps.compiled()
    ours: dict[int, float] = {}
    theirs: dict[int, float] = {}
    cases = []
    wanted = [("grid", side * side, "dirichlet") for side in sides]
    wanted += [] if line.quick else [("grid", 400, "uniform"), ("random", 400, "dirichlet"), ("grid", 400, "france")]
    for kind, n, prior in wanted:
        space = maps.SPACES[kind](n)
        ptype, consumer = ut.PrivacyType(space, epsilon=1), Consumer(maps.beliefs(prior, n), losses.distance(space))
        work, is_grid = f"{kind} of {n} places, {prior} prior", (kind, prior) == ("grid", "dirichlet")
        seconds, found = timed(lambda p=ptype, c=consumer: certificate_of_rays(p, c))
        gap = float(found.gap / found.upper)
        line.took(OURS, work, seconds, note=f"gap {gap:.0e}")
        line.checks[f"{work}: the gap is proven to be at most 1e-6"] = gap <= 1e-6
        if is_grid:
            ours[n] = seconds
            cases.append((n, work, ptype, consumer, float(found.lower), float(found.upper)))
        if n == wanted[-1][1]:
            line.goal(f"{work}", seconds, 60)
    for n, work, ptype, consumer, lower, upper in cases:
        if n <= highs_to**2:
            program = user_program(ptype, consumer, exactly=False)
            theirs[n] = ask(line, HIGHS, work, lambda p=program: solve(p).value, lower, upper)
        if n <= qif_to**2:
            ask(line, QIF, work, lambda p=ptype, c=consumer: qif_loss(p, c), lower, upper)
    if not line.quick:
        line.absent(
            HIGHS, "grid of 64 places, dirichlet prior", "not asked: four solvers had not ended after 20 s of the clock"
        )
    line.grows(OURS, ours)
    line.grows(HIGHS, theirs)


def irregular(line: Line) -> None:
    """Twelve places whose distances have no common measure: a design, and the additive capacity."""
    n = 6 if line.quick else 12
    at = np.random.default_rng(12).random((n, 2)).round(3).tolist()
    ptype = ut.PrivacyType(ut.spaces.points(at), epsilon=1)
    consumer = Consumer(priors.uniform(n), losses.distance(ptype.space))
    few = ut.PrivacyType(ut.spaces.points(at[:4]), epsilon=1)  # what is loaded at a first call
    ut.optimal_mechanism(few, Consumer(priors.uniform(4), losses.distance(few.space)))
    ut.capacity(ut.PrivacyType(counts(2), epsilon=1), kind="additive")
    seconds, found = timed(lambda: ut.optimal_mechanism(ptype, consumer))
    line.took(OURS, "the design", seconds, note=f"gap {float(found.gap / found.loss):.0e}")
    line.checks["the design's certificate holds"] = bool(found.certificate.verify())
    line.goal("the design", seconds, 0.14)
    lower, upper = float(found.lower), float(found.loss)
    seconds, leak = timed(lambda: ut.capacity(ptype, kind="additive"))
    line.took(OURS, "the additive capacity", seconds, note=f"gap {float(leak.gap):.0e}")
    line.checks["the capacity's certificate holds"] = bool(leak.certificate.verify())
    line.goal("the additive capacity", seconds, 0.03)
    program = user_program(ptype, consumer, exactly=False)
    ask(line, HIGHS, "the design", lambda: solve(program).value, lower, upper)
    ask(line, QIF, "the design", lambda: qif_loss(ptype, consumer), lower, upper)
    line.absent(QIF, "the additive capacity", "has no capacity of a privacy type over all priors")
