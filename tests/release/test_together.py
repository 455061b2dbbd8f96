"""Columns that one individual changes together: draws, guarantees and statements; and answers at several levels."""

import json
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

import utmost as ut
from goodness import LEVEL, chi_square
from utmost.errors import BadTable, NotDeclared, OutOfRange, PromiseBroken
from utmost.exact import level
from utmost.gradual import joint_pmf
from utmost.noise import Combination, Geometric, JointCells
from utmost.privacy import Unit
from utmost.promises import Promise, once_together, together_noise

# Coins are tossed alone: a release whose noise is none tosses none, and others show both at once.
from utmost.publish.promises.rotated_sums import columns_of_pair, columns_of_signed_sums
from utmost.releases import relax
from utmost.testing import SeededRandomness


def noise_together_at(columns, epsilon, **how):
    """The noise of a promise at a level."""
    return once_together(columns, **how).at(level(epsilon))


TABLE = {"department": ["A", "B"], "applicants": [933, 585], "admitted": [601, 370]}
BOTH = ["applicants", "admitted"]


def released(table, *, columns, epsilon, public=(), drop=(), randomness=None, **noise):
    promise = ut.Promise(columns, public=public, drop=drop, noise=once_together(columns, **noise))
    return ut.release(table, promise, epsilon=epsilon, randomness=randomness, once=True)


@pytest.mark.parametrize("alpha", ["1/9", "1/16"])
def test_a_pair_of_responses_keeps_its_level_and_no_less(alpha):
    r"""P(response \| counts) for all counts that an individual can cause, in rationals, with the coins."""
    plan = noise_together_at(["a", "b"], epsilon=ut.level(alpha=alpha), unit=Unit(1, 2), noise="rotated")
    pmf = cache(Geometric(plan.way.distributions[0].ratio).pmf)
    reach = range(-14, 15)

    @cache
    def chance(response, counts):
        """The probability of a response, summed over all sums and differences that the coins may have rounded to it."""
        found = Fraction(0)
        for i, j in product((-1, 0, 1), repeat=2):
            doubled = 2 * response[0] + i, 2 * response[1] + j
            coins = (Fraction(1, 2) if i else 1) * (Fraction(1, 2) if j else 1)
            if (doubled[0] + doubled[1]) % 2 == 0 and (abs(i) == abs(j)) and abs(i) == doubled[0] % 2:
                total, apart = (doubled[0] + doubled[1]) // 2, (doubled[0] - doubled[1]) // 2
                found += coins * pmf(total - sum(counts)) * pmf(apart - counts[0] + counts[1])
        return found

    near = [r for r in reach if abs(r) <= 3]
    assert float(sum(chance((x, y), (0, 0)) for x in reach for y in reach)) == pytest.approx(1, abs=1e-2)
    ratios = [
        chance((x, y), (0, 0)) / chance((x, y), change)
        for x in near
        for y in near
        for change in product((-1, 0, 1), repeat=2)
    ]
    assert max(ratios) <= 1 / Fraction(alpha)
    assert max(ratios) > 1 / Fraction(alpha) * Fraction(9, 10)


@pytest.mark.parametrize("noise", ["joint", "rotated", "independent"])
@pytest.mark.parametrize("columns", [2, 3])
def test_what_is_drawn_has_the_distribution_stated(noise, columns):
    """20 000 rows of each column, compared with the stated distribution; the margin covers."""
    names = [f"c{i}" for i in range(columns)]
    rows = 20_000
    table = {name: np.full(rows, 10 * i) for i, name in enumerate(names)}
    release = released(table, columns=names, epsilon="3/2", unit=Unit(1, columns), noise=noise, halves="keep")
    plan = release.noise
    distributions = [
        distribution for distribution, n in zip(plan.way.distributions, plan.way.groups, strict=True) for _ in range(n)
    ]
    for i, (name, distribution, margin) in enumerate(zip(names, distributions, plan.margins, strict=True)):
        errors = release.table[name] - 10 * i
        assert (np.abs(errors) <= margin).mean() > 0.95 - 0.01
        assert (np.asarray(release.table[f"{name}_margin"]) == margin).all()
        if isinstance(distribution, Geometric):
            assert chi_square(errors, distribution.cdf) > LEVEL
        else:
            wanted = float(distribution.mean_size)
            assert np.abs(errors).mean() == pytest.approx(
                wanted, abs=6 * float(distribution.variance) ** 0.5 / rows**0.5
            )


