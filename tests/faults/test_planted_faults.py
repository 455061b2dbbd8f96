"""Faults that would break the promise, planted in the real code one at a time, and the check that catches each."""

import os
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from faults.gradual_checks import CHECKS

# Faults are planted in the code itself.
# Faults are planted in these modules.
# Faults are planted where the code stands.
from utmost.core.gradual import steps
from utmost.core.sampling import draw, geometric_draws, integers, level_draws, process_memory, random_bits
from utmost.core.sampling.random_bits import Keystream
from utmost.gradual import Bridge
from utmost.noise import Geometric
from utmost.publish.promises import lattice, level_steps
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.level_steps import Step
from utmost.publish.releases import gradual_release, noised_cells
from utmost.publish.releases.noised_cells import History
from utmost.testing import SeededRandomness

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
pytestmark = [posix, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]


def fresh_noise_on_relax(plant):
    def extended(self, at, lattice, randomness, method):
        count = self.where.size
        noise = integers.joined(
            draw.draws(Geometric(lattice.of(at)), count, randomness=randomness, method=method), count
        )
        block = lattice.place(count, randomness) if self.block is None else self.block
        return History(self.where, block, {**self.known, at: noise})

    plant.setattr(History, "extended", extended)


def fresh_noise_from_the_relax_kernel(plant):
    """The noise that is relaxed is drawn anew instead of taken from the response."""
    real = Step.drawn

    def drawn(self, unit, below, above, count, randomness, method):
        if self.how == "relax":
            anew = draw.draws(Geometric(unit.of(self.lower)), count, randomness=randomness, method=method)
            below = integers.joined(anew, count)
        return real(self, unit, below, above, count, randomness, method)

    plant.setattr(Step, "drawn", drawn)


def answered_anew_each_time(plant):
    real = History.extended

    def extended(self, at, unit, randomness, method):
        return real(History(self.where, self.block, {}), at, unit, randomness, method)

    plant.setattr(History, "extended", extended)


def wrong_weight_of_staying(plant):
    """A square forgotten in w = (b/a) ((1-a)/(1-b))^2."""
    plant.setattr(steps, "staying", lambda b, a: b / a * (1 - a) / (1 - b))
    plant.setattr(steps, "changing", lambda b, a: 1 - b / a * (1 - a) / (1 - b))


def wrong_weight_in_the_draw(plant):
    """The response stays seven times where it should stay ten."""
    real = Bridge.stay.fget
    plant.setattr(Bridge, "stay", property(lambda self: lambda n: real(self)(n) * Fraction(7, 10)))


def the_bridge_ignored(plant):
    """A level between two others is made from the response at the higher one alone."""
    real = Step.drawn

    def drawn(self, unit, below, above, *rest):
        step = replace(self, lower=None) if self.how == "bridge" else self
        return real(step, unit, below, above, *rest)

    plant.setattr(Step, "drawn", drawn)


def levels_mixed_up(plant):
    """The relaxing law is asked for twice the level."""
    real = Step.drawn

    def drawn(self, *rest):
        return real(replace(self, to=self.to.scaled(2)) if self.how == "relax" else self, *rest)

    plant.setattr(Step, "drawn", drawn)


def sensitivity_doubled(plant):
    real = Lattice.of
    plant.setattr(Lattice, "of", lambda self, at: real(replace(self, sensitivity=2 * self.sensitivity), at))


def sensitivity_forgotten(plant):
    real = Lattice.of
    plant.setattr(Lattice, "of", lambda self, at: real(replace(self, sensitivity=1), at))


def one_place_too_many_in_a_block(plant):
    real = lattice.uniform_integers
    plant.setattr(lattice, "uniform_integers", lambda bound, *rest: real(bound + 1, *rest))


def sizes_off_by_one(plant):
    """The bridge works with |W| + 1 where it should have |W|."""
    real = level_draws._ManyBridge.draw
    plant.setattr(level_draws._ManyBridge, "draw", lambda self, w, bits: real(self, w + np.sign(w), bits))


