from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

# Noise that depends on the output is what the theorem excludes: no public distribution has it.
from utmost.design.optima.noise_program import NoiseProgram
from utmost.design.optima.periodic_noise import PeriodicNoise, averaged_translates, mixed, translated
from utmost.errors import PromiseBroken
from utmost.exact import level
from utmost.noise import DiscreteStaircase, Geometric, costs
from utmost.programs import LinearProgram, solve_exactly

alphas = st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(4, 5)])


@st.composite
def vertex_families(draw):
    """A random vertex of the set of all families of a period that keep alpha exactly: the noise does depend on t."""
    D, T, alpha = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(alphas)
    shape = NoiseProgram.of(costs.absolute, D, alpha, has_tails=True, window=draw(st.integers(D, 4)), outputs=T)
    program = shape.program()
    places = T * (2 * shape.window + 1)
    wanted = draw(st.lists(st.integers(-9, 9), min_size=places, max_size=places))
    aims = [Fraction(c) for c in wanted] + [Fraction(0)] * T + [Fraction(1)]
    parts = {name: getattr(program, name) for name in LinearProgram.__slots__} | {"cost": np.array(aims, dtype=object)}
    found = solve_exactly(LinearProgram(**parts))
    return PeriodicNoise(shape.probabilities(found.primal), period=D, ratio=alpha), D, alpha


@st.composite
def blurred_families(draw):
    """Outputs rounded down to a multiple of m and then noised for sensitivity D + m - 1: private by construction."""
    m, D, alpha = draw(st.integers(1, 6)), draw(st.integers(1, 3)), draw(alphas)
    distribution = DiscreteStaircase(alpha=alpha, sensitivity=D + m - 1, step=draw(st.integers(1, D + m - 1)))
    alone = PeriodicNoise.of_distribution(distribution)
    reach = -alone.start + m
    rows = [alone.window(t - reach, t + reach)[0] for t in range(m)]
    return PeriodicNoise(rows, period=alone.period, ratio=alpha), D, alpha


families = st.one_of(vertex_families(), blurred_families())


# ---- distributions


@given(families, st.integers(-9, 9))
def test_lemma_14_translates_keep_the_level_and_the_cost(family, by):
    noise, D, alpha = family
    moved = translated(noise, by)
    assert moved.worst_ratio(D) == noise.worst_ratio(D) >= alpha
    assert moved.worst_cost(costs.squared) == noise.worst_cost(costs.squared)
    assert moved.mass(3, 1) == noise.mass(3 + by, 1)


@given(families, st.lists(st.integers(0, 5), min_size=2, max_size=4).filter(any), st.data())
def test_lemma_15_mixtures_keep_the_level_and_never_cost_more(family, counts, data):
    noise, D, alpha = family
    parts = [translated(noise, data.draw(st.integers(0, 3))) for _ in counts]
    mixture = mixed(parts, [Fraction(c, sum(counts)) for c in counts])
    assert mixture.worst_ratio(D) >= alpha
    assert mixture.worst_cost(costs.absolute) <= max(part.worst_cost(costs.absolute) for part in parts)


@given(families)
def test_theorem_10_the_average_keeps_the_level_and_costs_the_mean(family):
    """Independent noise, private at the same level, at the mean of the costs, hence at no more than their largest."""
    noise, D, alpha = family
    alone = averaged_translates(noise, D, alpha=alpha)
    assert alone.is_independent
    assert alone.worst_ratio(D) >= noise.worst_ratio(D)
    for cost in (costs.absolute, costs.moment(3)):
        paid = noise.expected_costs(cost)
        assert alone.worst_cost(cost) == sum(paid) / len(paid) <= noise.worst_cost(cost)
    assert alone.worst_cost(capped, constant_from=3) <= noise.worst_cost(capped, constant_from=3)


def capped(x):
    return min(abs(x), 3)


