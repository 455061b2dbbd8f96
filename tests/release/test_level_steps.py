"""Single steps between levels, for callers who have the responses or the noise."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

import utmost as ut
from goodness import LEVEL, mass_chi_square
from utmost.errors import NotALevel, NotANumber, OutOfRange, Unsupported
from utmost.exact import level
from utmost.gradual import LaplaceRelaxing, LaplaceTightening, Relaxing, Tightening
from utmost.privacy import Amount
from utmost.releases import bridge, path, relax, tighten

N = 60_000


def test_sensitivity_and_cells_share_the_level():
    """sensitivity 2 and 3 cells: the transitions at epsilon/6 per unit; where no noise is named, those at epsilon."""
    lower, higher = (level(epsilon=Fraction(e, 6)) for e in (1, 2))
    options = {"cell_noise": ut.CellNoise(ut.Unit(2, 3))}
    assert mass_chi_square(tighten(np.zeros(N, int), 2, 1, **options), Tightening(lower, higher).pmf) > LEVEL
    assert mass_chi_square(relax(np.full(N, 4), 1, 2, **options), lambda k: Relaxing(lower, higher).pmf(k, 4)) > LEVEL
    assert mass_chi_square(tighten(np.zeros(N, int), 2, 1), Tightening(level(1), level(2)).pmf) > LEVEL


def test_steps_on_the_reals_are_laplace_transitions():
    one, two = level(epsilon=1), level(epsilon=2)
    moved = tighten(np.full(N, 0.5), from_epsilon=2, to_epsilon=1, cell_noise=REALS) - 0.5
    W = LaplaceTightening(one, two)
    assert (moved == 0).mean() == pytest.approx(float(W.stay), abs=0.01)
    assert stats.kstest(moved[moved != 0], stats.laplace(scale=1).cdf).pvalue > LEVEL
    relaxed = relax(np.full(N, -1.5), from_epsilon=1, to_epsilon=2, cell_noise=REALS)
    R = LaplaceRelaxing(one, two)
    assert (relaxed == -1.5).mean() == pytest.approx(R.pieces(-1.5).stay, abs=0.01)
    for y in (-2.0, -1.0, 0.0, 0.5):
        assert (relaxed <= y).mean() == pytest.approx(R.cdf(y, -1.5), abs=0.01)
    between = bridge(
        np.full(9, 0.25),
        np.full(9, 0.5),
        lower=1,
        middle="3/2",
        higher=2,
        cell_noise=ut.CellNoise(ut.Unit(1, 1), "reals", grid="1/1024"),
    )
    assert (np.mod(between, 1 / 1024) == 0).all()


HALF_STEPS, REALS = ut.CellNoise(ut.Unit(5, 1), half_step=True), ut.CellNoise(ut.Unit(1, 1), "reals")


def test_half_steps_move_by_blocks():
    noise = np.arange(-7, 8)
    relaxed = relax(noise, from_epsilon=1, to_epsilon=3, cell_noise=HALF_STEPS)
    assert ((noise - relaxed) % 5 == 0).all()
    assert ((relaxed + 2) // 5 * 5 != relaxed).any()
    assert ((tighten(noise, from_epsilon=3, to_epsilon=1, cell_noise=HALF_STEPS) - noise) % 5 == 0).all()
    mid = bridge(noise + 10, noise, lower=1, middle=2, higher=3, cell_noise=HALF_STEPS)
    assert ((mid - noise) % 5 == 0).all()
    with pytest.raises(OutOfRange):
        bridge(noise + 1, noise, lower=1, middle=2, higher=3, cell_noise=HALF_STEPS)


edges = st.sampled_from([-(2**63), 1 - 2**63, -1, 0, 1, 2**62, 2**63 - 2, 2**63 - 1]) | st.integers(-(2**63), 2**63)


@given(st.integers(0, 10**6) | st.integers(2**60, 2**64), edges, edges)
@example(1, 2**62, 0)
@example(2**62 - 1, 1, -1)
def test_blocks_and_noise_of_any_size_never_wrap(half, coarse, place):
    """Noise is a position in the middle block plus whole blocks: at a very large level only the position remains."""
    block = 2 * half + 1
    how = {"cell_noise": ut.CellNoise(ut.Unit(block, 1), half_step=True)}
    for noise in (place, block * coarse + place):
        assert relax(noise, 1, 1, **how) == noise
        found = relax(noise, 1, 300, **how)
        assert abs(found) <= half
        assert (noise - found) % block == 0


@pytest.mark.parametrize(
    "response", [5, 0.25, 3.0, [1, 2], [0.5], [1, 2.0], np.zeros((2, 3), int), np.array([], float)]
)
def test_the_shape_is_kept_and_the_domain_decides_the_kind(response):
    """The result has the shape of the response, and a type that depends on the numbers' domain only."""
    whole = not np.size(response) or (np.mod(np.asarray(response, float), 1) == 0).all()
    for numbers, kind in (("integers", np.int64), ("reals", np.float64)):
        if numbers == "integers" and not whole:
            with pytest.raises(NotANumber, match="integers"):
                tighten(response, from_epsilon=2, to_epsilon=1)
            continue
        noise = ut.CellNoise(ut.Unit(1, 1), numbers)
        made = (
            tighten(response, from_epsilon=2, to_epsilon=1, cell_noise=noise),
            relax(response, from_epsilon=1, to_epsilon=2, cell_noise=noise),
            bridge(response, response, lower=1, middle=2, higher=3, cell_noise=noise),
        )
        for one in made:
            assert np.shape(one) == np.shape(response)
            assert isinstance(one, float | int) == isinstance(response, float | int)
            assert np.asarray(one).dtype == kind


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
def test_the_smallest_integers_of_each_kind(kind):
    """-128 has no negative in int8; nothing wraps, and responses have a type that is wide enough."""
    least = np.iinfo(kind).min
    edge = np.array([least, -least - 1], kind)
    assert np.abs(relax(edge, from_epsilon=1, to_epsilon=300)).tolist() == [0, 0]
    assert bridge(edge, -1 - edge, lower=1, middle=200, higher=300).tolist() == [-least - 1, least]
    assert tighten(edge, from_epsilon=300, to_epsilon=300).tolist() == edge.tolist()
    assert max(abs(a - b) for a, b in zip(tighten(edge, 300, 1).tolist(), edge.tolist(), strict=True)) < 100