def seeded_sources_pass(plant):
    plant.setattr(SeededRandomness, "is_secure", True)


def any_source_passes(plant):
    for module in (gradual_release, level_steps):
        plant.setattr(module, "secure", lambda randomness: randomness)


def truncated_tail(plant):
    """What lies past the last threshold is counted as the last value."""

    def tops(self, count, randomness):
        index = self._top.draw(count, randomness)
        return (index >> self._mark_bits).astype(np.int64), index & ((1 << self._mark_bits) - 1)

    plant.setattr(geometric_draws.MarkedGeometricSampler, "_tops", tops)


def float_laplace(plant):
    """The textbook formula in floats beside the exact one."""
    rng = np.random.default_rng(1)

    def write(self, shape, released):
        return released * 2.0**-self.exponent + rng.laplace(size=shape) * 1e-9

    plant.setattr(Lattice, "write", write)


def float_noise_on_integers(plant):
    """Noise rounded from the logarithm of a float, at a scale that is a little too small."""
    rng = np.random.default_rng(1)

    def draws(law, count, **_):
        yield np.rint(rng.laplace(scale=1 / law.level.epsilon_float, size=count)).astype(np.int64)

    plant.setattr(level_steps, "draws", draws)


def overflow(plant):
    with_wrapping = lambda x, y: x.astype(np.int64) + y.astype(np.int64)  # noqa: E731
    for module in (noised_cells, level_steps):
        plant.setattr(module, "add", with_wrapping)


def forked_streams(plant):
    kept = Keystream(os.urandom(32), os.urandom(16))
    plant.setattr(random_bits.SystemRandomness, "_stream", lambda self: kept)


def forked_releases(plant):
    plant.setattr(process_memory.os, "getpid", lambda: 1)


def operating_system_without_entropy(plant):
    """Its source is stuck, and nobody notices."""
    plant.setattr(random_bits, "entropy", bytes)


FAULTS = {
    fresh_noise_on_relax: "audit",
    partial(fresh_noise_on_relax): "joint_law",
    fresh_noise_from_the_relax_kernel: "joint_law",
    answered_anew_each_time: "same_answer_again",
    wrong_weight_of_staying: "kernels",
    wrong_weight_in_the_draw: "joint_law",
    the_bridge_ignored: "joint_law",
    levels_mixed_up: "margins",
    sensitivity_doubled: "margins",
    sensitivity_forgotten: "margins",
    one_place_too_many_in_a_block: "half_step",
    sizes_off_by_one: "joint_law",
    seeded_sources_pass: "seeded_sources_refused",
    any_source_passes: "seeds_and_clocks_refused",
    truncated_tail: "no_tail_is_cut",
    float_laplace: "reals_are_on_the_grid",
    float_noise_on_integers: "margins",
    overflow: "nothing_wraps",
    forked_streams: "children_draw_their_own",
    forked_releases: "children_answer_nothing_new",
    operating_system_without_entropy: "children_draw_their_own",
}


@pytest.fixture(autouse=True)
def _no_sampler_survives():
    """Samplers are kept by kernel: one made under a fault must not serve another test."""
    kept = (draw._many, level_draws._tightening, level_draws._bridge)
    for cache in kept:
        cache.cache_clear()
    yield
    for cache in kept:
        cache.cache_clear()


@pytest.mark.parametrize("check", CHECKS)
def test_the_real_code_passes(check):
    assert CHECKS[check]()


def name_of(fault):
    return getattr(fault, "func", fault).__name__


@pytest.mark.parametrize(("fault", "check"), FAULTS.items(), ids=[f"{name_of(f)}-{c}" for f, c in FAULTS.items()])
def test_a_fault_is_caught(monkeypatch, fault, check):
    fault(monkeypatch)
    assert not CHECKS[check](), f"{name_of(fault)} passed {check}"


def test_there_are_faults_enough():
    """R5 asks for twelve kinds at least; and every check is there for some fault."""
    assert len(FAULTS) >= 12
    assert set(FAULTS.values()) == set(CHECKS)
