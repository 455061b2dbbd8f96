"""Keys that nobody listed: the optimal selection, noisy counts, and growing deltas; everything in rationals."""

import datetime
import itertools
import math
import operator
import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import utmost as ut
from utmost import errors
from utmost.counting import count_keys
from utmost.exact import exp_interval, level
from utmost.programs import LinearProgram, solve
from utmost.promises import Promise, key_noise

# The distribution of the threshold, and its draws bit by bit: a list of keys shows neither.
from utmost.publish.promises.key_distribution import SelectionDistribution, appearance_chance, selection_distribution
from utmost.releases import KeySelection, Texts, select_cells
from utmost.statements import stated_release
from utmost.testing import SeededRandomness

RATIOS = [Fraction(2), Fraction(3), Fraction(11, 10), Fraction(3, 2), Fraction(22026)]
DELTAS = [Fraction(9, 10), Fraction(1, 3), Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**6)]

ratios = st.sampled_from(RATIOS)
deltas = st.fractions(Fraction(1, 10**5), Fraction(99, 100))


def release(table, *, epsilon, delta, keys=1, shares=None):
    """The answer for a table of keys and counts, and the promised noise."""
    noise = key_noise(list(table), delta=delta, keys=keys, shares=shares)
    return ut.release(table, Promise(noise=noise), epsilon=epsilon, once=True), noise


def table_of(counts):
    """Keys and counts as a table."""
    return {"key": list(counts), "count": list(counts.values())}


def selected_keys(counts, **say):
    """The keys that are selected from a mapping of counts."""
    return tuple(release(table_of(counts), **say)[0].table["key"])


def recursion(a, delta, count):
    """pi(0), ..., pi(count - 1) by the recursion itself."""
    found = [Fraction(0)]
    while len(found) < count:
        last = found[-1]
        found.append(min(a * last + delta, 1 - (1 - last - delta) / a, Fraction(1)))
    return found


def hockey_stick(p, q, a):
    return sum(max(Fraction(0), p.get(x, Fraction(0)) - a * q.get(x, Fraction(0))) for x in p)


def named_distribution(distribution, n):
    """The distribution of what is published for a key of n individuals: nothing (None), or n plus noise."""
    found = {None: 1 - distribution.chance(n)}
    for least in range(1, n + 1):
        found[n + distribution.turn - least] = distribution.chance(least) - distribution.chance(least - 1)
    return found