def test_steps_that_go_nowhere():
    x = np.array([3, -1])
    assert tighten(x, 1, 1).tolist() == relax(x, 1, 1).tolist() == [3, -1]
    assert bridge(x, x + 9, lower=1, middle=1, higher=2).tolist() == [3, -1]
    assert bridge(x, x + 9, lower=1, middle=2, higher=2).tolist() == [12, 8]
    same = relax(x, 1, 1)
    same[0] = 99
    assert x[0] == 3, "what came is not what goes out"


def test_refusals():
    with pytest.raises(OutOfRange, match="tighten"):
        tighten(1, from_epsilon=1, to_epsilon=2)
    with pytest.raises(OutOfRange, match="relax"):
        relax(1, from_epsilon=2, to_epsilon=1)
    for at in ("1/2", 3):
        with pytest.raises(OutOfRange, match="between"):
            bridge(1, 2, lower=1, middle=at, higher=2)
    with pytest.raises(OutOfRange, match="shape"):
        bridge([1], [1, 2], lower=1, middle="3/2", higher=2)
    with pytest.raises(OutOfRange, match="multiples"):
        relax(0.3, from_epsilon=1, to_epsilon=2, cell_noise=ut.CellNoise(ut.Unit(1, 1), "reals", grid="1/4"))
    with pytest.raises(NotALevel):
        tighten(1, from_epsilon=2, to_epsilon=0)
    for unit in (ut.Unit(2, 3, in_total=4), ut.Unit(1, 1, amount=Amount("paid", "1/4"))):
        with pytest.raises(Unsupported):
            relax([1, 2], from_epsilon=1, to_epsilon=2, cell_noise=ut.CellNoise(unit))
    with pytest.raises(NotANumber):
        relax(None, from_epsilon=1, to_epsilon=2)


def test_a_path_is_one_history():
    """At its start the path is the given noise, later a relaxation of it, and at infinity 0."""
    found = [path(1, noise=3) for _ in range(3000)]
    assert {one.at(epsilon=1) for one in found} == {3}
    assert (
        mass_chi_square(
            np.array([one.at(epsilon=2) for one in found]), lambda k: Relaxing(level(1), level(2)).pmf(k, 3)
        )
        > LEVEL
    )
    assert {one.at(epsilon=500) for one in found} == {0}


def test_the_jumps_of_a_path():
    """The jumps, summed from the start, give the noise at every level; on a grid, as floats."""
    for options in ({}, {"sensitivity": 4, "cells": 2}, {"numbers": "reals", "grid": "1/1024"}):
        found = path("1/20", **options)
        noise = found.at(epsilon="1/20")
        for epsilon, size in found.jumps:
            assert found.at(epsilon=epsilon * 0.999999) == pytest.approx(noise)
            noise += size
            assert found.at(epsilon=epsilon * 1.000001) == pytest.approx(noise)
        assert noise == pytest.approx(0)
        assert [e for e, _ in found.jumps] == sorted(e for e, _ in found.jumps)
        assert repr(found) == f"NoisePath(start=epsilon=1/20, {len(found.jumps)} jumps)"
    assert isinstance(path(1, numbers="reals", grid="1/2").at(epsilon=2), float)
    assert isinstance(path(1, noise=0.5, numbers="reals").at(epsilon=2), float)
    with pytest.raises(OutOfRange):
        path(1).at(epsilon="1/2")
    with pytest.raises(OutOfRange, match="a single number"):
        path(1, noise=[1, 2])
