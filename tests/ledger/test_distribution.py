"""The distribution of the ledger's responses is exactly the joint distribution, for every order of requests."""

from fractions import Fraction
from itertools import permutations, product
from math import prod

import numpy as np
import pytest

import utmost as ut
from asking import asked
from goodness import LEVEL, chi_square
from utmost.errors import NotPublished, Unsupported
from utmost.exact import level
from utmost.gradual import Bridge, Relaxing, Tightening, joint_pmf
from utmost.ledger import Ledger
from utmost.noise import DiscreteStaircase, Geometric
from utmost.testing import seeded_ledger

KEY = bytes(range(32))
LEVELS = tuple(level(alpha=alpha) for alpha in ("1/2", "1/3", "1/5"))


def answered(ledger, order, values, **promise):
    """Ask for levels in an order, as a curator does: relax above the highest level, view below it."""
    table = {"n": values}
    promise = {"columns": "n", "unit": ut.Unit(1, 1)} | promise
    ledger.publish("r", table, **asked(epsilon=order[0], **promise))
    for one in order[1:]:
        highest = max(ledger.levels("r"))
        ledger.relax("r", table, epsilon=one).table if highest < one else ledger.view("r", epsilon=one).table
    return {one: np.asarray(ledger.view("r", epsilon=one).table["n"]) for one in order}


def conditional(known, to, noise):
    """P(noise at a level | noise at its nearest known neighbours), by the distributions of the process."""
    lower = max((one for one in known if one < to), default=None)
    higher = min((one for one in known if to < one), default=None)
    if lower is None and higher is None:
        return "fresh", Geometric(to).pmf(noise[to])
    if higher is None:
        return "relax", Relaxing(lower, to).pmf(noise[to], noise[lower])
    if lower is None:
        return "tighten", Tightening(to, higher).pmf(noise[to] - noise[higher])
    return "bridge", Bridge(lower, to, higher).pmf(noise[to] - noise[higher], noise[lower] - noise[higher])


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_every_order_has_the_joint_distribution_in_rationals(tmp_path, order):
    """The product of the distributions in the history is the joint distribution: equal rationals for each of 5^3
    noises."""
    asked = [LEVELS[at] for at in order]
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        answered(ledger, asked, [5, 7])
        stated = [event.facts["how"] for event in ledger.history("r")]
    for triple in product(range(-2, 3), repeat=3):
        noise = dict(zip(LEVELS, triple, strict=True))
        steps = [conditional(asked[:at], to, noise) for at, to in enumerate(asked)]
        assert [how for how, _ in steps] == stated
        assert prod((chance for _, chance in steps), start=Fraction(1)) == joint_pmf(list(triple), list(LEVELS))


def test_one_individual_changes_the_joint_chance_by_the_largest_level_exactly():
    """sup over outcomes of P(responses | x) / P(responses | x + 1) is exp(epsilon_max) = 5, for all orders at once."""
    ratios = set()
    for triple in product(range(-2, 3), repeat=3):
        here, there = (joint_pmf([v + shift for v in triple], list(LEVELS)) for shift in (0, 1))
        ratios.add(here / there)
    assert max(ratios) == 5
    assert min(ratios) == Fraction(1, 5)


def test_derived_noise_does_not_hang_on_the_order(tmp_path):
    """A function of key, release, values and level: every order gives the same responses, bit for bit."""
    levels = [level("1/3"), level(alpha="1/2"), level(3), level("5/4")]
    values = np.arange(60)
    outcomes = []
    for number, order in enumerate(permutations(range(4))):
        if number % 8 == 0:
            with seeded_ledger(tmp_path / f"{number}.db", number, key=KEY, derived=True) as ledger:
                outcomes.append(answered(ledger, [levels[at] for at in order], values))
    for other in outcomes[1:]:
        assert all((other[one] == outcomes[0][one]).all() for one in levels)


def test_derived_noise_hangs_on_key_name_values_and_version(tmp_path):
    """After one change the noise is different."""
    values = np.arange(200)
    promise = {"columns": "n", "unit": ut.Unit(1, 1), "epsilon": "1/4"}
    with seeded_ledger(tmp_path / "a.db", 0, key=KEY, derived=True) as ledger:
        noise = ledger.publish("r", {"n": values}, **asked(**promise)).table["n"] - values
        others = [
            ledger.publish("s", {"n": values}, **asked(dataset="r", **promise)).table["n"] - values,
            ledger.publish("r", {"n": values}, **asked(version=2, **promise)).table["n"] - values,
        ]
    for number, (key, changed) in enumerate([(bytes(32), values), (KEY, values + (values == 3))]):
        with seeded_ledger(tmp_path / f"{number}.db", number, key=key, derived=True) as ledger:
            others.append(ledger.publish("r", {"n": changed}, **asked(**promise)).table["n"] - changed)
    assert all(np.mean(noise == other) < 0.5 for other in others)