def test_dependence_on_the_output_costs_strictly_more_where_outputs_are_treated_unequally():
    """Round down to even, then add even geometric noise: E|X| is 8/3 at even outputs, 3 at odd ones, 17/6 averaged."""
    rows = [["1/6", 0, "1/3", 0, "1/6"], [0, "1/3", 0, "1/6", 0]]
    noise = PeriodicNoise(rows, period=2, ratio="1/2")
    assert noise.expected_costs(costs.absolute).tolist() == [Fraction(8, 3), 3]
    assert averaged_translates(noise, 1, alpha="1/2").worst_cost(costs.absolute) == Fraction(17, 6)


# ---- agreement


@given(vertex_families())
def test_the_worst_ratio_is_the_one_found_release_by_release(family):
    """min over t, |t - u| <= D and y of P(t + X_t = y) / P(u + X_u = y), far beyond the window."""
    noise, D, _ = family
    T, far = len(noise.pmf), 3 * (noise.pmf.shape[1] + noise.period)
    ratios = [
        noise.mass(t, y - t) / noise.mass(u, y - u)
        for t in range(T)
        for u in range(t - D, t + D + 1)
        for y in range(-far, far, 1)
        if noise.mass(u, y - u)
    ]
    assert noise.worst_ratio(D) == min(ratios)


@pytest.mark.parametrize(
    "distribution", [Geometric(alpha="1/3"), DiscreteStaircase(alpha="1/3", sensitivity=4, step=3)]
)
def test_a_distribution_as_noise_without_dependence_keeps_its_masses_level_and_moments(distribution):
    noise, D = PeriodicNoise.of_distribution(distribution), distribution.sensitivity
    assert [noise.mass(7, x) for x in range(-40, 41)] == [distribution.pmf(x) for x in range(-40, 41)]
    assert noise.worst_ratio(D) == distribution.alpha
    assert noise.worst_ratio(D + 1) == distribution.alpha**2
    for m in (1, 2, 3):
        assert noise.worst_cost(costs.moment(m)) == distribution.moment(m)
    assert noise.worst_cost(lambda x: float(x * x)) == pytest.approx(distribution.moment(2), rel=1e-14)


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_on_the_reals_the_worst_ratio_is_the_one_found_by_trying_outputs_inside_their_cells(shift):
    """Densities of two periodic rows, compared at outputs a quarter of a cell apart, at most the sensitivity apart."""
    distribution = PeriodicNoise.of_distribution(DiscreteStaircase(alpha="1/2", sensitivity=4, step=2))
    rows = [distribution.window(-12 - by, 12 - by)[0] for by in (0, shift)]
    noise, D = PeriodicNoise(rows, period=4, ratio="1/2", numbers="reals"), 3

    masses = noise.window(-40, 40)

    def density(output, y):
        return masses[int(output // 1) % 2, int((y - output) // 1) + 40]

    quarters = [Fraction(n, 4) + Fraction(1, 8) for n in range(-D * 4, D * 4 + 1)]
    ratios = [
        density(t, y) / density(t + move, y)
        for t in [Fraction(n, 4) for n in range(8)]
        for move in [Fraction(n, 4) for n in range(-D * 4, D * 4 + 1)]
        for y in [q + 4 * k for q in quarters for k in (-3, 0, 3)]
    ]
    assert noise.worst_ratio(D) == min(ratios)


def test_nothing_is_concluded_from_a_family_that_breaks_its_promise():
    rows = [["1/3", "1/3", "1/6"], ["1/6", "1/3", "1/3"]]
    noise = PeriodicNoise(rows, ratio="1/4")
    assert noise.worst_ratio(1) == Fraction(1, 8)
    with pytest.raises(PromiseBroken, match="at least 1/4"):
        averaged_translates(noise, 1, alpha="1/4")
    averaged_translates(noise, 1, alpha="1/8")


def test_levels_are_decided_exactly():
    """alpha = 1/2 is kept; a level lower by a part in 10^30 is not, unless a tolerance says so."""
    noise, lower = (
        PeriodicNoise.of_distribution(Geometric(alpha="1/2")),
        level(alpha="1/2").scaled(1 - Fraction(1, 10**30)),
    )
    noise.check_level(1, alpha="1/2")
    noise.check_level(1, lower, tolerance="1e-12")
    with pytest.raises(PromiseBroken):
        noise.check_level(1, lower)