def test_tossed_halves_are_integers_of_the_same_mean_error():
    r"""E\|x\| is unchanged; the margin is that of the halves, rounded up."""
    rows = 50_000
    table = {"a": np.zeros(rows, int), "b": np.zeros(rows, int)}
    release = released(table, columns=["a", "b"], epsilon=1, unit=Unit(1, 2), noise="rotated")
    distribution, errors = release.noise.way.distributions[0], release.table["a"]
    assert errors.dtype == np.int64
    assert np.abs(errors).mean() == pytest.approx(float(distribution.mean_size), abs=0.04)
    assert release.noise.margins == (4, 4)
    assert (np.abs(errors) <= 4).mean() >= 0.95
    assert distribution.margin("0.95") == Combination(["1/2", "1/2"], distribution.ratio).margin("0.95")


def test_the_choice_of_noise():
    """Joint noise for a single release; the rotated pair, with halves kept, for a release that is to be relaxed."""
    for e, k in product(("1/10", "1/2", 1, 3), (2, 3, 4)):
        names = [str(i) for i in range(k)]
        assert noise_together_at(names, e, unit=Unit(1, len(names))).way.kind == "joint"
        plan = noise_together_at(names, e, unit=Unit(1, len(names)), relaxable=True)
        assert (plan.way.kind, plan.halves, plan.is_relaxable) == ("rotated", "keep", True)
    assert not noise_together_at(BOTH, 1, unit=Unit(1, 2), noise="rotated").is_relaxable
    with pytest.raises(OutOfRange, match="is to be relaxed later"):
        noise_together_at(BOTH, 3, unit=Unit(1, 2), relaxable=True, noise="joint")
    with pytest.raises(OutOfRange, match="halves"):
        noise_together_at(BOTH, 3, unit=Unit(1, 2), relaxable=True, halves="toss")


def test_kept_halves_can_be_relaxed_from_response_and_value():
    """The noise of sum and difference is noisy minus true; `relax` takes it to a larger level."""
    table = {"a": np.full(20_000, 5), "b": np.full(20_000, 3)}
    release = released(table, columns=["a", "b"], epsilon="1/2", unit=Unit(1, 2), relaxable=True)
    one, two = release.table["a"], release.table["b"]
    noise = np.rint(one + two).astype(int) - 8
    later = relax(noise, level("1/2"), level(2), cell_noise=ut.CellNoise(Unit(1, 2)))
    assert chi_square(later, Geometric(1).cdf) > LEVEL


def test_the_statement_says_whom_it_protects_and_what_was_drawn():
    """It is JSON, holds no true value, and names what cannot be relaxed."""
    joint = released(TABLE, columns=BOTH, public="department", epsilon=2, unit=Unit(1, 2, "change-one"))
    said = joint.statement
    assert json.loads(json.dumps(said)) == said
    assert "only the 2 released cells of one row, each by at most 1" in said["guarantee"]
    assert (said["noise"]["kind"], said["noise"]["relaxable"], said["noise"]["epsilon_parts"]) == ("joint", False, 4)
    assert "cannot be relaxed" in said["noise"]["drawn"]
    assert JointCells(1, 2) == joint.noise.way.distributions[0]
    rotated = released(
        TABLE, columns=BOTH, public="department", epsilon=ut.level(alpha="1/2"), unit=Unit(1, 2), relaxable=True
    )
    assert "applicants with admitted" in rotated.statement["noise"]["drawn"]
    assert rotated.statement["noise"]["relaxable"]
    assert "933" not in json.dumps(rotated.statement["guarantee"])


def test_three_columns_are_a_pair_and_one():
    """The third column has separate noise, and the statement says so."""
    plan = noise_together_at(["a", "b", "c"], "1/2", unit=Unit(1, 3), relaxable=True)
    assert plan.way.groups == (2, 1)
    assert "a with b" in plan.drawn
    assert "c by itself" in plan.drawn
    assert plan.margins[0] == plan.margins[1]


def test_refusals():
    """A unit for another number of cells, no level, a seeded source, undeclared columns, cells that are no integers."""
    with pytest.raises(OutOfRange, match="cells must be the number of columns"):
        noise_together_at(["a"], 1, unit=Unit(1, 1))
    with pytest.raises(OutOfRange, match="cells must be the number of columns"):
        noise_together_at(BOTH, 1, unit=Unit(1, 3))
    with pytest.raises(OutOfRange, match="noise"):
        noise_together_at(BOTH, 1, unit=Unit(1, 2), noise="gaussian")
    with pytest.raises(NotDeclared):
        released(TABLE, columns=BOTH, epsilon=1, unit=Unit(1, 2))
    with pytest.raises(PromiseBroken):
        released(TABLE, columns=BOTH, public="department", epsilon=1, unit=Unit(1, 2), randomness=SeededRandomness(1))
    with pytest.raises(BadTable):
        released({"a": [1], "b": [0.5]}, columns=["a", "b"], epsilon=1, unit=Unit(1, 2))


def remembered(table, unit, epsilon, **noise):
    """Columns together, released and remembered by this process."""
    return ut.release(table, Promise(noise=together_noise(list(table), unit=unit, **noise)), epsilon=epsilon)


