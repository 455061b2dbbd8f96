"""Losses and priors by name."""

from fractions import Fraction

import pytest

from utmost import losses, priors
from utmost.errors import OutOfRange
from utmost.spaces import Consumer

NAMED = {
    "absolute": losses.absolute,
    " Squared ": losses.squared,
    "binary": losses.binary,
    "nib": losses.nib,
    "power:1.5": losses.power("1.5"),
    "asymmetric:1, 3": losses.asymmetric(1, 3),
    "thresholded:2": losses.thresholded(2),
    "capped:1/2": losses.capped("1/2"),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_loss_by_name_is_that_loss(name):
    prior = priors.uniform(4)
    assert Consumer(prior, losses.loss_named(name)).same_as(Consumer(prior, NAMED[name]))


@pytest.mark.parametrize(
    "name",
    ["", "cubic", "power", "power:", "power:x", "power:-1", "power:1,2", "absolute:1", "asymmetric:1",
     "asymmetric:1,-3", "thresholded:nan", "capped:-1"],
)  # fmt: skip
def test_any_other_loss_is_refused(name):
    with pytest.raises(OutOfRange):
        losses.loss_named(name)


def test_a_prior_by_name_is_that_prior_in_either_kind():
    expected = {
        "uniform": priors.uniform(4),
        "binomial:1/3": priors.binomial(3, "1/3"),
        "POISSON:4": priors.truncated_poisson(4, 4),
    }
    for name, prior in expected.items():
        assert priors.prior_named(name, 4).tolist() == prior.tolist()
        floats = priors.prior_named(name, 4, exactly=False)
        assert floats.dtype == float
        assert floats.tolist() == pytest.approx([float(p) for p in prior])
    assert priors.prior_named("uniform", 1).tolist() == [Fraction(1)]


@pytest.mark.parametrize(
    "name", ["", "normal", "uniform:3", "binomial", "binomial:", "binomial:2", "poisson:x", "poisson:-1", "poisson:inf"]
)
def test_any_other_prior_is_refused(name):
    with pytest.raises(OutOfRange):
        priors.prior_named(name, 4)