def in_a_copy(place, table, promise):
    """The released columns of a table, in a copy of a ledger of derived noise: same identity, same key."""
    with seeded_ledger(place, place.name, key=KEY, derived=True) as ledger:
        return ledger.publish("r", table, promise, epsilon=1).table


TWELVE, FLAT = [f"p{at}" for at in range(12)], ut.Unit(1, 2)
A_TABLE = {"id": TWELVE, "n": [5] * 12}, ut.Promise("n", public="id", unit=FLAT)
OTHER_QUESTIONS = {
    "the name of a public column": ({"place": TWELVE, "n": [5] * 12}, ut.Promise("n", public="place", unit=FLAT)),
    "labels": ({"id": TWELVE[::-1], "n": [5] * 12}, A_TABLE[1]),
    "a unit of the same charge": (A_TABLE[0], ut.Promise("n", public="id", unit=ut.Unit(1, 1, "change-one"))),
    "the largest value": (A_TABLE[0], ut.Promise("n", public="id", noise=ut.CellNoise(FLAT, largest=9))),
    "who is counted": (A_TABLE[0], ut.Promise("n", public="id", unit=FLAT, individual="one household")),
    "identifiers": (A_TABLE[0], ut.Promise("n", public="id", unit=FLAT, id_column="id")),
}


@pytest.mark.parametrize("other", OTHER_QUESTIONS)
def test_no_other_question_about_equal_numbers_has_the_same_derived_noise(tmp_path, other):
    """With the same noise in two copies, equal answers would be certain evidence that the numbers are equal."""
    said = [
        list(in_a_copy(tmp_path / f"{at}.db", *asks)["n"])
        for at, asks in enumerate((A_TABLE, OTHER_QUESTIONS[other], A_TABLE))
    ]
    assert said[0] == said[2] != said[1]


def counted(cells, part=None, **axes):
    table = ut.counting.CountedTable(ut.Domain(**axes), np.array(cells), ut.Unit(1, 1), part=part)
    return table, ut.Promise.of_counted(table)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (counted([5] * 9, age=[*range(9)]), counted([5] * 9, age=[*range(1, 10)])),
        (counted([5] * 9, age=[*range(9)]), counted([5] * 9, sex=[*range(9)])),
        (counted([[5] * 3] * 3, a=[0, 1, 2], b=[0, 1, 2]), counted([[5] * 3] * 3, b=[0, 1, 2], a=[0, 1, 2])),
        (counted([[5] * 3] * 2, a=[0, 1], b=[0, 1, 2]), counted([[5] * 2] * 3, a=[0, 1, 2], b=[0, 1])),
        (counted([5] * 9, ("half", "east"), a=[*range(9)]), counted([5] * 9, ("half", "west"), a=[*range(9)])),
    ],
    ids=["groups", "axis", "order of axes", "shape", "part"],
)
def test_no_other_count_of_equal_cells_has_the_same_derived_noise(tmp_path, one, other):
    said = [in_a_copy(tmp_path / f"{at}.db", *asks)["count"].tolist() for at, asks in enumerate((one, other, one))]
    assert said[0] == said[2] != said[1]


@pytest.mark.parametrize("derived", [False, True])
def test_points_of_other_names_or_labels_have_other_paths(tmp_path, derived):
    """Where x and y are equal, equal answers about (x, y) and about (y, x) would show it."""
    at, said = [0, 1, 5], []
    for number, (columns, ids) in enumerate(((["x", "y"], "abc"), (["y", "x"], "abc"), (["x", "y"], "cba"))):
        table = {"id": list(ids), columns[0]: at, columns[1]: at}
        promise = ut.Promise(columns, public="id", noise=ut.PointNoise(2))
        with seeded_ledger(tmp_path / f"{number}.db", number, derived=derived) as ledger:
            answer = ledger.publish("r", table, promise, epsilon=1).table
            said.append(str([list(answer[name]) for name in columns]))
    assert len(set(said)) == 3


@pytest.mark.parametrize(
    "terms", [{}, {"keyed_by_id": True, "id_column": "id"}], ids=["derived", "keyed by identifier"]
)
def test_a_copy_repeats_itself_and_another_ledger_of_the_key_does_not(tmp_path, terms):
    """A backup has the ledger's identity, by which ledgers that share a key have separate noise."""
    table, promise, said = {"id": TWELVE, "n": [5] * 12}, ut.Promise("n", public="id", unit=FLAT, **terms), []
    options = {"key": KEY, "derived": not terms, "witness": False}
    with Ledger.open(tmp_path / "0.db", create=True, **options) as ledger:
        ledger.backup(tmp_path / "1.db")
    Ledger.open(tmp_path / "2.db", create=True, **options).close()
    for at in range(3):
        with Ledger.open(tmp_path / f"{at}.db", key=KEY, witness=False) as ledger:
            said.append(list(ledger.publish("r", table, promise, epsilon=1).table["n"]))
    assert said[0] == said[1] != said[2]


