"""The algebra of losses, equations 13 and 14: what each operation does to every uncertainty."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import losses, priors
from utmost.errors import NotALoss, OutOfRange
from utmost.leakage import l_uncertainty
from utmost.spaces import joint_loss, lifted_loss, restricted_loss, scaled_loss
from utmost.testing import strategies


@st.composite
def situations(draw):
    n = draw(st.integers(1, 5))
    return (
        draw(strategies.channels(n, 3)),
        draw(strategies.priors(n)),
        draw(strategies.any_losses(n, 2)),
        draw(strategies.any_losses(n, 3)),
    )


@given(situations())
def test_uncertainties_of_a_sum_add_up(situation):
    """Equation 13: the two actions are chosen apart."""
    C, prior, one, two = situation
    both = joint_loss(one, two)
    assert both.shape == (len(prior), 6)
    assert l_uncertainty(both).posterior(C, prior) == l_uncertainty(one).posterior(C, prior) + l_uncertainty(
        two
    ).posterior(C, prior)
    assert (both[:, 5] == one[:, 1] + two[:, 2]).all()


@given(situations(), st.data())
def test_a_scaled_loss_is_another_prior(situation, data):
    """Equation 14: U_vl[p, C] = s U_l[q, C], with q in proportion to p v and s the sum of p v."""
    C, prior, loss, _ = situation
    n = len(prior)
    v = data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    weighed = prior * np.array(v, dtype=object)
    scaled = l_uncertainty(scaled_loss(v, loss)).posterior(C, prior)
    total = sum(weighed)
    assert scaled == (0 if total == 0 else total * l_uncertainty(loss).posterior(C, priors.from_counts(weighed)))
    assert (scaled_loss(F(3), loss) == 3 * loss).all()


@given(situations(), st.data())
def test_a_lifted_loss_regards_its_secrets_only(situation, data):
    """U_{l lifted}[p, C] = p(X) U_l[p given X, C restricted to X]; and restricting what was lifted gives it back."""
    C, prior, loss, _ = situation
    n = len(prior)
    inside = data.draw(st.permutations(range(n)))[: data.draw(st.integers(1, n))]
    part = restricted_loss(loss, inside)
    lifted, share = lifted_loss(part, inside, n), sum(prior[inside])
    expected = (
        0
        if share == 0
        else share * l_uncertainty(part).posterior(C.restrict(inside), priors.from_counts(prior[inside]))
    )
    assert l_uncertainty(lifted).posterior(C, prior) == expected
    assert (restricted_loss(lifted, inside) == part).all()
    outside = [x for x in range(n) if x not in inside]
    assert (lifted[outside] == 0).all()


def test_floats_stay_floats():
    floats, exact = np.array([[0.5, 1.0]]), losses.binary.matrix(1)
    for result in (joint_loss(floats, exact), scaled_loss([0.5], exact), lifted_loss(floats, [0], 2)):
        assert result.dtype == np.float64
        assert not result.flags.writeable


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: joint_loss([[0]], [[0], [1]]), OutOfRange, "must have 1 rows"),
        (lambda: scaled_loss([1, 2], [[0]]), NotALoss, "or 1 numbers"),
        (lambda: scaled_loss([-1], [[0]]), NotALoss, "not be negative"),
        (lambda: scaled_loss(["x"], [[0]]), NotALoss, "finite number"),
        (lambda: restricted_loss([[0]], [1]), OutOfRange, r"0\.\.0"),
        (lambda: restricted_loss([[0]], []), OutOfRange, "at least one"),
        (lambda: lifted_loss([[0], [1]], [0, 0], 3), OutOfRange, "2 different"),
        (lambda: lifted_loss([[0], [1]], [0, 1, 1], 3), OutOfRange, "2 different"),
        (lambda: lifted_loss([[0]], [3], 3), OutOfRange, r"in 0\.\.2"),
        (lambda: lifted_loss([[-1]], [0], 3), NotALoss, "negative"),
    ],
)
def test_refusals(call, error, says):
    with pytest.raises(error, match=says):
        call()
