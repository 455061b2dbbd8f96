"""Levels too large to protect anybody, and sensitivities beyond any query: answered at once, or refused by name."""

import json

import pytest

import utmost as ut
from surface import processor_time
from utmost.errors import OutOfRange
from utmost.noise import Staircase
from utmost.releases import GradualRelease, relax, tighten

TABLE = {"n": [3, 4]}
LARGE = ["1e4", "1e30"]


@pytest.fixture(autouse=True)
def at_once():
    """Fail if a call takes more than two seconds of processor time."""
    with processor_time(2):
        yield


@pytest.mark.parametrize("epsilon", [*LARGE, "1e-6", "50"])
@pytest.mark.parametrize("relaxable", [False, True])
def test_a_release_at_any_level_is_stated(epsilon, relaxable):
    promise = ut.Promise(columns="n", unit=ut.Unit(1, 1)).once(relaxable=relaxable)
    made = ut.release(TABLE, promise, epsilon=epsilon, once=True)
    stated = json.loads(json.dumps(made.statement, allow_nan=False))
    assert stated["epsilon_rounded_up"] >= float(epsilon)
    assert epsilon not in LARGE or list(made.table["n"]) == [3, 4]


@pytest.mark.parametrize("epsilon", ["1e5", "1e30"])
def test_a_staircase_too_steep_for_floats_is_refused_by_name(epsilon):
    with pytest.raises(OutOfRange, match="epsilon below"):
        Staircase(epsilon=epsilon, sensitivity=1)


def test_reals_are_released_with_laplace_noise_at_any_level():
    made = ut.release(
        {"x": [0.5]},
        ut.Promise(columns="x", noise=ut.CellNoise(ut.Unit(3, 1), numbers="reals")).once(relaxable=True),
        epsilon="1e6",
        once=True,
    )
    assert abs(made.table["x"][0] - 0.5) < 0.01


@pytest.mark.parametrize("epsilon", LARGE)
def test_relaxing_to_a_large_level_and_back(epsilon):
    assert relax([5, 6], 1, epsilon) is not None
    assert tighten([5, 6], epsilon, 1) is not None
    assert GradualRelease([5, 6], 1).at(epsilon).tolist() == [5, 6]


@pytest.mark.parametrize("call", [relax, tighten])
def test_a_sensitivity_beyond_any_query_is_refused(call):
    with pytest.raises(OutOfRange, match="sensitivity"):
        call([5, 6], 1 if call is relax else 2, 2 if call is relax else 1, unit=ut.Unit(1 << 5000, 1))


@pytest.mark.parametrize(("epsilon", "text"), [("1/2", "1.65"), ("1e4", "8.81e+4342"), ("1e9", "10^434294482")])
def test_the_factor_of_a_level_is_written_in_few_digits(epsilon, text):
    """exp(10^4) = 8.8068182256...e4342, rounded up."""
    made = ut.release(TABLE, ut.Promise("n", unit=ut.Unit(1, 1)), epsilon=epsilon, once=True)
    assert f"by at most {text} (epsilon" in made.statement["guarantee"]