def test_derived_noise_of_a_sum_is_not_that_of_a_column(tmp_path):
    """A copy that was put back may publish the table with another kind of noise. With the same noise on a and on a + b,
    the difference of the two answers would be b.
    """
    table, unit = {"a": list(range(100)), "b": [17] * 100}, ut.Unit(1, 2)
    apart = in_a_copy(tmp_path / "0.db", table, ut.Promise(["a", "b"], unit=unit))
    rotated = ut.promises.together_noise(["a", "b"], unit=unit, noise="rotated")
    together = in_a_copy(tmp_path / "1.db", table, ut.Promise(noise=rotated))
    for sign, column in ((1, "a"), (-1, "b")):
        found = np.array([a + sign * b for a, b in zip(together["a"], together["b"], strict=True)]) - apart[column]
        true = np.array(table["a"]) + sign * 17 - np.array(table[column])
        assert np.mean(found == true) < 0.5


@pytest.mark.parametrize("is_by_id", [False, True], ids=["derived", "keyed by identifier"])
def test_no_column_gets_the_noise_of_another(tmp_path, is_by_id):
    """In a copy the first column is called b and the second one a. With a's noise on both, the answers a would differ
    by the difference of the columns.
    """
    names, first, second = [f"p{at}" for at in range(200)], list(range(200)), list(range(200, 400))
    terms = {"id_column": "id", "keyed_by_id": True} if is_by_id else {}
    found = []
    for at, columns in enumerate((["a", "b"], ["b", "a"])):
        table = {"id": names, columns[0]: first, columns[1]: second}
        promise = ut.Promise(columns, public="id", unit=ut.Unit(1, 2), **terms)
        with seeded_ledger(tmp_path / f"{at}.db", at, key=KEY, derived=not is_by_id) as ledger:
            found.append(np.array(ledger.publish("r", table, promise, epsilon=1).table["a"]))
    assert np.mean(found[1] - found[0] == 200) < 0.5


@pytest.mark.parametrize("derived", [False, True], ids=["drawn", "derived"])
def test_noise_of_a_named_distribution_has_it_and_depends_on_all_that_was_promised(tmp_path, derived):
    """In a copy, other columns, another unit, class or argument have other noise: with the same noise of another width
    on the same values, two answers would show them.
    """
    unit, table = ut.Unit(3, 2), {name: np.arange(3_000) % 50 for name in "abc"}
    one = DiscreteStaircase("1/2", 3, step=1)
    promises = [
        (*"ab", unit, "DiscreteStaircase(step=1)"), (*"ba", unit, "DiscreteStaircase(step=1)"),
        (*"ac", unit, "DiscreteStaircase(step=1)"), (*"ab", ut.Unit(4, 2), "DiscreteStaircase(step=1)"),
        (*"ab", unit, "DiscreteStaircase(step=2)"), (*"ab", unit, "Geometric"),
    ]  # fmt: skip
    drawn = []
    for at, (*columns, changed, named) in enumerate(promises):
        promise = ut.Promise(columns, noise=ut.promises.DistributionNoise(changed, named))
        with seeded_ledger(tmp_path / f"{at}.db", at, key=KEY, derived=derived) as ledger:
            answer = ledger.publish("r", {name: table[name] for name in columns}, promise, epsilon=1).table
        drawn += [answer[name] - table[name] for name in columns]
    assert all(chi_square(noise, one.cdf) > LEVEL for noise in drawn[:6])
    assert np.abs(np.corrcoef(drawn) - np.eye(len(drawn))).max() < 0.1


def test_derived_noise_of_a_plan_hangs_on_the_runs_of_its_sums(tmp_path):
    """Two plans measure 50, 30, 0, 60 and 20, one as three sums and two, the other as two and three. With one stream
    of bits for each run, the noise of 60 in one answer would resemble that of 0 in the other.
    """
    noise, names = np.zeros((2, 16, 5)), range(16)
    for at, cells in enumerate(([[40, 10], [20, 10], [0, 0]], [[0, 40, 10], [0, 20, 10]])):
        domain = ut.Domain(a=[*range(len(cells))], b=[*range(len(cells[0]))])
        plan = ut.workloads.Plan(domain, ut.Unit(1, 1), {"a": "1/2", "b": "1/2"})
        table = ut.counting.CountedTable(domain, np.array(cells), plan.unit)
        with seeded_ledger(tmp_path / f"{at}.db", at, key=KEY, derived=True) as ledger:
            for name in names:
                terms = {"epsilon": "1/100", "dataset": "r"}
                answer = ledger.publish(f"r{name}", table, ut.Promise(noise=plan), **terms).table
                noise[at, name] = np.concatenate([sums.ravel() for sums in answer.measured.values()])
    noise -= [50, 30, 0, 60, 20]
    pairs = [(0, 0), (1, 1), (3, 2), (4, 3)]
    assert np.mean([np.corrcoef(noise[0, :, one], noise[1, :, other])[0, 1] for one, other in pairs]) < 0.6


