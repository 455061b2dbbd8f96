"""Distributions beside dp-accounting: the same deltas, composed; events that its accountants take."""

from importlib.util import find_spec

import pytest

import utmost as ut

# The numbers behind a neighbour's object are compared without that package.
from utmost.sampling import on_grid

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(find_spec("dp_accounting") is None, reason="needs dp-accounting"),
    pytest.mark.filterwarnings("ignore"),
]

DISTRIBUTIONS = [
    ut.noise.Geometric(1),
    ut.noise.Geometric("1/2", 7),
    ut.noise.Geometric(3, 10_000),
    ut.noise.DiscreteStaircase(1, 5, step=2),
    ut.noise.DiscreteStaircase(2, 4, step=4),
    ut.noise.Laplace(1),
    ut.noise.Staircase(1, 2, gamma="1/3"),
]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=repr)
def test_delta_at_every_epsilon_is_ours_and_never_less(distribution):
    """The hockey-stick divergence of the pair is `privacy.delta`, rounded up by at most the discretization."""
    found, drawn = ut.interop.privacy_loss_distribution(distribution), on_grid(distribution)[0]
    for share in (0, 0.2, 0.5, 0.77, 0.999, 1.001):
        epsilon = share * distribution.level.epsilon_float
        ours = float(ut.privacy_types.delta(drawn, epsilon))
        theirs = found.get_delta_for_epsilon(epsilon)
        assert ours - 1e-9 <= theirs <= ours + 1.2e-3 * max(1, distribution.level.epsilon_float)
    assert found.get_epsilon_for_delta(0) == pytest.approx(distribution.level.epsilon_float, abs=2e-3)


def test_the_geometric_distribution_is_dp_accountings_discrete_laplace():
    from dp_accounting.pld import privacy_loss_distribution as pld

    for epsilon, width in ((1, 1), ("1/2", 3)):
        distribution = ut.noise.Geometric(epsilon, width)
        theirs = pld.from_discrete_laplace_mechanism(distribution.level.epsilon_float / width, sensitivity=width)
        for at in (0, 0.1, 0.4, 0.9):
            assert ut.interop.privacy_loss_distribution(distribution).get_delta_for_epsilon(at) == pytest.approx(
                theirs.get_delta_for_epsilon(at), abs=2e-4
            )


def test_cells_compose():
    """k cells are k times one; at nearly no delta their epsilons nearly add up, and less is lost at a delta."""
    distribution = ut.noise.Geometric("1/10")
    three = ut.interop.privacy_loss_distribution(distribution, cells=3)
    assert three.get_epsilon_for_delta(1e-9) == pytest.approx(0.3, rel=1e-2)
    many = ut.interop.privacy_loss_distribution(distribution, cells=100)
    assert many.get_epsilon_for_delta(1e-6) < 6


def test_events_are_accounted():
    """An accountant of theirs gives no less than the distribution loses, and just as much for one count."""
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld import PLDAccountant as Accountant

    def accountant_of():
        return Accountant(NeighboringRelation.REPLACE_ONE)

    for distribution in (
        ut.noise.Geometric("1/2"),
        ut.noise.DiscreteStaircase(1, 4, step=2),
        ut.noise.Laplace(1),
    ):
        accountant = accountant_of()
        accountant.compose(ut.interop.dp_event(distribution, cells=3))
        loss = ut.interop.privacy_loss_distribution(distribution, cells=3)
        assert accountant.get_epsilon(1e-5) >= loss.get_epsilon_for_delta(1e-5) - 1e-3
    one = accountant_of()
    one.compose(ut.interop.dp_event(ut.noise.Geometric(1)))
    assert one.get_delta(0.3) == pytest.approx(float(ut.privacy_types.delta(ut.noise.Geometric(1), "0.3")), abs=1e-4)
