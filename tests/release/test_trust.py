"""Networks of trust: levels by distance; a coalition learns what its largest level allows."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import BadTable, OutOfRange
from utmost.exact import level
from utmost.gradual import largest_ratio
from utmost.releases import GradualRelease, check_coalitions, levels_by_distance

ALPHAS = [Fraction(n, 12) for n in (1, 2, 3, 4, 6, 8, 9, 10)]
# Zachary's karate club (1977): each member's ties to members of higher number, 78 in all.
TIES = {
    1: (2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 18, 20, 22, 32),
    2: (3, 4, 8, 14, 18, 20, 22, 31),
    3: (4, 8, 9, 10, 14, 28, 29, 33),
    4: (8, 13, 14),
    5: (7, 11),
    6: (7, 11, 17),
    7: (17,),
    9: (31, 33, 34),
    **dict.fromkeys((10, 14, 20, 28), (34,)),
    **dict.fromkeys((15, 16, 19, 21, 23, 30, 31, 32), (33, 34)),
    24: (26, 28, 30, 33, 34),
    25: (26, 28, 32),
    26: (32,),
    27: (30, 34),
    29: (32, 34),
    33: (34,),
}
KARATE = [(one, other) for one, others in TIES.items() for other in others]


@given(st.lists(st.sampled_from(ALPHAS), min_size=1, max_size=4, unique=True))
def test_a_coalition_learns_as_much_as_its_most_trusted_member(alphas):
    """The loss of all its views, from the exact joint distribution in rationals, is its largest level."""
    levels = [level(alpha=a) for a in alphas]
    for size in range(1, len(alphas) + 1):
        for coalition in combinations(levels, size):
            assert 1 / max(coalition).alpha_fraction() == largest_ratio(list(coalition), reach=1)


def test_recipients_of_one_level_see_one_answer():
    """A thousand strangers at 1/10 together learn what 1/10 allows: averaging equal answers gains nothing."""
    crowd = GradualRelease(1984, sensitivity=1)
    assert len({crowd.at("1/10") for _ in range(1000)}) == 1
    assert crowd.spent == level(epsilon="1/10")


@pytest.mark.parametrize("owner", [1, 12, 17])
def test_every_coalition_of_the_karate_club(owner):
    """All 2^33 - 1 coalitions, by the joint distributions of their sets of levels: in rationals for epsilon = ln(1 +
    1/d)."""
    exactly = check_coalitions(levels_by_distance(KARATE, owner, lambda d: level(alpha=Fraction(d, d + 1))))
    assert (exactly.coalitions, exactly.exact, exactly.discrepancy) == (2**33 - 1, True, 0)
    nearly = check_coalitions(levels_by_distance(KARATE, owner))
    assert (
        nearly.distributions == exactly.distributions == 2 ** len(set(levels_by_distance(KARATE, owner).values())) - 1
    )
    assert not nearly.exact
    assert nearly.discrepancy < 1e-13


def test_levels_by_distance():
    """Equation (47): epsilon = 1/d, here on the karate club."""
    levels = levels_by_distance(KARATE, owner=1)
    assert levels[2] == level(epsilon=1)
    assert len(KARATE) == 78
    assert [sum(one == level(epsilon=Fraction(1, d)) for one in levels.values()) for d in (1, 2, 3)] == [16, 9, 8]
    assert 1 not in levels


def test_other_networks_and_maps():
    class Network:
        edges = (("a", "b"), ("b", "c"), ("x", "y"))

    assert levels_by_distance(Network(), "a", lambda d: level(alpha="1/2").scaled(Fraction(1, d))) == {
        "b": level(alpha="1/2"),
        "c": level(alpha="1/2").scaled("1/2"),
    }
    with pytest.raises(OutOfRange, match="grow"):
        levels_by_distance(Network(), "a", lambda d: d)
    with pytest.raises(BadTable, match="owner"):
        levels_by_distance(Network(), "z")
    with pytest.raises(BadTable, match="pair"):
        levels_by_distance([("a", "b", "c")], "a")
    with pytest.raises(BadTable, match="pair"):
        levels_by_distance(["ab"], "a")


def test_the_level_may_stay_the_same_with_the_distance():
    graph = [("ann", "bo"), ("bo", "cy")]
    assert levels_by_distance(graph, owner="ann", epsilon=lambda distance: 1) == {"bo": level(1), "cy": level(1)}