def test_derived_noise_of_a_plan_hangs_on_what_is_measured(tmp_path):
    """In two copies a and b are measured, and both sums are 5 and 5. With equal answers, a reader would be certain of
    that; one more person makes the sums unequal.
    """
    counts = []
    for measured in "ab":
        domain = ut.Domain(a=[0, 1], b=[0, 1])
        plan = ut.workloads.Plan(domain, ut.Unit(1, 1), {measured: 1})
        table = ut.counting.CountedTable(domain, np.array([[3, 2], [2, 3]]), plan.unit)
        with seeded_ledger(tmp_path / f"{measured}.db", measured, key=KEY, derived=True) as ledger:
            answer = ledger.publish("r", table, ut.Promise(noise=plan), epsilon="1/1000").table
            counts.append(np.concatenate([sums.ravel() for sums in answer.measured.values()]))
    assert (counts[0] != counts[1]).any()


@pytest.mark.parametrize("other", [{"delta": "1e-3"}, {"delta": "1e-9", "keys": 2}, {"delta": "1e-9", "shares": 2}])
def test_derived_bits_draw_one_distribution_of_thresholds_only(tmp_path, other):
    """With the same bits, the noise of one selection would grow with that of the other; both give the counts."""
    table, noises = {"page": [f"p{at}" for at in range(300)], "count": [1000] * 300}, []
    for at, terms in enumerate(({"delta": "1e-9"}, other)):
        noise = ut.promises.key_noise(["page", "count"], **terms)
        noises.append(np.array(in_a_copy(tmp_path / f"{at}.db", table, ut.Promise(noise=noise))["count"]))
    assert all(len(noise) == 300 for noise in noises)
    assert abs(np.corrcoef(*noises)[0, 1]) < 0.4


def test_derived_noise_refuses_what_it_cannot_answer(tmp_path):
    """Two levels in one last interval of the tree, and levels above its root."""
    with Ledger.open(tmp_path / "a.db", create=True, key=KEY, derived=True) as ledger:
        ledger.publish("r", {"n": [1]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon="1/3")
        with pytest.raises(Unsupported, match="4096th"):
            ledger.relax("r", {"n": [1]}, epsilon=Fraction(1, 3) + Fraction(1, 10**6))
        with pytest.raises(Unsupported, match=r"epsilon.?=.?1024"):
            ledger.relax("r", {"n": [1]}, epsilon=1025)
        assert ledger.relax("r", {"n": [1]}, epsilon=1024).table["n"] == [1]


def test_derived_noise_is_the_same_in_every_version_of_the_library(tmp_path):
    """If later versions drew other noise, a relaxed release would not have the joint distribution."""
    with seeded_ledger(tmp_path / "a.db", 0, key=KEY, derived=True) as ledger:
        made = answered(ledger, [level("1/10"), level("1/3"), level(alpha="1/2")], [0] * 12)
    assert [one.tolist() for one in made.values()] == FROZEN


FROZEN = [
    [-22, -3, -5, -3, -11, 13, -10, -1, 6, 14, 45, -3],
    [1, 0, 1, 3, -5, 5, -1, 5, 2, 1, 1, 2],
    [1, 0, 1, 4, -1, 4, -1, 5, 3, 0, 1, 0],
]


def test_integers_of_any_size(tmp_path):
    """Integers beyond 64 bits do not wrap, at any level and in any order."""
    values = [10**30, -(10**25), 3, 2**63 - 1, -(2**63)]
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        made = answered(ledger, [level(2), level("1/100"), level(60), level(1)], values)
    assert [int(one) for one in made[level(60)]] == values
    assert all(abs(int(a) - b) < 10**4 for one in made.values() for a, b in zip(one, values, strict=True))


def test_an_error_names_some_of_many_releases(ledger):
    for at in range(23):
        ledger.publish(
            f"r{at:02}", {"n": [at]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=1, independent=True
        )
    with pytest.raises(NotPublished, match=r"r00, r01, .*, r19 and 3 more"):
        ledger.view("none", epsilon=1)
