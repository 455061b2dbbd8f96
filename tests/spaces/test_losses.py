"""Losses: their formulas, kinds of numbers and refusals."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import losses
from utmost.errors import NotALoss, NotANumber
from utmost.exact import is_exact
from utmost.spaces import Loss, Space, grid, hamming

FORMULAS = [
    (losses.absolute, lambda i, r: abs(i - r)),
    (losses.squared, lambda i, r: (i - r) ** 2),
    (losses.binary, lambda i, r: int(i != r)),
    (losses.nib, lambda i, r: int(i == r)),
    (losses.power(3), lambda i, r: abs(i - r) ** 3),
    (losses.asymmetric(2, "1/3"), lambda i, r: 2 * (r - i) if r > i else Fraction(i - r, 3)),
    (losses.thresholded(2), lambda i, r: int(abs(i - r) > 2)),
    (losses.thresholded(1.5), lambda i, r: int(abs(i - r) > 1)),
    (losses.capped(3), lambda i, r: min(abs(i - r), 3)),
    (losses.capped("5/2", losses.squared), lambda i, r: min((i - r) ** 2, Fraction(5, 2))),
    (losses.from_function(lambda i, r: i + 2 * r), lambda i, r: i + 2 * r),
]


@pytest.mark.parametrize(("loss", "formula"), FORMULAS, ids=lambda x: repr(x) if isinstance(x, Loss) else "")
@given(secrets=st.integers(1, 7), actions=st.integers(1, 7))
def test_the_matrix_is_the_formula(loss, formula, secrets, actions):
    """Entry (i, r) is l(i, r), exactly, whatever the numbers of secrets and actions."""
    matrix = loss.matrix(secrets, actions)
    assert is_exact(matrix)
    assert matrix.tolist() == [[formula(i, r) for r in range(actions)] for i in range(secrets)]
    floats = loss.block(np.arange(secrets), np.arange(actions), floats=True)
    assert floats.dtype == np.float64
    np.testing.assert_allclose(floats, matrix.astype(float))


def test_a_float_parameter_makes_floats():
    """power(3/2) is irrational; prices and caps are of the kind of their parameters."""
    assert losses.power(1.5).matrix(3)[0].tolist() == [0.0, 1.0, 2**1.5]
    assert losses.power(2.0).exact
    assert not is_exact(losses.asymmetric(0.5, 1).matrix(2))
    assert not is_exact(losses.capped(0.5).matrix(2))
    assert losses.absolute(3, 5) == 2
    for loss, _ in FORMULAS:
        assert loss.exact in (True, None)


def test_high_powers_do_not_overflow():
    """|i - r|^40 is larger than any machine integer."""
    assert losses.power(40).matrix(11)[0, 10] == 10**40
    assert losses.power(40).matrix(11)[0, 1] == 1


def test_distance_is_the_loss_of_a_space():
    """d(i, r) in any space, exact where it is rational."""
    assert losses.distance(hamming(2)).matrix(4).tolist() == hamming(2).distances.tolist()
    assert (losses.distance(grid(2, 2)).matrix(4) == grid(2, 2).distances).all()
    assert losses.distance(hamming(2)).exact
    assert not losses.distance(grid(2, 2)).exact
    half = Space([[0, "1/2"], ["1/2", 0]])
    assert losses.distance(half).exact
    assert losses.distance(half).matrix(2)[0, 1] == Fraction(1, 2)


def test_loss_matrices_keep_their_kind():
    """Any nonnegative matrix; actions may be more or fewer than secrets."""
    assert is_exact(losses.loss_matrix([[0, 1, 2]]))
    assert losses.loss_matrix([[0, 0.5]]).dtype == np.float64


@pytest.mark.parametrize("loss", [loss for loss, _ in FORMULAS[:-1]], ids=repr)
def test_named_losses_can_be_pickled(loss):
    """A loss travels to a worker and stays the same loss."""
    assert (pickle.loads(pickle.dumps(loss)).matrix(5) == loss.matrix(5)).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: losses.loss_matrix([[0, -1]]), r"action 1 for secret 0 must not be negative; got -1"),
        (lambda: losses.loss_matrix([]), "2 dimensions"),
        (lambda: losses.loss_matrix([[]]), "at least one secret"),
        (lambda: losses.loss_matrix([[0, None]]), r"entry \[0, 1\] of the loss"),
        (lambda: losses.loss_matrix([[0, np.inf]]), r"entry \[0, 1\] of the loss"),
        (lambda: losses.power(0), "positive"),
        (lambda: losses.asymmetric(-1, 1), "must not be negative; got -1"),
        (lambda: losses.asymmetric(None, 1), "finite numbers"),
        (lambda: losses.thresholded(-1), "not be negative"),
        (lambda: losses.capped(-1), "not be negative"),
        (lambda: losses.from_function(3), "function"),
        (lambda: losses.from_function(lambda i, r: i - r).matrix(2), "action 1 for secret 0 must not be negative"),
        (lambda: losses.from_function(lambda i, r: None).matrix(2), r"entry \[0, 0\] of the loss"),
    ],
)
def test_what_is_no_loss_is_refused(make, message):
    """Negative entries, missing entries, and parameters out of range."""
    with pytest.raises(NotALoss, match=message):
        make()


def test_a_power_must_be_a_number():
    """A power of nothing is refused."""
    with pytest.raises(NotANumber):
        losses.power(None)
