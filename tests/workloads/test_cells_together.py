"""Which noise is the least for cells that one individual changes together."""

from fractions import Fraction

import pytest

from utmost.errors import OutOfRange
from utmost.exact import level
from utmost.noise import DiscreteStaircase, Geometric, JointCells, RotatedPair
from utmost.privacy import Unit
from utmost.workloads import pair_noise, ways_together


@pytest.mark.parametrize(
    ("epsilon", "expected"),
    [
        ("1/2", {"joint": 3.979, "rotated": 4.960, "independent": 5.972}),
        (1, {"joint": 1.960, "rotated": 2.455, "independent": 2.945}),
        (2, {"joint": 0.913, "rotated": 1.178, "independent": 1.394}),
    ],
)
def test_three_cells_as_a_pair_and_one(epsilon, expected):
    """The table of proofs/theory/cells-together.md: seven parts of the level to the pair and four to the third."""
    ways = ways_together(level(epsilon), Unit(1, 3))
    assert [way.kind for way in ways] == ["joint", "rotated", "independent"]
    assert {way.kind: way.mean_size for way in ways} == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("neighbours", ["add-remove", "change-one"])
def test_shares_spend_the_level_and_no_more(k, neighbours):
    """Shares add up to one, groups to k; change-one halves the level."""
    unit = Unit(2, k, neighbours)
    at = level(1).scaled(Fraction(k, unit.epsilon_parts))
    for way in ways_together(level(1), unit):
        assert sum(way.shares) == 1
        assert way.cells == k
        for distribution, n, share in zip(way.distributions, way.groups, way.shares, strict=True):
            if isinstance(distribution, JointCells):
                assert (distribution.level, distribution.sensitivity, distribution.cells) == (at, 2, k)
            elif isinstance(distribution, RotatedPair):
                assert (distribution.level, n) == (at.scaled(share), 2)
            else:
                assert distribution.level == at.scaled(share)


def test_what_can_be_relaxed():
    """No joint distribution; and geometric noise where a staircase would be less."""
    unit = Unit(5, 2)
    assert {way.kind for way in ways_together(level(1), unit, relaxable=True)} == {"rotated", "independent"}
    assert all(way.is_relaxable for way in ways_together(level(1), unit, relaxable=True))
    free = {way.kind: way for way in ways_together(level(1), unit)}
    assert isinstance(free["independent"].distributions[0], DiscreteStaircase)
    assert not free["independent"].is_relaxable
    assert not free["joint"].is_relaxable
    assert isinstance(ways_together(level(1), unit, relaxable=True)[-1].distributions[0], Geometric)


def test_variances_of_a_pair():
    """Half of independent noise for small levels: 4/eps^2 against 8/eps^2."""
    found = pair_noise(level("1/1000"), Unit(1, 2))
    assert found["independent"] == pytest.approx(8e6, rel=1e-5)
    assert found["rotated"] == pytest.approx(4e6, rel=1e-5)
    assert found["joint"] == pytest.approx(4e6, rel=1e-5)
    assert pair_noise(level(2), Unit(1, 2, "change-one")) == pair_noise(level(1), Unit(1, 2))


def test_refusals():
    """Sensitivities that are no integers; pairs of another number of cells."""
    with pytest.raises(OutOfRange, match="integer"):
        ways_together(level(1), Unit("1/2", 2))
    with pytest.raises(OutOfRange, match="pair"):
        pair_noise(level(1), Unit(1, 3))