def test_answers_at_several_levels():
    """Repeated calls get the same answer; the largest level is spent; sums and differences are those of one release."""
    answer = remembered({"a": [5, 2**70], "b": [3, -1]}, Unit(2, 2), "1/2")
    release = answer.release
    higher, lower = release.at(epsilon=40), release.at(epsilon=ut.level(alpha="9/10"))
    assert release.at(epsilon="1/2").table["a"] == answer.table["a"]
    assert release.spent == level(40)
    assert release.levels == (level(alpha="9/10"), level("1/2"), level(40))
    assert abs(int(higher.table["a"][1]) - 2**70) <= 3
    assert len(lower.table["a"]) == 2


@pytest.mark.parametrize("order", [("1/2", "3/2"), ("3/2", "1/2")])
def test_two_levels_have_the_joint_distribution_of_the_process(order):
    """Sum and difference are geometric noise at half the level each, whatever the order of the questions."""
    rows = 40_000
    release = remembered({"a": np.zeros(rows, int), "b": np.zeros(rows, int)}, Unit(1, 2), order[0]).release
    found = {e: release.at(epsilon=e).table for e in order}
    lower, higher = found["1/2"], found["3/2"]
    for sign in (1, -1):
        x, y = (pair["a"] + sign * pair["b"] for pair in (lower, higher))
        for place in ((0, 0), (1, 0), (0, 1), (2, 2), (-3, -1)):
            share = float(joint_pmf(place, [level("1/4"), level("3/4")]))
            seen = ((x == place[0]) & (y == place[1])).mean()
            assert abs(seen - share) < 7 * (share / rows) ** 0.5 + 1e-4


def test_three_columns_and_change_one_in_several_levels():
    """The budget shares: 7/11 of half the level for the pair, divided in two, and 4/11 for the third column."""
    noise = together_noise(list("abc"), unit=Unit(1, 3, "change-one"))
    assert [noise.lattices[name].of(level(22)).epsilon for name in "abc"] == [Fraction(7, 2), Fraction(7, 2), 4]


COUNTS = {"q1": [9, 3, 0], "q2": [4, 1, 0], "q3": [5, 2, 1]}


@pytest.mark.parametrize("how", [{}, {"halves": "keep"}, {"relaxable": True}, {"cost": "squared"}])
def test_signed_sums_are_drawn_as_stated(how):
    """20 000 rows of three columns: mean error and variance are as planned, and margins cover."""
    rows = 20_000
    table = {name: np.full(rows, 7 * at) for at, name in enumerate("abc")}
    unit = Unit(1, 3, nonnegative=True)
    how = how if "relaxable" in how else {"noise": "signed", **how}
    release = released(table, columns=list("abc"), epsilon=1, unit=unit, **how)
    plan = release.noise
    errors = np.array([np.asarray(release.table[name], float) - 7 * at for at, name in enumerate("abc")])
    assert plan.way.kind == "signed"
    assert np.abs(errors).mean() == pytest.approx(plan.way.mean_size, rel=0.03)
    assert (errors**2).mean() == pytest.approx(float(plan.way.variance) + 0.1 * (plan.halves == "toss"), rel=0.05)
    assert abs(errors.mean()) < 6 * float(plan.way.variance) ** 0.5 / rows**0.5
    for error, margin in zip(errors, plan.margins, strict=True):
        assert (np.abs(error) <= margin).mean() > 0.94
    assert (plan.is_relaxable, "lowers none" in plan.guarantee) == (plan.halves == "keep", True)


def test_kept_fractions_tell_the_noisy_sums():
    """The noisy sums can be computed again from columns with fractions; they are integers, which can be relaxed."""
    unit = Unit(1, 3, nonnegative=True)
    release = released(COUNTS, columns=list(COUNTS), epsilon=1, unit=unit, relaxable=True)
    distribution = release.noise.way.distributions[0]
    columns = [[Fraction(x) for x in np.asarray(release.table[name]).tolist()] for name in COUNTS]
    for row in distribution.rows:
        sums = [sum(a * x for a, x in zip(row, cells, strict=True)) for cells in zip(*columns, strict=True)]
        assert all(total.denominator == 1 for total in sums)


@pytest.mark.parametrize(("cells", "noise"), [(2, "rotated"), (3, "signed")])
@pytest.mark.parametrize("halves", ["keep", "toss"])
def test_sums_of_any_size_are_taken_apart_exactly(cells, noise, halves):
    """Without noise the counts come back exactly, also beyond int64, for both treatments of fractions."""
    table = {name: [10**30 + at, at, -(2**63) + 7 * at] for at, name in enumerate("abc"[:cells])}
    unit = Unit(1, cells, nonnegative=True)
    made = released(table, columns=list(table), epsilon=10**4, unit=unit, noise=noise, halves=halves)
    assert {name: [int(x) for x in made.table[name]] for name in table} == table


