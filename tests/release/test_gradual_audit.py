"""An audit that sees draws only distinguishes a gradual release from releases that leak."""

import numpy as np
import pytest

from auditing import epsilon_refuted
from utmost.testing import seeded_gradual_release

ORDERS = [("1/2", 1, 2), (2, 1, "1/2"), (1, 2, "1/2"), ("1/2", 2, 1)]
N = 40_000


def responses(value, order, seed):
    answer = seeded_gradual_release(np.full(N, value), 1, seed=seed)
    asked = {epsilon: answer.at(epsilon=epsilon) for epsilon in order}
    return np.column_stack([asked[epsilon] for epsilon in ("1/2", 1, 2)])


def audited(order):
    """Audit both neighbours in turn, since privacy is symmetric."""
    here, there = (responses(value, order, f"{order} {value}") for value in (0, 1))
    return max(epsilon_refuted(here, there), epsilon_refuted(1 - there, 1 - here))


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_the_audit_refutes_no_more_than_the_largest_level(order):
    """The audit's bound comes close to 2, the largest level, and does not exceed it."""
    assert 1.7 < audited(order) <= 2


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_fresh_noise_at_each_level_is_refuted(order):
    """A fault: each level has the right margin but independent noise; the audit's bound is far above 2."""

    def fresh(value):
        made = [seeded_gradual_release(np.full(N, value), 1, seed=f"{order} {at} {value}").at(at) for at in (0.5, 1, 2)]
        return np.column_stack(made)

    assert epsilon_refuted(fresh(0), fresh(1)) > 2.4


def test_the_bound_is_no_larger_than_what_holds():
    """For responses of two outcomes with the known level ln 3, the bound is slightly below ln 3."""
    rng = np.random.default_rng(0)
    here, there = (rng.random((N, 1)) < p for p in (0.75, 0.25))
    assert 0.95 < epsilon_refuted(here * 1.0, there * 1.0) <= np.log(3)
