"""Each distribution of the library is public, and made again from its repr and from its parameters."""

import inspect
from dataclasses import fields

import numpy as np
import pytest

import utmost as ut
from every_noise import DISTRIBUTIONS, EXAMPLES
from goodness import LEVEL, chi_square
from kinds import concrete_classes
from utmost.core import noise as package
from utmost.noise import Distribution
from utmost.privacy_types import check_promise
from utmost.sampling import on_grid, sample

NAMES = {"level": ut.level} | {name: getattr(ut.noise, name) for name in ut.noise.__all__}
POINTS = np.arange(-40, 41) / 4


def test_every_distribution_is_public_and_in_the_table_of_tests():
    assert {*concrete_classes(package, Distribution)} == {*DISTRIBUTIONS}
    assert {*DISTRIBUTIONS} <= {*NAMES.values()}


@pytest.mark.parametrize("distribution", EXAMPLES, ids=repr)
def test_its_repr_typed_back_is_equal_and_looks_the_same(distribution):
    again = eval(repr(distribution), dict(NAMES))
    assert again == distribution
    assert hash(again) == hash(distribution)
    assert repr(again) == repr(distribution)


@pytest.mark.parametrize("distribution", EXAMPLES, ids=repr)
def test_it_is_made_again_from_its_parameters(distribution):
    """Statements show them: if one is left out, a reader makes another distribution."""
    again = type(distribution)(distribution.level, **distribution.parameters)
    assert again == distribution
    assert (again.cdf(POINTS) == distribution.cdf(POINTS)).all()


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_every_argument_is_a_parameter(kind):
    """But the level, and a field that is no part of equality: the cost that chooses the step of a staircase."""
    arguments = inspect.signature(kind).parameters.keys() - {"epsilon", "alpha"}
    choosing = {field.name for field in fields(kind) if not field.compare}
    for distribution in EXAMPLES:
        if type(distribution) is kind:
            assert {*distribution.parameters} == arguments - choosing


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_the_table_varies_every_parameter(kind):
    """A parameter that is the same in all examples could be missing in a repr."""
    made = [distribution.parameters for distribution in EXAMPLES if type(distribution) is kind]
    assert all(len({one[name] for one in made}) > 1 for name in made[0])


@pytest.mark.parametrize("distribution", EXAMPLES, ids=repr)
def test_it_keeps_its_level_and_is_drawn(distribution):
    check_promise(distribution)
    lattice, exponent = on_grid(distribution)
    drawn = sample(distribution, 20_000)
    points = drawn if exponent is None else np.ldexp(drawn, exponent).astype(np.int64)
    assert chi_square(points, lattice.cdf) > LEVEL
