"""Check the appendices of Geng and Viswanath (2012): the constructions of Lemmas 14 to 31 and Theorems 2, 3 and 10.

Each lemma says that a noise distribution can be replaced by a simpler one that satisfies the level at no larger cost.
This module carries out the replacement in rational arithmetic, starting from mixtures of shifted staircases: shifts and
mixtures satisfy the level (Lemmas 14 and 15), but are not simple. As in step 3 of the proof, a density on the reals is
constant on the cells [k D/i, (k+1) D/i), of which i make up the sensitivity D. It is given by its values a_0, a_1, ...
right of 0, with the cell as the unit of length.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, Literal

from utmost.core.noise import costs
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.staircase import Staircase
from utmost.design.optima.noise_program import least_noise
from utmost.design.optima.periodic_noise import PeriodicNoise, averaged_translates, mixed, translated
from utmost_papers.comparison import Comparison, counted, equal, extended, rounded
from utmost_papers.geng_classes import DistributionClass, cost_of_cells, least_in_class

F = Fraction
ALPHA = F(1, 2)
KINDS = (costs.absolute, costs.squared)
Densities = tuple[Fraction, ...]
"""The values of a density on the cells of its first period, from 0 to D. The values of each later period are those of
the period before, times alpha.
"""


def appendices() -> Iterator[Comparison]:
    """Yield all comparisons with the appendices of Geng and Viswanath, in the order of the paper."""
    yield from independence()
    yield from symmetry_and_atoms()
    yield from cells()
    yield from decay_and_steps()
    yield from on_the_integers()


def crooked(D: int) -> list[PeriodicNoise]:
    """Return noise distributions that are neither even nor monotone: mixtures of two shifted staircases."""
    noises = []
    for (r, s), by in product(((1, D), (D, 1), (1, 1)), (1, D, 2 * D + 1)):
        first, second = (DiscreteStaircase(alpha=ALPHA, sensitivity=D, step=step) for step in (r, s))
        reach = 4 * D + 2
        pmf = [(2 * first.pmf(x) + first.pmf(x - by) + second.pmf(x + 1)) / 4 for x in range(-reach, reach + 1)]
        noises.append(PeriodicNoise([pmf], period=D, ratio=ALPHA))
    return noises


def is_private(noise: PeriodicNoise, D: int) -> bool:
    """Return whether the noise is private for sensitivity D: likelihood ratios of shifts up to D are at least alpha."""
    return noise.worst_ratio(D) >= ALPHA


def independence() -> Iterator[Comparison]:
    """Check Lemmas 14 and 15, and Theorems 2 and 10, which follow from them: noise need not depend on the answer."""
    for theorem, numbers, lemmas in (("Theorem 2", "reals", True), ("Theorem 10", "integers", False)):
        families = [_family(D, numbers) for D in (1, 2, 3)]
        if lemmas:
            moved = [(n, D, translated(n, by)) for n, D in families for by in (1, 2)]
            right = sum(
                is_private(after, D) and all(after.worst_cost(c) == n.worst_cost(c) for c in KINDS)
                for n, D, after in moved
            )
            yield counted("Lemma 14", "shifted by the answer: level and cost stay", right, len(moved))
            mixtures = [(n, D, mixed([n, translated(n, 1)], ["1/3", "2/3"])) for n, D in families]
            right = sum(
                is_private(m, D) and all(m.worst_cost(c) <= n.worst_cost(c) for c in KINDS) for n, D, m in mixtures
            )
            yield counted("Lemma 15", "a mixture keeps the level and costs no more", right, len(mixtures))
        averages = [(n, averaged_translates(n, D, alpha=ALPHA), D) for n, D in families]
        right = sum(
            a.is_independent and not n.is_independent and all(a.worst_cost(c) <= n.worst_cost(c) for c in KINDS)
            for n, a, _ in averages
        )
        yield counted(theorem, f"noise that depends on the answer made independent ({numbers})", right, len(averages))
    programs = [least_noise(cost, 2, alpha=ALPHA, outputs=T, window=4).cost for cost in KINDS for T in (1, 2)]
    same = programs[0] == programs[1] and programs[2] == programs[3]
    yield extended(
        "Theorem 10",
        "least noise by program: two answers apart, and one distribution for both",
        "the same",
        "the same" if same else "different",
        f"{programs[0]} for |x|, {programs[2]} for x^2, D = 2, alpha = 1/2",
    )


def _family(D: int, numbers: Any) -> tuple[PeriodicNoise, int]:
    """Return D and private noise that depends on the answer: a staircase that for answer t is centred at t mod 3."""
    unit = D + 2 + (numbers == "reals")  # largest distance between the centres for two answers at most D apart
    distribution = DiscreteStaircase(alpha=ALPHA, sensitivity=unit, step=1)
    reach = 4 * unit
    rows = [[distribution.pmf(x - t) for x in range(-reach, reach + 1)] for t in (0, 1, 2)]
    return PeriodicNoise(rows, period=unit, ratio=ALPHA, numbers=numbers), D


def symmetry_and_atoms() -> Iterator[Comparison]:
    """Check Lemmas 16 to 18: symmetric distributions suffice; private noise on the reals has no atoms and no gaps."""
    distributions = [(n, D) for D in (1, 2, 3) for n in crooked(D)]
    right = sum(_is_improved(n, evened(n), D) for n, D in distributions)
    yield counted("Lemma 16", "the mean of a distribution and its mirror image", right, len(distributions))
    right = sum(_least_of(D, cost, "even") == least_noise(cost, D, alpha=ALPHA).cost for D, cost in _settings())
    yield counted(
        "Lemma 17", "least cost of symmetric distributions, and of all distributions", right, len(_settings())
    )
    masses = [
        max(DiscreteStaircase(alpha=ALPHA, sensitivity=n, step=r).pmf(0) for r in (1, n)) for n in (10, 100, 1000)
    ]
    bounds = [1 / (1 + 2 * n * ALPHA) for n in (10, 100, 1000)]
    below = all(mass <= bound for mass, bound in zip(masses, bounds, strict=True))
    positive = all(min(n.window(-50, 50)[0]) > 0 for n, _ in distributions)
    yield equal(
        "Lemma 18",
        "no point of the reals has mass, every interval has some",
        (True, True),
        (below, positive),
        shown=(
            "P(X = x) = 0",
            f"of n points within D one has at most 1/(1 + 2 n alpha): {', '.join(rounded(m, 3) for m in masses)} "
            "for n = 10, 100, 1000",
        ),
    )


def evened(noise: PeriodicNoise) -> PeriodicNoise:
    """Return the mean of a distribution and its mirror image."""
    return PeriodicNoise([(noise.pmf[0] + noise.pmf[0][::-1]) / 2], noise.start, period=noise.period, ratio=noise.ratio)


def _is_improved(before: PeriodicNoise, after: PeriodicNoise, D: int) -> bool:
    return is_private(after, D) and all(after.worst_cost(cost) <= before.worst_cost(cost) for cost in KINDS)


def _settings() -> list[tuple[int, costs.Moment]]:
    return list(product((1, 2, 3, 4), KINDS))


def cells() -> Iterator[Comparison]:
    """Check Lemmas 19 to 21: densities that are constant on cells approximate all densities, and may be sorted to
    decrease from 0.
    """
    distributions = [(D, m, n) for D, m in ((2, 2), (2, 3), (3, 2)) for n in crooked(D * m)]
    right = sum(is_private(averaged_over_cells(n, D, m), D) for D, m, n in distributions)
    yield counted("Lemma 19", "the mean over each cell keeps the level", right, len(distributions))
    best = Staircase(1).expected_cost(costs.absolute)
    above = [min(_gamma_cost(j, i) for j in range(1, i + 1)) / best - 1 for i in (3, 9, 81)]
    falls = all(-1e-12 < later <= earlier for earlier, later in pairwise(above))
    yield equal(
        "Lemma 20",
        "least cost on cells of D/i above the least of all",
        True,
        falls and above[-1] < 1e-3,
        shown=("tends to 0", f"{', '.join(rounded(x, 2) for x in above)} for i = 3, 9, 81"),
    )
    sequences = [(D, _right_side(evened(n), 12 * D)) for D in (1, 2, 3, 4) for n in crooked(D)]
    good = sum(_may_be_sorted(sequence, D) for D, sequence in sequences)
    yield counted("Lemma 21", "densities sorted: level kept, cost no larger", good, len(sequences))


def averaged_over_cells(noise: PeriodicNoise, D: int, m: int) -> PeriodicNoise:
    """Return the distribution whose cell k has the total mass of the noise on its m cells k m to k m + m - 1."""
    reach = 8 * D
    fine = noise.window(-reach * m, (reach + 1) * m - 1)[0]
    pmf = [sum(fine[k * m : (k + 1) * m], F(0)) for k in range(2 * reach + 1)]
    tail = ALPHA / (1 - ALPHA)
    total = sum(pmf, F(0)) + tail * (sum(pmf[:D], F(0)) + sum(pmf[-D:], F(0)))
    return PeriodicNoise([[p / total for p in pmf]], period=D, ratio=ALPHA)


def _gamma_cost(j: int, i: int) -> float:
    return float(Staircase(1, gamma=F(j, i)).expected_cost(costs.absolute))


def _right_side(noise: PeriodicNoise, length: int) -> list[Fraction]:
    return [Fraction(p) for p in noise.window(0, length - 1)[0]]


def _may_be_sorted(densities: list[Fraction], D: int) -> bool:
    """Return whether the densities, sorted to decrease, satisfy the level, with no larger cost |x| and no larger cost
    x^2.
    """
    after = sorted(densities, reverse=True)
    private = all(ALPHA * after[k] <= after[k + D] for k in range(len(after) // 2))
    paid = [
        sum(p * (k + F(1, 2)) ** power for k, p in enumerate(seq)) for seq in (after, densities) for power in (1, 2)
    ]
    return private and paid[0] <= paid[2] and paid[1] <= paid[3]


def decay_and_steps() -> Iterator[Comparison]:
    """Check Lemmas 22 to 27 and Theorem 3: densities that are multiplied by alpha after each period, and have one step
    in each period, suffice.
    """
    settings = list(product((2, 3, 4, 6), KINDS))
    steps: tuple[tuple[str, str, tuple[DistributionClass, DistributionClass | Literal["stepped"]]], ...] = (
        ("Lemma 22", "least cost of falling densities, and of all even ones", ("even", "falling")),
        ("Lemma 23", "and of those that fall by alpha each D", ("falling", "decaying")),
        ("Lemma 25", "and of those whose first period ends at alpha a_0", ("decaying", "ending")),
        ("Lemma 27", "and of those with one step in a period", ("ending", "stepped")),
    )
    for lemma, what, names in steps:
        least = [[_least_density(i, cost, name) for name in names] for i, cost in settings]
        yield counted(lemma, what, sum(lower == upper for lower, upper in least), len(settings))
    periods = _falling_periods()
    right = sum(_is_cheaper(stretched(a), a) for a in periods)
    yield counted("Lemma 24", "a_0 raised and a_(i-1) lowered until their ratio is alpha", right, len(periods))
    right = sum(_is_cheaper(one_step(stretched(a)), a) for a in periods)
    yield counted("Lemma 26", "mass moved inwards until one density lies between", right, len(periods))
    worst = max(
        abs(float(_best_step(i, cost)) / float(Staircase(alpha=ALPHA, cost=cost).expected_cost(cost)) - 1)
        for i, cost in ((400, costs.absolute), (400, costs.squared))
    )
    yield equal(
        "Theorem 3",
        "least staircase on 400 cells, above the least on the reals",
        True,
        worst < 1e-5,
        shown=("no other distribution costs less", f"{rounded(worst, 2)}, for |x| and x^2"),
    )


def _falling_periods() -> list[Densities]:
    """Return examples of densities on the first period. They decrease from 1, and end at alpha or more."""
    return [
        tuple(1 - F(shape * k + k * k % 3, 12 * i) for k in range(i)) for i in (2, 3, 4, 6) for shape in (1, 2, 3)
    ] + [(F(1), F(3, 4), F(3, 4), F(2, 3), F(3, 5))]


def weights(i: int, cost: costs.Moment) -> list[Fraction]:
    """Return, for each of the i cells of the first period, the cost of density 1 on this cell and its repetitions in
    later periods.
    """
    return [cost_of_cells(k, i, cost, ALPHA, "reals") for k in range(i)]


def cost_of(period: Sequence[Fraction], cost: costs.Moment) -> Fraction:
    """Return the expected cost of the distribution that the densities of its first period define, normalised to 1."""
    paid = sum((w * a for w, a in zip(weights(len(period), cost), period, strict=True)), F(0))
    return paid * (1 - ALPHA) / sum(period, F(0))


def _is_cheaper(after: Densities, before: Densities) -> bool:
    private = min(after) >= ALPHA * max(after) and list(after) == sorted(after, reverse=True)
    return private and all(cost_of(after, cost) <= cost_of(before, cost) for cost in KINDS)


def stretched(period: Densities) -> Densities:
    """Apply Lemma 24: scale up all densities except the last, which is lowered until it is alpha a_0."""
    *head, last = period
    total = sum(period, F(0))
    grown = total / (sum(head, F(0)) + ALPHA * head[0])
    return (*(a * grown for a in head), ALPHA * head[0] * grown) if last > ALPHA * head[0] else period


def one_step(period: Densities) -> Densities:
    """Apply Lemma 26: move mass inwards until at most one density lies strictly between alpha a_0 and a_0."""
    densities, top, floor = list(period), period[0], ALPHA * period[0]
    while True:
        below = [k for k, a in enumerate(densities) if a < top]
        above = [k for k, a in enumerate(densities) if a > floor]
        if not below or not above or below[0] >= above[-1]:
            return tuple(densities)
        moved = min(top - densities[below[0]], densities[above[-1]] - floor)
        densities[below[0]] += moved
        densities[above[-1]] -= moved


def _least_density(i: int, cost: costs.Moment, within: DistributionClass | Literal["stepped"]) -> Fraction:
    """Return the least expected cost in a class of densities on i cells per period; the unit of length is a cell."""
    if within == "stepped":
        return Fraction(_best_step(i, cost) * i ** int(cost.order))
    return least_in_class(i, cost, ALPHA, within, "reals")


def _least_of(D: int, cost: costs.Moment, within: DistributionClass) -> Fraction:
    return least_in_class(D, cost, ALPHA, within, "integers")


def _best_step(i: int, cost: costs.Moment) -> Fraction:
    """Return the least expected cost of a staircase whose step ends after r of i cells, over all r, in units of D."""
    paid, power = weights(i, cost), int(cost.order)
    running, rest, best = F(0), sum(paid, F(0)), None
    for r in range(1, i + 1):
        running, rest = running + paid[r - 1], rest - paid[r - 1]
        value = (running + ALPHA * rest) * (1 - ALPHA) / (r + ALPHA * (i - r))
        best = value if best is None else min(best, value)
    assert best is not None
    return best / F(i) ** power


def on_the_integers() -> Iterator[Comparison]:
    """Check Lemmas 28 to 31, which reduce noise on the integers to staircases as Lemmas 16 to 27 do on the reals."""
    distributions = [(n, D) for D in (1, 2, 3) for n in crooked(D)]
    right = sum(_may_be_sorted_outwards(n, D) for n, D in distributions)
    yield counted("Lemma 28", "probabilities sorted outwards: level kept, cost no larger", right, len(distributions))
    settings = _settings()
    right = sum(_is_improved(n, evened(n), D) for n, D in distributions)
    yield counted("Lemma 29", "the mean of a distribution and its mirror image", right, len(distributions))
    pairs = [(_least_of(D, cost, "even"), _least_of(D, cost, "decaying")) for D, cost in settings]
    right = sum(first == second for first, second in pairs)
    yield counted(
        "Lemma 30", "least cost of even distributions, and of those that fall by alpha each D", right, len(pairs)
    )
    least = [DiscreteStaircase(alpha=ALPHA, sensitivity=D, cost=cost).expected_cost(cost) for D, cost in settings]
    right = sum(first == second for (_, first), second in zip(pairs, least, strict=True))
    yield counted("Lemma 31", "and of those with one step in a period", right, len(settings))


def _may_be_sorted_outwards(noise: PeriodicNoise, D: int) -> bool:
    """Return whether p, sorted so that p(0) >= p(1) >= p(-1) >= ..., is private and has no larger cost, tested in a
    wide window.
    """
    reach = 24 * D
    before = list(noise.window(-reach, reach)[0])
    outwards = sorted(range(-reach, reach + 1), key=lambda x: (abs(x), x < 0))
    after = dict(zip(outwards, sorted(before, reverse=True), strict=True))
    near = [(after[x], after[x + d]) for x in range(-reach // 2, reach // 2) for d in range(1, D + 1)]
    private = all(min(pair) >= ALPHA * max(pair) for pair in near)
    changes = [(p - after[x], abs(x)) for x, p in zip(range(-reach, reach + 1), before, strict=True)]
    return private and all(sum(p * x**m for p, x in changes) >= 0 for m in (1, 2))