def test_halves_are_kept_exactly_or_rounded_by_a_fair_coin():
    """Floats if they can hold the halves, else Fractions; and a separate coin for each of two cells."""
    assert columns_of_pair([3], [0])[0].tolist() == [1.5]
    wide = columns_of_pair([2**60 + 1], [0])[0]
    assert wide.tolist() == [Fraction(2**60 + 1, 2)]
    ones, twos = columns_of_pair(np.full(40_000, 3), np.zeros(40_000, int), halves="toss")
    assert set(ones.tolist()) == {1, 2}
    assert abs(ones.mean() - 1.5) < 0.015
    assert abs(np.corrcoef(ones, twos)[0, 1]) < 0.03


def test_coins_are_weighed_by_the_fraction():
    """A third is rounded up one time in three, for both signs."""
    gain = np.array([[1]], dtype=object)
    for value, below, chance in ((1, 0, 1 / 3), (-1, -1, 2 / 3), (5, 1, 2 / 3)):
        (drawn,) = columns_of_signed_sums([np.full(30_000, value)], (gain, 3), halves="toss")
        assert set(drawn.tolist()) == {below, below + 1}
        assert abs((drawn == below + 1).mean() - chance) < 0.015


def test_gradual_answers_of_signed_sums_cost_the_largest_level():
    """In any order; a repeated call gets the same answer; and a larger level is nearer to the truth."""
    unit = Unit(1, 3, nonnegative=True)
    answer = remembered(COUNTS, unit, "1/2", noise="signed")
    higher = answer.release.at(20)
    assert answer.release.spent == level(20)
    assert answer.release.at("1/2").table == answer.table
    assert all(np.abs(np.array(higher.table[name]) - COUNTS[name]).max() <= 2 for name in COUNTS)
    far = {name: np.full(4000, 10) for name in "abcd"}
    gradual = remembered(far, Unit(2, 4, nonnegative=True), 1, noise="signed")
    for epsilon in (1, "1/3"):
        found = gradual.release.at(epsilon)
        spread = np.mean([np.mean((np.asarray(found.table[name]) - 10) ** 2) for name in far])
        assert spread == pytest.approx(float(found.noise.way.variance), rel=0.08)


def test_signed_sums_need_a_promise():
    """Refused with a remedy without nonnegative=, and for two cells."""
    for unit in (Unit(1, 3), Unit(1, 2, nonnegative=True)):
        with pytest.raises(OutOfRange, match="nonnegative=True"):
            noise_together_at([str(at) for at in range(unit.cells)], 1, unit=unit, noise="signed")


@pytest.mark.parametrize(
    ("noise", "s", "nonnegative"), [("range", 1, True), ("two-sided", 3, True), ("staircase", 3, False)]
)
def test_staircases_of_a_norm_are_drawn_as_stated(noise, s, nonnegative):
    """For single releases: the noise of least mean error."""
    table = {name: np.full(20_000, 4) for name in "ab"}
    unit = Unit(s, 2, nonnegative=nonnegative)
    release = released(table, columns=["a", "b"], epsilon=2, unit=unit)
    plan = release.noise
    errors = np.array([release.table[name] - 4 for name in "ab"])
    assert (plan.way.kind, plan.is_relaxable, plan.unit.nonnegative) == (noise, False, nonnegative)
    assert np.abs(errors).mean() == pytest.approx(plan.way.mean_size, rel=0.04)
    assert (np.abs(errors) <= plan.margins[0]).mean() > 0.945
    assert "cannot be relaxed" in plan.drawn


def test_staircases_are_refused_where_they_do_not_protect_or_are_to_be_relaxed():
    """The range without nonnegative=; a staircase of one step; and both for a release that is to be relaxed."""
    with pytest.raises(OutOfRange, match="nonnegative=True"):
        noise_together_at(["a", "b"], 1, unit=Unit(1, 2), noise="range")
    with pytest.raises(OutOfRange, match="above 1"):
        noise_together_at(["a", "b"], 1, unit=Unit(1, 2), noise="staircase")
    for noise in ("range", "staircase", "two-sided"):
        with pytest.raises(OutOfRange, match="is to be relaxed later"):
            noise_together_at(["a", "b"], 1, unit=Unit(2, 2, nonnegative=True), noise=noise, relaxable=True)


def test_a_promise_of_columns_changed_together_names_those_of_its_noise():
    """Other columns are refused with a typed error when the promise is made; without columns= they are those of the
    noise."""
    noise = once_together(["a", "b"], unit=Unit(1, 2))
    assert Promise(noise=noise).columns == ("a", "b")
    with pytest.raises(OutOfRange, match="columns that the noise names: a, b"):
        Promise(["a", "c"], noise=noise)
