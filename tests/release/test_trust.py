"""Trust and processing: views of one path, coalitions at their largest level, readings of hidden responses."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import BadTable, NotALevel, OutOfRange
from utmost.exact import level
from utmost.gradual import largest_ratio
from utmost.publish.releases import trust as coalitions_module
from utmost.publish.releases.trust import independent_loss
from utmost.releases import ProcessedRelease, TrustRelease, check_coalitions, levels_by_distance

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
    """The loss computed from the exact joint law of all its views is its largest level, in rationals."""
    levels = {i: level(alpha=a) for i, a in enumerate(alphas)}
    shared = TrustRelease(0, sensitivity=1, levels=levels)
    for size in range(1, len(alphas) + 1):
        for coalition in combinations(levels, size):
            loss = shared.loss(coalition)
            assert 1 / loss.alpha_fraction() == largest_ratio([levels[i] for i in coalition], reach=1)
            assert loss.epsilon_float <= float(shared.naive_loss(coalition)) * (1 + 1e-12)


def test_the_loss_of_a_crowd_against_the_naive_sum():
    """A thousand strangers at 1/10 learn 1/10 together; with independent noise they would learn 100."""
    crowd = TrustRelease(1984, sensitivity=1, levels=dict.fromkeys(range(1000), "1/10"))
    assert crowd.loss(range(1000)) == level(epsilon="1/10")
    assert crowd.naive_loss(range(1000)) == 100
    views = crowd.views()
    assert len(set(views.values())) == 1, "so averaging tells them nothing"
    assert crowd.loss([]) is None
    assert crowd.naive_loss([]) == 0


@pytest.mark.parametrize("owner", [1, 12, 17])
def test_every_coalition_of_the_karate_club(owner):
    """All 2^33 - 1 coalitions, by the joint laws of their sets of levels: in rationals for epsilon = ln(1 + 1/d)."""
    exactly = check_coalitions(levels_by_distance(KARATE, owner, lambda d: level(alpha=Fraction(d, d + 1))))
    assert (exactly.coalitions, exactly.exact, exactly.discrepancy) == (2**33 - 1, True, 0)
    nearly = check_coalitions(levels_by_distance(KARATE, owner))
    assert nearly.laws == exactly.laws == 2 ** len(set(levels_by_distance(KARATE, owner).values())) - 1
    assert not nearly.exact
    assert nearly.discrepancy < 1e-13


def test_a_check_of_coalitions_can_fail(monkeypatch):
    """Independent noise, planted: the product of the ratios is not the largest of them."""
    levels = {"ann": level(alpha="1/2"), "bo": level(alpha="1/3")}
    monkeypatch.setattr(
        coalitions_module,
        "largest_ratio",
        lambda some, _: independent_loss(dict(enumerate(some))),
    )
    found = check_coalitions(levels)
    assert not found.exact
    assert found.discrepancy == 1, "6 instead of 3"


def test_the_naive_loss_is_rounded_up():
    shared = TrustRelease(0, sensitivity=1, levels={"a": level(alpha="1/2"), "b": 1})
    assert 1.6931471805599453 <= shared.naive_loss("ab") < 1.69314718056


def test_levels_by_distance():
    """Equation (47): epsilon = 1/d, here on the karate club."""
    levels = levels_by_distance(KARATE, owner=1)
    assert levels[2] == level(epsilon=1)
    assert len(KARATE) == 78
    assert [sum(one == level(epsilon=Fraction(1, d)) for one in levels.values()) for d in (1, 2, 3)] == [16, 9, 8]
    assert 1 not in levels
    shared = TrustRelease([1, 2, 3], sensitivity=1, levels=levels)
    distant = [member for member, one in levels.items() if one < level(epsilon=1)]
    assert shared.loss(distant) == level(epsilon="1/2")
    assert shared.naive_loss(distant) == Fraction(9, 2) + Fraction(8, 3)
    assert shared.view(34).shape == (3,)
    assert (shared.view(34) == shared.view(17)).all()
    assert shared.levels == levels


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


def test_unknown_recipients_and_levels():
    shared = TrustRelease(0, sensitivity=1, levels={"a": 1})
    for question in (shared.view, lambda r: shared.loss([r]), lambda r: shared.naive_loss([r])):
        with pytest.raises(BadTable, match="recipient"):
            question("b")
    with pytest.raises(NotALevel):
        TrustRelease(0, sensitivity=1, levels={"a": 0})


def test_a_processed_release_keeps_the_raw_path():
    """Clamped answers come from unclamped noise: relaxed to a huge level, the value comes back."""
    values = np.array([0, 3, 10])
    clamped = ProcessedRelease(values, before=lambda v: v, sensitivity=1, after=lambda y, _: np.clip(y, 0, 10), cells=3)
    strict = clamped.at(epsilon="1/1000")
    assert ((strict >= 0) & (strict <= 10)).all()
    assert clamped.at(epsilon=1000).tolist() == [0, 3, 10]
    assert clamped.levels == (level(epsilon="1/1000"), level(epsilon=1000))
    assert clamped.spent == level(epsilon=1000)
    assert repr(clamped) == "ProcessedRelease(spent=epsilon=1000)"


def test_a_reading_is_made_once_and_may_depend_on_the_level():
    calls = []

    def reading(response, at):
        calls.append(at)
        return at.epsilon

    release = ProcessedRelease([1, 2, 3], before=sum, sensitivity=1, after=reading)
    assert [release.at(epsilon=e) for e in (2, 1, 2, 1)] == [2, 1, 2, 1]
    assert release.at(epsilon=level(alpha="1/2")) == level(alpha="1/2").epsilon
    assert calls == [level(epsilon=2), level(epsilon=1), level(alpha="1/2")]


def test_the_level_may_stay_the_same_with_the_distance():
    graph = [("ann", "bo"), ("bo", "cy")]
    assert levels_by_distance(graph, owner="ann", epsilon=lambda distance: 1) == {"bo": level(1), "cy": level(1)}
