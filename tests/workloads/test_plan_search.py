"""The search for shares: never worse than what anybody would try, than fine grids, or than exchanges of a step."""

from contextlib import suppress
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import NotALevel, OutOfRange
from utmost.exact import level
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, Workload, choose_plan
from workload_cases import geography, two_way, workloads

LEVELS = st.sampled_from(["0.000001", "0.1", 1, 3, 50])
ONE = Unit(1, 1)


def chosen(wanted, epsilon):
    return choose_plan(wanted, ONE, epsilon=epsilon, aim="mean", method="marginals")


def error(wanted, shares, epsilon):
    return Plan(
        wanted.domain, ONE, {marginal: one for marginal, one in shares.items() if one}, wanted, level(epsilon)
    ).value


@given(workloads(most=40), LEVELS, st.lists(st.integers(0, 5), min_size=60, max_size=60))
def test_never_worse_than_what_anybody_would_try(wanted, epsilon, parts):
    """Against the cells alone, equal shares of the wanted marginals and of all, and shares drawn by lot."""
    check_never_worse(wanted, epsilon, parts)


@pytest.mark.slow
@given(workloads(most=60), LEVELS, st.lists(st.integers(0, 5), min_size=90, max_size=90))
def test_never_worse_on_two_hundred_workloads(wanted, epsilon, parts):
    """The same, of 200 workloads."""
    check_never_worse(wanted, epsilon, parts)


def check_never_worse(wanted, epsilon, parts):
    found, everything = chosen(wanted, epsilon), list(wanted.domain.marginals())
    assert sum(found.shares.values()) == 1
    drawn = dict(zip(everything, [parts[0] + 1, *parts[1:]], strict=False))
    for tried in (
        [everything[0]],
        everything,
        [marginal for marginal in everything for _ in range(drawn.get(marginal, 0))],
    ):
        shares = {marginal: Fraction(tried.count(marginal), len(tried)) for marginal in everything}
        assert found.value <= error(wanted, shares, epsilon) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("wanted", "epsilon"), [(geography(), 3), (geography("0.2", 1, 3), "0.1"), (two_way("a", "b", ""), 3)]
)
def test_no_point_of_a_grid_and_no_exchange_of_a_step_is_better(wanted, epsilon):
    """All shares of three marginals in steps of 1/10; and from the shares that are found, all that differ by a step."""
    found = chosen(wanted, epsilon)
    marginals = [marginal for marginal in wanted.domain.marginals() if len(marginal) == 1 or any(marginal)]
    for i, j in product(range(1, 10), range(10)):
        if i + j <= 10:
            shares = dict(zip(marginals, (Fraction(i, 10), Fraction(j, 10), Fraction(10 - i - j, 10)), strict=True))
            with suppress(OutOfRange):  # what does not determine every answer
                assert found.value <= error(wanted, shares, epsilon) * (1 + 1e-12)
    for giver, taker in combinations(found.shares, 2):
        for step in (Fraction(1, 1000), Fraction(-1, 1000)):
            moved = {**found.shares, giver: found.shares[giver] - step, taker: found.shares[taker] + step}
            if min(moved.values()) >= 0:
                assert found.value <= error(wanted, moved, epsilon) * (1 + 1e-9)


def test_a_share_too_small_for_a_step_is_not_lost():
    """A marginal that some answer needs keeps a step, however little it deserves."""
    wanted = Workload(Domain(a=range(9), b=range(9)), {"a": 1, "b": "1/1000000000000"})
    found = choose_plan(wanted, ONE, epsilon=1, aim="mean", candidates=["a", "b"])
    assert list(found.shares.values()) == [Fraction(999, 1000), Fraction(1, 1000)]


def test_margins_of_many_axes_are_searched_among_what_is_useful():
    """All pairs of 12 axes: 4096 marginals, of which those that are wanted, and the cells, are enough."""
    twelve = Domain({name: range(2) for name in "abcdefghijkl"})
    pairs = {f"{a} {b}": 1 for a, b in combinations("abcdefghijkl", 2)}
    assert set(chosen(Workload(twelve, pairs), 1).shares) <= {twelve.marginal(pair) for pair in pairs} | {twelve.finest}


def test_a_level_too_small_for_floats_is_refused():
    with pytest.raises(NotALevel, match="1e-100"):
        choose_plan(Workload(Domain(a=range(3)), {"a": 1}), Unit(1, 1), epsilon="1e-400")
