"""The search for shares: exchanges, rounding, candidates; against grids, and against what it must not be worse than."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import NotALevel
from utmost.privacy import Unit

# The factors that a plan multiplies are compared with dense matrices.
from utmost.publish.workloads.measuring.variance_components import VarianceComponents
from utmost.publish.workloads.planning.candidate_families import (
    candidate_families,
    finest_common,
    named_candidates,
    plain_shares,
)
from utmost.publish.workloads.planning.least_error import least_shares
from utmost.publish.workloads.planning.share_exchange import (
    WeighedError,
    best_shares,
    chord_shares,
    descended,
    lattice_shares,
)
from utmost.workloads import Domain, Workload, bins, choose_plan
from workload_cases import berkeley, geography, two_way, workloads

LEVELS = st.sampled_from([1e-6, 0.1, 1.0, 3.0, 50.0])


def error_over(wanted, families, level):
    structure = VarianceComponents.of(wanted.domain, families)
    return WeighedError.of(structure, [wanted.spectrum(structure)], level)


@given(workloads(most=40), LEVELS)
def test_never_worse_than_what_anybody_would_try(wanted, level):
    """Against the cells alone, equal shares of the wanted families, and of all families of the domain."""
    check_never_worse(wanted, level)


@pytest.mark.slow
@settings(max_examples=30)
@given(workloads(most=60), LEVELS)
def test_never_worse_on_two_hundred_workloads(wanted, level):
    """The same, of 200 workloads."""
    check_never_worse(wanted, level)


def check_never_worse(wanted, level):
    everything = list(wanted.domain.families())
    error = error_over(wanted, everything, level)
    found = least_shares(wanted, candidate_families(wanted), level)
    assert sum(found.values()) == 1
    mine = error(np.array([float(found.get(family, 0)) for family in everything]))
    alike = np.full(len(everything), 1 / len(everything))
    asked = np.array([family in wanted.families for family in everything]) / len(wanted.families)
    cells = np.array([not any(family) for family in everything], dtype=float)
    for plain in (cells, asked, alike):
        assert mine <= error(plain) * (1 + 1e-9)


@given(workloads(most=40), st.data())
def test_families_left_out_are_never_better(wanted, data):
    """Moving the shares of all families to the candidates that stand for them makes no error larger."""
    everything, useful = list(wanted.domain.families()), list(candidate_families(wanted))
    spaces = wanted.eigenspaces
    shares = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(everything), max_size=len(everything))), float)
    shares[0] += 1
    shares /= shares.sum()
    moved = np.zeros(len(useful))
    for family, share in zip(everything, shares, strict=True):
        above = [T for T in spaces if all(a <= b for a, b in zip(family, T, strict=True))]
        moved[useful.index(finest_common(above)) if above else 0] += share
    for level in (0.1, 3.0):
        assert error_over(wanted, useful, level)(moved) <= error_over(wanted, everything, level)(shares) * (1 + 1e-9)


@pytest.mark.parametrize("level", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("wanted", [geography(), geography(10, 1, 1), geography(0.2, 1, 3), two_way("a", "b", "")])
def test_no_point_of_a_fine_grid_is_better(wanted, level):
    """Three families: all 20 301 points of a grid of 1/200 (of 4 families the finest is left out)."""
    families = [family for family in wanted.domain.families() if len(family) == 1 or any(family)]
    error = error_over(wanted, families, level)
    steps = np.array([(i, j, 200 - i - j) for i in range(201) for j in range(201 - i)]) / 200
    on_the_grid = error(steps).min()
    found = best_shares(error, [np.full(3, 1 / 3), *np.eye(3)])
    assert error(found) <= on_the_grid * (1 + 1e-12)
    assert error(found) > on_the_grid * 0.999


@given(workloads(most=40), LEVELS, st.data())
def test_exchanges_never_lose_and_keep_the_sum(wanted, level, data):
    families = list(candidate_families(wanted))
    error = error_over(wanted, families, level)
    start = np.array(data.draw(st.lists(st.integers(0, 9), min_size=len(families), max_size=len(families)).filter(any)))
    (value,), (shares,) = descended(error, start[None, :] / start.sum(), sweeps=2)
    assert value <= error(start / start.sum())
    assert value == error(shares)
    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()


@given(workloads(most=40), LEVELS, st.data())
def test_rounded_shares_are_whole_steps_and_no_exchange_of_one_is_better(wanted, level, data):
    families = list(candidate_families(wanted))
    error = error_over(wanted, families, level)
    start = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(families), max_size=len(families))))
    steps = lattice_shares(error, start / start.sum(), 100)
    assert steps.sum() == 100
    assert (steps >= 0).all()
    for giver, taker in combinations(range(len(families)), 2):
        for sign in (1, -1):
            moved = steps.copy()
            moved[giver] -= sign
            moved[taker] += sign
            assert (moved < 0).any() or not error(moved / 100) < error(steps / 100) * (1 - 1e-9)


def test_a_share_too_small_for_a_step_is_not_lost():
    """A family that some answer needs keeps a step, however little it deserves."""
    error = WeighedError(np.array([[1.0, 1e-12]]), np.array([[1.0, 0.0], [0.0, 1.0]]), 1.0, np.zeros(2))
    assert lattice_shares(error, np.array([1 - 1e-7, 1e-7]), 1000).tolist() == [999, 1]


@pytest.mark.parametrize(
    ("wanted", "least"),
    [(berkeley(), 23.385), (geography(), 8.0855), (two_way("a", "b", per_answer=True), 131.24)],
)
def test_the_chord_problem_is_solved(wanted, least):
    """If precision were proportional to the share, the least error is K: every gain is 1 there."""
    families = list(candidate_families(wanted))
    error = error_over(wanted, families, 1.0)
    shares = chord_shares(error)
    value = error.weighed(shares @ error.loads)
    assert value == pytest.approx(least, abs=6e-3)
    gains = error.loads @ (error.spectra[0] / (shares @ error.loads) ** 2)
    assert gains.max() / value == pytest.approx(1, abs=2e-3)


def test_margins_of_many_axes_are_searched_among_what_is_useful():
    """All pairs of 6 axes: 64 families. Of 12: the 66 wanted ones, total and single ones among them, and the cells."""
    six = Domain({name: range(3) for name in "abcdef"})
    pairs = {f"{a} {b}": 1 for a, b in combinations("abcdef", 2)}
    assert len(candidate_families(Workload(six, pairs))) == 64
    assert len(candidate_families(Workload(six, {"a": 1, "b": 1}))) == 4
    twelve = Domain({name: range(2) for name in "abcdefghijkl"})
    many = candidate_families(Workload(twelve, {f"{a} {b}": 1 for a, b in combinations("abcdefghijkl", 2)}))
    assert len(many) == 67
    assert (0,) * 12 in many
    single = Workload.sums(Domain(t=bins(8)), [{"t": slice(0, 4)}])
    assert set(named_candidates(single, ["t/4", "t"])) == {(0,), (2,)}
    assert [shares.tolist() for shares in plain_shares(single, [(0,), (2,)])] == [[0, 1], [0, 1], [0.5, 0.5]]


def test_the_same_shares_every_time():
    """Nothing is drawn at random."""
    assert least_shares(berkeley(), candidate_families(berkeley()), 0.1) == least_shares(
        berkeley(), candidate_families(berkeley()), 0.1
    )


def test_a_level_too_small_for_floats_is_refused():
    with pytest.raises(NotALevel, match="1e-100"):
        choose_plan(Workload(Domain(a=range(3)), {"a": 1}), Unit(1, 1), epsilon="1e-400")
