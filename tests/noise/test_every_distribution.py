"""Each distribution of the library is public, and made again from its repr and from its parameters."""

import inspect
import pickle
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from every_noise import DISTRIBUTIONS, EXAMPLES, ROWS
from goodness import LEVEL, chi_square
from kinds import concrete_classes
from utmost.core import noise as package
from utmost.core.noise.distribution import NO_CLAIM
from utmost.errors import Unsupported
from utmost.noise import DiscreteStaircase, Distribution, Geometric, IntegerDistribution
from utmost.privacy_types import check_promise
from utmost.promises import DistributionNoise
from utmost.sampling import on_grid, sample
from utmost.testing import SeededRandomness

NAMES = {"level": ut.level} | {name: getattr(ut.noise, name) for name in ut.noise.__all__}
ON_INTEGERS = [example for example in EXAMPLES if example.numbers == "integers"]
POINTS = np.arange(-40, 41) / 4


def test_every_distribution_is_public_and_in_the_table_of_tests():
    public = {kind for kind in concrete_classes(package, Distribution) if not kind.__name__.startswith("_")}
    assert public == {*DISTRIBUTIONS}
    assert {*DISTRIBUTIONS} <= {*NAMES.values()}


@pytest.mark.parametrize("distribution", EXAMPLES, ids=repr)
def test_its_repr_typed_back_and_its_pickle_are_equal_and_nothing_can_be_set(distribution):
    for again in (eval(repr(distribution), dict(NAMES)), pickle.loads(pickle.dumps(distribution))):
        assert (again, hash(again), repr(again)) == (distribution, hash(distribution), repr(distribution))
    with pytest.raises(AttributeError):
        distribution.sensitivity = 3


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


@pytest.mark.parametrize("distribution", ON_INTEGERS, ids=repr)
def test_what_holds_for_geometric_noise_alone_is_copied_by_no_other(distribution):
    """Margins of sums take noise that has a `ratio` for geometric noise; statements print what `theorem` claims."""
    same = None if distribution.ratio is None else Geometric(distribution.ratio)
    assert same is None or all(distribution.pmf(x) == same.pmf(x) for x in range(9))
    if type(distribution) not in (Geometric, DiscreteStaircase):
        assert (distribution.ratio, distribution.theorem) == (None, NO_CLAIM), "prove it, and name the class here"


@pytest.mark.parametrize("distribution", ON_INTEGERS, ids=repr)
@pytest.mark.parametrize("steps", [0, 1, 7])
def test_a_closed_form_of_the_mean_beyond_is_the_sum(distribution, steps):
    assert distribution.mean_beyond(steps) == pytest.approx(IntegerDistribution.mean_beyond(distribution, steps))


@pytest.mark.parametrize("kind", ROWS)
def test_its_draws_do_not_move(kind):
    """Ledgers whose noise follows from a key give the same answers in every version."""
    make, frozen = ROWS[kind]
    drawn = sample(make(ut.level(1), 2, 1), 8, randomness=SeededRandomness("draws"))
    assert " ".join(f"{x:.9g}" for x in drawn.tolist()) == frozen


@pytest.mark.parametrize("distribution", ON_INTEGERS, ids=repr)
def test_a_promise_names_it_and_a_ledger_publishes_it_at_one_level(distribution, tmp_path):
    """By its class and its arguments alone; the statement is read back, and no other level is answered."""
    numbers = {name: number for name, number in distribution.parameters.items() if name != "sensitivity"}
    named = f"{type(distribution).__name__}({', '.join(f'{name}={number}' for name, number in numbers.items())})"
    noise = DistributionNoise(ut.Unit(distribution.sensitivity, 1), named)
    assert noise.at(distribution.level).distribution == distribution
    promise, table = ut.Promise(["n", "m"], noise=noise), {"n": [5, 900], "m": [7, -2]}
    with ut.Ledger.open(tmp_path / "a.db", create=True, witness=False) as ledger:
        answer = ledger.publish("a", table, promise, epsilon=distribution.level)
        with pytest.raises(Unsupported, match="one level only"):
            ledger.relax("a", table, epsilon=distribution.level.scaled(2))
        with pytest.raises(Unsupported, match="one level only"):
            ledger.view("a", epsilon=distribution.level.scaled("1/2"))
        assert ledger.spent("a") == distribution.level
    answer.save(tmp_path / "a.csv")
    again = ut.read_release(tmp_path / "a.csv")
    assert (again.promise, again.margin()) == (answer.promise, distribution.margin())
    assert repr(distribution) in again.statement["noise"]["drawn"]
    with pytest.raises(Unsupported, match="Leave out keyed_by_id"):  # no engine was there to leave
        ut.Promise("n", noise=noise, id_column="id", keyed_by_id=True)


@pytest.mark.parametrize("distribution", [Geometric(1, 10**30), DiscreteStaircase(1, 10**30)], ids=repr)
def test_a_distance_is_an_integer_or_a_fraction(distribution):
    """A quotient of integers was a float, and the loss at 2^53 + 1 that of 2^53: below the true one."""
    for distance in (2**53 + 1, 10**30):
        assert distribution.worst_level(distance) == distribution.worst_level(Fraction(distance))


@pytest.mark.parametrize(
    "distribution", [Geometric("1/3", 2), Geometric(alpha="1/2"), DiscreteStaircase(1, 4)], ids=repr
)
def test_the_mean_beyond_a_size_is_the_sum_of_its_tails(distribution):
    """E max(X - k, 0) = sum over i >= k of P(X > i)."""
    for k in (0, 1, 3, 10):
        tails = sum(float(distribution.ccdf(i)) for i in range(k, 400))
        assert distribution.mean_beyond(k) == pytest.approx(tails, rel=1e-10)
