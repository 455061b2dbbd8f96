"""Monotonicity: against its definition by pairs, and the entry that is named."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import losses, priors
from utmost.errors import NotALoss, NotMonotone
from utmost.spaces import Consumer, check_monotone, first_breach, is_monotone

small = st.integers(0, 2)


@st.composite
def matrices(draw):
    n, k = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    return draw(st.lists(st.lists(small, min_size=k, max_size=k), min_size=n, max_size=n))


def monotone_by_definition(loss, strict, each_side):
    """For all i and |i - r| <= |i - s| (on one side of i, if so asked): l(i, r) <= l(i, s), < where both are strict."""
    return all(
        row[r] < row[s] if strict and abs(i - r) < abs(i - s) else row[r] <= row[s]
        for i, row in enumerate(loss)
        for r in range(len(row))
        for s in range(len(row))
        if abs(i - r) <= abs(i - s) and (not each_side or r == i or (r - i) * (s - i) > 0)
    )


@given(matrices(), st.booleans(), st.booleans())
def test_monotone_means_what_the_paper_says(loss, strict, each_side):
    """The check by neighbours and mirrors agrees with the definition over all pairs."""
    assert is_monotone(loss, strict, each_side=each_side) == monotone_by_definition(loss, strict, each_side)
    floats = np.array(loss, dtype=float) / 3
    assert is_monotone(floats, strict, each_side=each_side) == is_monotone(loss, strict, each_side=each_side)


@given(matrices(), st.booleans(), st.booleans())
def test_the_breach_that_is_named_is_one(loss, strict, each_side):
    """The farther answer is at least as far and costs less (or, strictly, no more)."""
    breach = first_breach(loss, strict, each_side=each_side)
    if breach is not None:
        i, r, s = breach.secret, breach.nearer, breach.farther
        assert abs(i - r) <= abs(i - s)
        assert loss[i][r] > loss[i][s] or (strict and abs(i - r) < abs(i - s) and loss[i][r] == loss[i][s])
        assert (breach.nearer_loss, breach.farther_loss) == (loss[i][r], loss[i][s])


VERDICTS = [  # (loss, monotone, strictly, each side, strictly each side)
    (losses.absolute, True, True, True, True),
    (losses.squared, True, True, True, True),
    (losses.power("1/2"), True, True, True, True),
    (losses.binary, True, False, True, False),
    (losses.thresholded(1), True, False, True, False),
    (losses.capped(2), True, False, True, False),
    (losses.nib, False, False, False, False),
    (losses.asymmetric(1, 3), False, False, True, True),
    (losses.from_function(lambda i, r: abs(i - r)), True, True, True, True),
]


@pytest.mark.parametrize(("loss", "plain", "strict", "sided", "both"), VERDICTS)
@pytest.mark.parametrize("n", [5, 120, pytest.param(600, marks=pytest.mark.slow)])
def test_the_named_losses(loss, plain, strict, sided, both, n):
    """Which of the named losses Theorem 3.1 applies to, for kept and for computed matrices alike."""
    consumer = Consumer(priors.uniform(n), loss)
    consumer = consumer if n < 100 else consumer.to_floats()
    assert is_monotone(consumer) == plain
    assert is_monotone(consumer, strict=True) == strict
    assert is_monotone(consumer, each_side=True) == sided
    assert is_monotone(consumer, strict=True, each_side=True) == both


def test_two_results_leave_nothing_to_mirror():
    """On {0, 1} an asymmetric loss is monotone: no two answers are equally far from a result."""
    assert is_monotone(Consumer(priors.uniform(2), losses.asymmetric(1, 3)))


def test_the_entry_is_named():
    """The message shows the farther entry beside the nearer one."""
    with pytest.raises(NotMonotone, match=r"l\(2, 0\) = 1/2 .*l\(2, 1\) = 1"):
        check_monotone([[0, 1, 2], [1, 0, 1], ["1/2", 1, 0]])
    with pytest.raises(NotMonotone, match=r"l\(0, 2\) = 1 .*l\(0, 1\) = 1"):
        check_monotone(losses.binary.matrix(3), strict=True)
    with pytest.raises(NotMonotone, match=r"l\(1, 2\) = 1 .*l\(1, 0\) = 3"):
        check_monotone(losses.asymmetric(1, 3).matrix(3))
    with pytest.raises(NotMonotone, match="on each side of i"):
        check_monotone(losses.nib.matrix(3), each_side=True)
    assert check_monotone(losses.absolute.matrix(4), strict=True) is None


def test_the_first_breach_of_a_large_consumer_is_found_by_rows():
    """A breach far down is found without the full matrix, with its own secret."""
    table = np.array([[abs(i - r) for r in range(600)] for i in range(600)], dtype=float)
    table[550, 3] = 0.5
    breach = first_breach(Consumer(priors.uniform(600), table))
    assert (breach.secret, breach.farther, breach.nearer_loss) == (550, 3, 546.0)


def test_negative_losses_are_no_losses():
    """Monotonicity is asked of losses only."""
    with pytest.raises(NotALoss, match="negative"):
        is_monotone([[0, Fraction(-1)]])