@pytest.mark.parametrize("a", RATIOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_the_closed_form_is_the_recursion(a, delta):
    distribution = SelectionDistribution(a, delta)
    count = distribution.certain + 3
    exactly = recursion(a, delta, count)
    assert [distribution.chance(n) for n in range(count)] == exactly
    around = [distribution.chance_interval(n, 64) for n in range(count)]
    assert all(interval.contains(chance) for interval, chance in zip(around, exactly, strict=True))
    assert max(interval.width for interval in around) < Fraction(1, 1 << 60)
    assert exactly[distribution.certain] == 1


@pytest.mark.parametrize(("a", "m"), [*zip(RATIOS, [14, 9, 5, 2, 1], strict=True)])
def test_the_truncated_geometric_is_the_optimum(a, m):
    r"""Noise on -m..m with weights a^-\|x\|, published above m, has delta = its edge probability, and selects with
    probability pi."""
    weights = {x: a ** -abs(x) for x in range(-m, m + 1)}
    total = sum(weights.values())
    distribution = SelectionDistribution(a, weights[m] / total)
    assert distribution.threshold == m
    for n in range(2 * m + 4):
        assert distribution.chance(n) == sum(w for x, w in weights.items() if n + x > m) / total
    assert named_distribution(distribution, 2 * m + 1)[2 * m + 1] == weights[0] / total


@settings(max_examples=12)
@given(ratios, deltas)
def test_a_name_with_its_noisy_count_costs_exactly_epsilon_and_delta(a, delta):
    """The hockey-stick divergence of (selected, n + noise) between n and n + 1 is at most delta, and attains it."""
    distribution = SelectionDistribution(a, delta)
    worst = Fraction(0)
    for n in range(min(distribution.certain, 60) + 1):
        one, other = named_distribution(distribution, n), named_distribution(distribution, n + 1)
        worst = max(worst, hockey_stick(one, other, a), hockey_stick(other, one, a))
    assert worst == delta


@pytest.mark.parametrize(("a", "delta"), [(2.0, 0.01), (1.1, 0.02), (3.0, 1e-4)])
def test_no_mechanism_on_one_key_names_it_with_a_larger_chance(a, delta):
    """The linear program over all p(0), ..., p(N) with p(0) = 0: its optimum for each n is pi(n)."""
    distribution, size = SelectionDistribution(Fraction(str(a)), Fraction(str(delta))), 12
    rows, columns, values, upper = [], [], [], []
    for n in range(size):
        for one, other, bound in ((n + 1, n, delta), (n, n + 1, delta), (n, n + 1, None), (n + 1, n, None)):
            row = len(upper)
            rows += [row, row]
            if bound is not None:  # p(one) - a p(other) <= delta
                columns, values, upper = [*columns, one, other], [*values, 1, -a], [*upper, delta]
            else:  # (1 - p(one)) - a (1 - p(other)) <= delta
                columns, values, upper = [*columns, one, other], [*values, -1, a], [*upper, delta - 1 + a]
    rows, columns, values, upper = [*rows, len(upper)], [*columns, 0], [*values, 1], [*upper, 0.0]
    rows += range(len(upper), len(upper) + size + 1)
    columns, values, upper = [*columns, *range(size + 1)], [*values, *[1] * (size + 1)], [*upper, *[1.0] * (size + 1)]
    for n in (1, 3, 6, 12):
        cost = [-1.0 if k == n else 0.0 for k in range(size + 1)]
        program = LinearProgram.of_triplets(cost, rows, columns, values, lower=[-np.inf] * len(upper), upper=upper)
        assert -solve(program).value == pytest.approx(float(distribution.chance(n)), abs=1e-8)


def users(total, delta, keys, chance):
    distribution = selection_distribution(level(total), Fraction(delta), keys)
    below, above = 0, distribution.certain
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (
            (below, middle) if distribution.chance_interval(middle).lower >= Fraction(chance) else (middle, above)
        )
    return above


@pytest.mark.parametrize(
    ("epsilon", "keys", "half", "most", "laplace"),
    [(1, 1, 14, 18, (14, 18)), (1, 10, 132, 171, (155, 194)), ("0.1", 1, 109, 148, (132, 171))],
)
def test_how_many_individuals_a_key_needs(epsilon, keys, half, most, laplace):
    """For a probability of 50 % and of 99 %, at delta 1e-6; compared with Laplace noise of level epsilon/k and a
    threshold."""
    assert (users(epsilon, "1e-6", keys, "0.5"), users(epsilon, "1e-6", keys, "0.99")) == (half, most)
    each = float(Fraction(epsilon)) / keys
    least = 1 - math.log(2e-6 / keys) / each  # 1 + Laplace noise exceeds it with the chance delta/k
    assert (int(least), int(least + math.log(50) / each)) == laplace


def test_the_level_of_a_key_is_rounded_to_the_safe_side():
    """A rational slightly below e^(epsilon/k) replaces it."""
    for epsilon, keys in ((1, 1), ("1e-6", 1), (1, 10**6), (50, 3), ("1e-50", 1), (10**5, 1)):
        a = selection_distribution(level(epsilon), Fraction(1, 100), keys).ratio
        share = Fraction(epsilon) / keys
        assert a > 1
        assert share > 100 or a <= exp_interval(share, 400).upper
        if share < 100:
            log = share if share < Fraction(1, 10**6) else Fraction(math.log(a))
            assert log <= share * (1 + Fraction(1, 10**12))
            assert (a - 1) * (1 + Fraction(1, 10**12)) >= (share if share < 1 else Fraction(math.expm1(share)))
    assert selection_distribution(level(alpha="1/3"), Fraction(1, 100), 1).ratio == 3


@pytest.mark.parametrize(("shares", "delta"), [(1, "1/10"), (2, "1/10"), (3, "1/3")])
def test_no_division_of_shares_over_keys_costs_more_than_was_promised(shares, delta):
    """Every table of two or three keys, and one more person who divides the shares: the divergence is at most delta,
    and attains it. Selected keys and noisy counts of all keys together, both directions, in rationals; e^epsilon is 2
    for each share."""
    delta, total = Fraction(delta), level(alpha=Fraction(1, 2**shares))
    distribution, worst = selection_distribution(total, delta, shares, shares), Fraction(0)
    assert distribution.ratio == 2
    distributions = [named_distribution(distribution, n) for n in range(distribution.certain + shares + 2)]
    for keys in (1, 2, 3):
        divided = [w for w in itertools.product(range(shares + 1), repeat=keys) if all(w) and sum(w) <= shares]
        for before in itertools.product(range(min(distribution.certain, 5 if keys == 3 else 99) + 1), repeat=keys):
            for weights in divided:
                after = [n + more for n, more in zip(before, weights, strict=True)]
                less, more = (joint([distributions[n] for n in counts]) for counts in (before, after))
                ways = hockey_stick(less, more, 2**shares), hockey_stick(more, less, 2**shares)
                worst = max(worst, *ways)
    assert delta * (1 - Fraction(1, 2**64)) <= distribution.chance(shares) <= worst <= delta


def joint(distributions):
    """The distribution of what is published of several independent keys."""
    return {
        tuple(shown for shown, _ in pairs): math.prod(chance for _, chance in pairs)
        for pairs in itertools.product(*(distribution.items() for distribution in distributions))
    }


@pytest.mark.parametrize(("held", "whole", "divided"), [(1, 132, 14), (2, 132, 28), (5, 132, 69), (10, 132, 137)])
def test_who_holds_few_keys_names_them_sooner_by_shares(held, whole, divided):
    """Number of individuals with few keys each, at most ten, needed to select one of them with 50 %; delta 1e-6,
    epsilon 1."""
    distributions = [
        (selection_distribution(level(1), Fraction(1, 10**6), 10, shares), weight)
        for shares, weight in ((None, 1), (60, 60 // held))
    ]
    least = [
        next(n for n in range(999) if distribution.chance(n * weight) >= Fraction(1, 2))
        for distribution, weight in distributions
    ]
    assert least == [whole, divided]


def test_counts_in_shares_are_never_taken_for_persons():
    """Without shares= one person would change a count by sixty under a guarantee for one."""
    events = {"user": [*range(40), 0], "word": ["flu"] * 40 + ["rare"]}
    counts = count_keys(events, person="user", column="word", at_most=10, shares=60)
    counts = pickle.loads(pickle.dumps(counts))
    assert counts["word"] == ["flu", "rare"]
    assert [(count.shares, count.per_person) for count in counts["count"]] == [(39 * 60 + 30, 60), (30, 60)]
    tables = (
        counts,
        pandas.DataFrame(counts),
        {"word": counts["word"], "n": np.array(counts["count"], dtype=object)},
    )
    for table in tables:
        assert list(release(table, epsilon=1, delta="1e-6", keys=10, shares=60)[0].table["word"]) == ["flu"]
        with pytest.raises(errors.OutOfRange, match="shares=60"):
            release(table, epsilon=1, delta="1e-6", keys=10)
    mixed = {"word": [*counts["word"], "other"], "n": [*counts["count"], 5]}
    with pytest.raises(errors.BadTable, match="shares"):
        release(mixed, epsilon=1, delta="1e-6", keys=10, shares=60)
    for number in (int, float, operator.index):
        with pytest.raises(TypeError):
            number(counts["count"][0])
    refused = (
        lambda: release(counts, epsilon=1, delta="1e-6", keys=10),
        lambda: release(counts, epsilon=1, delta="1e-6", keys=10, shares=59),
        lambda: KeySelection(counts, epsilon=1, keys=10),
        lambda: select_cells(counts, Texts("aeflru", most=4), epsilon=1, keys=10),
    )
    for call in refused:
        with pytest.raises(errors.OutOfRange, match="shares=60"):
            call()


def test_keys_in_shares_are_drawn_stated_and_refused():
    counts = {"often": 60 * 400, "rare": 60}
    answer, noise = release(table_of(counts), epsilon=1, delta="1e-9", keys=10, shares=60)
    assert list(answer.table["key"]) == ["often"]
    assert Fraction(1, 10**9) * (1 - Fraction(1, 2**64)) < noise.distribution(level(1)).chance(60) <= Fraction(1, 10**9)
    statement = answer.statement
    assert "holds at most 10 keys and gives them at most 60 shares in all" in statement["guarantee"]
    assert stated_release(statement).delta == Fraction(1, 10**9)
    assert "count of shares reaches a random threshold" in statement["noise"]["drawn"]
    promise = statement["promise"]
    forged = (
        {"promise": promise | {"noise": promise["noise"] | {"shares": 61}}},
        {"promise": promise | {"noise": promise["noise"] | {"cells": 61}}},
        {"noise": statement["noise"] | {"drawn": statement["noise"]["drawn"].replace("60", "61")}},
    )
    for change in forged:
        assert statement | change != statement
        with pytest.raises(errors.BadTable):
            stated_release(statement | change)
    for shares in (9, 10**6 + 1, 0, 1.5):
        with pytest.raises((errors.OutOfRange, errors.NotANumber)):
            key_noise(delta="1e-9", keys=10, shares=shares)
    for epsilon, delta, keys, shares in ((10**6, "1e-300", 10, 60), ("1e-6", "1e-6", 1, 10**6), (50, "0.99", 3, 3)):
        distribution = selection_distribution(level(epsilon), Fraction(delta), keys, shares)
        assert 0 <= 1 - distribution.chance_interval(shares, 2000).upper / Fraction(delta) < Fraction(1, 2**64)


CHAINS = [
    (Fraction(2), (Fraction(1, 10**6), Fraction(1, 10**5), Fraction(1, 10))),
    (Fraction(3, 2), (Fraction(1, 1000), Fraction(1, 50), Fraction(1, 10))),
    (Fraction(11, 10), (Fraction(1, 100), Fraction(2, 100), Fraction(3, 100))),
]


@pytest.mark.parametrize(("a", "chain"), CHAINS)
def test_growing_deltas_cost_the_last_one(a, chain):
    """Three lists of one coupling: the delta at which a key appears costs exactly the last delta between n and n +
    1."""
    distributions = [SelectionDistribution(a, delta) for delta in chain]
    worst = Fraction(0)

    def appears(n):
        steps = [Fraction(0), *(distribution.chance(n) for distribution in distributions), Fraction(1)]
        assert steps == sorted(steps)
        return dict(enumerate(after - before for before, after in pairwise(steps)))

    for n in range(distributions[0].certain + 2):
        one, other = appears(n), appears(n + 1)
        worst = max(worst, hockey_stick(one, other, a), hockey_stick(other, one, a))
    assert worst == chain[-1]


def test_growing_epsilons_would_cost_more_than_the_last():
    """e^epsilon from 2 to 3 at delta 1e-6: the pair of lists has 2047 times this delta, so it is refused."""
    delta = Fraction(1, 10**6)
    lower, higher = SelectionDistribution(Fraction(2), delta), SelectionDistribution(Fraction(3), delta)
    newly = [higher.chance(n) - lower.chance(n) for n in range(60)]
    worst = max(q - 3 * p for p, q in pairwise(newly))
    assert worst > 1000 * delta
    selection = KeySelection({"a": 3}, epsilon=1)
    selection.at("1e-6", epsilon=1)
    with pytest.raises(errors.Unsupported, match="delta"):
        selection.at("1e-5", epsilon=2)


@pytest.mark.parametrize(("a", "chain"), CHAINS)
def test_what_appears_later_has_the_chance_that_is_left(a, chain):
    """(pi_2 - pi_1)/(1 - pi_1), enclosed to any precision."""
    before, after = SelectionDistribution(a, chain[0]), SelectionDistribution(a, chain[1])
    for n in range(before.certain):
        if before.chance(n) < 1:
            exactly = (after.chance(n) - before.chance(n)) / (1 - before.chance(n))
            (around,) = appearance_chance(before, after, n)(80)
            assert around.contains(exactly)
            assert around.width < Fraction(1, 1 << 70)


class Bits:
    """A source that gives one word and then another."""

    is_secure, ahead = False, {}

    def __init__(self, *words):
        self.left = list(words)

    def word(self):
        return self.left.pop(0)

    def words(self, count, bits):
        raise AssertionError


@pytest.mark.parametrize("delta", ["1/10", "1/1000"])
def test_a_threshold_drawn_bit_by_bit_is_the_true_one(delta):
    """T is the least n with pi(n) > U: for words on both sides of each pi(n), and on the cell that holds it."""
    distribution, ones = SelectionDistribution(Fraction(3, 2), Fraction(delta)), [2**64 - 1] * 3
    for n in range(1, distribution.certain):
        cell = math.floor(distribution.chance(n) * 2**64)
        after = next(
            k
            for k in range(n + 1, distribution.certain + 1)
            if distribution.chance(k) * 2**64 >= cell + 2 or k == distribution.certain
        )
        if distribution.chance(n) < 1 and distribution.chance(n - 1) * 2**64 < cell - 1:
            assert distribution._drawn(Bits(cell - 1, 0).word) == n
            assert distribution._drawn(Bits(cell + 1, *ones).word) == after
            if distribution.chance(n) * 2**64 != cell:  # U does not stay beside it
                assert distribution._drawn(Bits(cell, 0, 0, 0).word) == n
                assert distribution._drawn(Bits(cell, *ones).word) == after


def test_a_cell_that_holds_a_chance_decides_nothing():
    """pi(1) = 1/4 + 2^-90 lies inside the cell of 64 bits at 1/4: more bits decide, either way."""
    distribution = SelectionDistribution(2, Fraction(1, 4) + Fraction(1, 2**90))
    assert distribution._placed(2**62, 64) is None
    assert distribution._drawn(Bits(2**62, 0).word) == 1
    assert distribution._drawn(Bits(2**62, 2**64 - 1).word) == 2


def test_a_key_is_named_where_its_count_reaches_the_threshold_drawn():
    """From the same draws: selected exactly if n >= T, and published as n plus the noise turn - T, above the
    threshold."""
    counts = [(f"{i:04}", 1 + i % 30) for i in range(3000)]
    noise = key_noise(delta="1/1000")
    distribution = noise.distribution(level(1))
    keys, noisy = noise.selected(counts, level(1), SeededRandomness(5))
    drawn = list(distribution.thresholds(len(counts), SeededRandomness(5)))
    named = [
        (name, n + distribution.turn - least) for (name, n), least in zip(counts, drawn, strict=True) if n >= least
    ]
    assert list(zip(keys, noisy, strict=True)) == named
    assert min(noisy) == distribution.threshold + 1
    assert any(n == least for (_, n), least in zip(counts, drawn, strict=True))


def test_draws_by_table_and_bit_by_bit_have_the_distribution():
    """2 * 10^4 seeded draws each, against pi, within five standard deviations at every n."""
    distribution, count = SelectionDistribution(Fraction(3, 2), Fraction(1, 50)), 20_000
    by_table = list(distribution.thresholds(count, SeededRandomness(1)))
    word = SeededRandomness(2).word
    by_bits = [distribution._drawn(word) for _ in range(count // 10)]
    for drawn in (by_table, by_bits):
        for n in range(distribution.certain + 1):
            chance = float(distribution.chance(n))
            noise = 5 * math.sqrt(chance * (1 - chance) / len(drawn)) + 1e-12
            assert abs(np.mean(np.array(drawn) <= n) - chance) <= noise


def test_keys_and_noisy_counts_as_published():
    """Counts above the threshold, keys in the order of their texts, all frequent keys, noise within its bounds."""
    counts = {f"k{i:03}": 200 if i % 2 else 1 for i in range(100)}
    answer, noise = release(table_of(counts), epsilon=1, delta="1e-12", keys=2)
    distribution, words = noise.distribution(level(1)), answer.statement["guarantee"]
    assert list(answer.table["key"]) == sorted(name for name, n in counts.items() if n > 1)
    assert all(noisy > distribution.threshold for noisy in answer.table["count"])
    assert all(abs(noisy - 200) <= distribution.certain for noisy in answer.table["count"])
    assert distribution.chance(1) == Fraction(1, 2 * 10**12)
    assert distribution.chance(0) == 0
    assert "delta=1/1000000000000" in words
    assert "at most 2 keys, each counted once" in words
    empty, _ = release({"key": [], "count": []}, epsilon=1, delta="1e-6")
    assert "holds at most 1 key, counted once" in empty.statement["guarantee"]


def test_a_key_that_nobody_holds_is_never_named():
    counts = {f"k{k}": 0 for k in range(2000)} | {"x": 10**30}
    assert selected_keys(counts, epsilon=50, delta="0.999") == ("x",)


def test_the_order_of_the_data_does_not_show():
    """Equal draws for equal keys in any order of the data, and no draw for keys of count 0."""
    counts = [("b", 5), ("a", 9), (3, 7), (datetime.date(2026, 1, 1), 9), (("a", 1), 4)]
    noise = key_noise(delta="1/10")
    one, other = (
        noise.selected(_read(given), level(1), SeededRandomness(3))
        for given in (dict(counts), {"z": 0} | dict(reversed(counts)))
    )
    assert one == other
    assert list(map(str, one[0])) == sorted(map(str, one[0]))


def _read(counts):
    from utmost.publish.promises.partition_selection import counted_keys

    return counted_keys(counts)


def test_growing_deltas_only_add_and_repeat_what_was_said():
    selection = KeySelection({i: i % 40 for i in range(2000)}, epsilon=1)
    first, second = selection.at("1e-9"), selection.at("1e-4")
    assert set(first.keys) < set(second.keys)
    assert selection.at("1e-9") == first
    assert selection.at(Fraction(1, 10**4)) is second
    assert "(epsilon=1, delta=1/10000)-differentially private" in second.statement
    with pytest.raises(errors.OutOfRange, match="at least the delta"):
        selection.at("1e-6")


def test_later_lists_have_the_distribution_of_fresh_ones():
    """1500 keys of 8 individuals at two deltas in turn: the number of selected keys is binomial with pi of the last
    delta."""
    selection = KeySelection(dict.fromkeys(range(1500), 8), epsilon=1)
    for delta in ("1e-5", "1e-4"):
        chance = float(selection_distribution(level(1), Fraction(delta), 1).chance(8))
        named = len(selection.at(delta).keys)
        assert abs(named - 1500 * chance) <= 7 * math.sqrt(1500 * chance * (1 - chance))


def test_tables_of_two_columns_are_read():
    pandas = pytest.importorskip("pandas")
    for table in (
        {"word": ["b", "a"], "n": [10**6, 10**6]},
        pandas.DataFrame({"word": ["b", "a"], "n": [10**6, 10**6]}),
    ):
        assert list(release(table, epsilon=1, delta="1e-6")[0].table["word"]) == ["a", "b"]
        assert KeySelection(table, epsilon=1).at("1e-6").keys == ("a", "b")
    assert KeySelection({"b": 10**6, "a": 10**6}, epsilon=1).at("1e-6").keys == ("a", "b")
    pairs = {"word": ["b", "a"], "year": [2, 1], "n": [10**6, 10**6]}
    assert list(release(pairs, epsilon=1, delta="1e-6")[0].table["year"]) == [1, 2]


def test_extreme_levels_and_deltas():
    """epsilon/k of 1e-6 and of 1e-15, delta of 1e-300, and more keys for each person than anybody has."""
    for epsilon, delta, keys in (
        ("1e-6", "1e-6", 1),
        (1, "1e-300", 10**9),
        (10**6, "1e-300", 1),
        ("1e-50", "0.1", 1),
        (50, "0.99", 1),
    ):
        answer, noise = release(table_of({"all": 10**400, "one": 1}), epsilon=epsilon, delta=delta, keys=keys)
        assert "all" in answer.table["key"]
        assert noise.distribution(level(epsilon)).chance_interval(1, 2000).contains(Fraction(delta) / keys)
    with pytest.raises(errors.Unsupported, match="2\\^24 bits"):
        key_noise(delta="1e-6").distribution(level("1e-6")).chance(500_000)


@pytest.mark.parametrize(
    ("counts", "kind"),
    [
        ({"secret": -1}, errors.OutOfRange),
        ({"secret": 1.5}, errors.NotANumber),
        ({"secret": None}, errors.NotANumber),
        ({"secret": True}, errors.NotANumber),
        ({None: 1}, errors.WrongKind),
        ({1.5: 1}, errors.WrongKind),
        ({"word": ["secret", "secret"], "n": [1, 2]}, errors.BadTable),
        ({"word": ["secret"], "n": [[1]]}, errors.BadTable),
        (np.zeros((2, 2)), errors.BadTable),
        (3, errors.BadTable),
    ],
)
def test_what_is_no_count_of_individuals_is_refused_unseen(counts, kind):
    with pytest.raises(kind) as caught:
        KeySelection(counts, epsilon=1)
    assert "secret" not in str(caught.value)
    assert "-1" not in str(caught.value)


def test_wrong_promises_are_refused():
    with pytest.raises(errors.OutOfRange, match="4000 digits"):
        release(table_of({10**5000: 1}), epsilon=1, delta="1e-6")
    for delta in (0, 1, 2, "1e-400", -1):
        with pytest.raises(errors.OutOfRange):
            key_noise(delta=delta)
    with pytest.raises(errors.OutOfRange):
        key_noise(delta="1e-6", keys=0)
    with pytest.raises(errors.PromiseBroken):
        KeySelection({"a": 1}, epsilon=1, randomness=SeededRandomness(1))
    with pytest.raises(errors.OutOfRange):
        SelectionDistribution(1, "1/2")
