"""Selection of keys, and of cells of a universe, as kinds of noise: distribution, what a thief sees, errors,
statements."""

import json
from fractions import Fraction
from math import exp

import numpy as np
import pytest

import utmost as ut
from service.publications import Terms
from utmost.errors import BadTable, OutOfRange, Unsupported, WrongKind
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.noise import Geometric
from utmost.promises import Promise, key_noise, selected_cell_noise
from utmost.releases import Texts, Tuples
from utmost.statements import read_release, stated_release

KEY = bytes(range(32))
NOISE = key_noise(["word", "n"], delta="1/10")
WORDS = {"word": ["flu", "measles", "plague"], "n": [800, 650, 0]}


def opened(path, **options):
    return Ledger.open(path / "l.db", create=True, key=KEY, **options)


def test_a_key_is_named_with_the_best_chance(tmp_path):
    """Of four thousand keys of five individuals each, the selected fraction is pi(5) within six standard deviations."""
    rows, distribution = 4000, NOISE.distribution(level(1))
    with opened(tmp_path) as ledger:
        table = {"word": [f"w{k}" for k in range(rows)], "n": np.full(rows, 3)}
        named = ledger.publish("w", table, Promise(noise=NOISE), epsilon=1).table
    chance = float(distribution.chance(3))
    assert 0.05 < chance < 0.95
    assert abs(len(named["word"]) - rows * chance) < 6 * (rows * chance * (1 - chance)) ** 0.5
    assert min(named["n"]) > distribution.threshold


def test_keys_in_shares_are_named_by_the_distribution_of_a_share_and_stated_so(tmp_path):
    """Keys whose persons give all their 60 shares are selected with the stated probability."""
    noise = key_noise(["word", "n"], delta="1/10", keys=10, shares=60)
    distribution, rows = noise.distribution(level(1)), 2000
    assert (noise.unit.sensitivity, noise.unit.cells, noise.unit.in_total) == (60, 10, 60)
    assert type(noise).of_facts(noise.facts()) == noise
    count = next(n for n in range(60, distribution.certain, 60) if distribution.chance_interval(n).lower > 0.2)
    with opened(tmp_path) as ledger:
        table = {"word": [f"w{k}" for k in range(rows)], "n": [count] * rows}
        named = ledger.publish("w", table, Promise(noise=noise), epsilon=1).table
    with Ledger.open(tmp_path / "l.db", key=KEY) as ledger:
        assert ledger["w"].at().table == named
        assert "10 keys and gives them at most 60 shares in all" in json.dumps(ledger["w"].at().statement)
    chance = float(distribution.chance_interval(count).lower)
    assert abs(len(named["word"]) - rows * chance) < 6 * (rows * chance * (1 - chance)) ** 0.5
    assert min(named["n"]) > distribution.threshold
    once = key_noise(["word", "n"], delta="1/10", keys=10)
    assert (
        once.distribution(level(1)).chance_interval(count // 60).upper < chance
    )  # the same persons, counted once each
    for wrong in (9, 10**7):
        with pytest.raises(OutOfRange):
            key_noise(["word", "n"], delta="1/10", keys=10, shares=wrong)
    events = {"who": list(range(count // 60)), "word": ["w"] * (count // 60)}
    counted = ut.counting.count_keys(events, person="who", column="word", at_most=10, shares=60, counts="n")
    (tmp_path / "shares").mkdir()
    with opened(tmp_path / "shares") as ledger:
        with pytest.raises(OutOfRange, match="shares=60"):
            ledger.publish("w", counted, Promise(noise=once), epsilon=1)
        assert ledger.publish("w", counted, Promise(noise=noise), epsilon=1).level == level(1)


def test_the_margin_is_that_of_the_distribution_by_enumeration():
    r"""P(\|turn - T\| <= r) is summed term by term, in rationals."""
    for delta, keys in (("1/10", 1), ("1/1000", 3)):
        noise = key_noise(["word", "n"], delta=delta, keys=keys)
        distribution = noise.distribution(level(1))
        steps = {t: distribution.chance(t) - distribution.chance(t - 1) for t in range(1, distribution.certain + 1)}
        assert sum(steps.values()) == 1
        for sure in (Fraction(1, 2), Fraction(19, 20), Fraction(99, 100)):
            near = [
                sum(p for t, p in steps.items() if abs(distribution.turn - t) <= r)
                for r in range(distribution.certain + 1)
            ]
            assert noise.margin(level(1), sure) == next(r for r, p in enumerate(near) if p >= sure)


CELLS = selected_cell_noise(["word", "n"], Texts("abcw0123456789", most=5), false_keys="1e-9")


@pytest.mark.parametrize("noise", [key_noise(["word", "n"], delta="1e-12"), CELLS])
def test_how_many_keys_there_are_shows_nowhere(tmp_path, noise):
    """If no key is selected, the event and the lengths of its parts are the same for one key and for a thousand."""
    seen = []
    for many in (1, 1000):
        folder = tmp_path / str(many)
        folder.mkdir()
        with opened(folder, sealed=True) as ledger:
            table = {"word": [f"w{k}" for k in range(many)], "n": [1] * many}
            assert len(ledger.publish("w", table, Promise(noise=noise), epsilon=1).table["word"]) == 0
            event = ledger.history()[-1]
            lengths = [
                len(ledger._log.read(lambda page, at=at, number=event.number: page.rows.part(number, at)))
                for at in range(event.facts["parts"])
            ]
            secret = {"commitment", "question", "values", "root", "label_key"}
            seen.append(({name: fact for name, fact in event.facts.items() if name not in secret}, lengths))
    assert seen[0] == seen[1]


def test_rows_in_another_order_are_the_same_table_and_parts_of_keys_are_columns(tmp_path):
    noise = key_noise(["place", "year", "n"], delta="1/10")
    table = {"place": ["b", "a", "a"], "year": [1, 2, 1], "n": [90, 80, 70]}
    with opened(tmp_path) as ledger:
        first = ledger.publish("w", table, Promise(noise=noise), epsilon=1).table
        again = ledger.publish(
            "w", {name: column[::-1] for name, column in table.items()}, Promise(noise=noise), epsilon=1
        ).table
        assert first == again
        assert (first["place"], first["year"]) == (["a", "a", "b"], [1, 2, 1])
        assert ledger.verify().responses == 1
    with Ledger.open(tmp_path / "l.db", key=KEY) as ledger:
        assert ledger["w"].at().table == first


def test_deltas_are_added_by_nobody(tmp_path):
    """A dataset with a delta holds that release only; selections with epsilon alone add up with any release."""
    cells = selected_cell_noise(["word", "n"], Texts("abcdefghijklmnopqrstuvwxyz", most=9))
    assert (NOISE.relation, cells.relation) == ("add-remove, but for a chance of 1/10", "add-remove")
    with opened(tmp_path) as ledger:
        ledger.publish("w", WORDS, Promise(noise=NOISE), epsilon=1, dataset="d")
        with pytest.raises(OutOfRange, match="the same neighbouring relation"):
            ledger.publish("u", {**WORDS, "n": [800, 650, 1]}, Promise(noise=cells), epsilon=2, dataset="d")
        with pytest.raises(OutOfRange, match="deltas"):
            ledger.publish("w", {**WORDS, "n": [80, 6, 1]}, Promise(noise=NOISE), epsilon=2, dataset="d", version=2)
        with pytest.raises(OutOfRange, match="deltas"):
            ledger.publish("v", {**WORDS, "n": [80, 650, 1]}, Promise(noise=NOISE), epsilon=2, dataset="d")
        ledger.publish("u", WORDS, Promise(noise=cells), epsilon=1, dataset="e", independent=True)
        ledger.publish("t", {**WORDS, "n": [1, 2, 3]}, Promise(noise=cells), epsilon=1, dataset="e")
        assert float(ledger.spent("u").epsilon) == 1
        assert [float(one.spent) for one in ledger.status().datasets] == [1, 2]


@pytest.mark.parametrize(
    ("table", "error"),
    [
        ({"word": ["a", "a"], "n": [1, 2]}, BadTable),
        ({"word": ["a"], "n": [-1]}, OutOfRange),
        ({"word": ["a"], "n": [1], "x": [2]}, BadTable),
        ({"word": [None], "n": [1]}, WrongKind),
        ({"word": [1.5], "n": [1]}, WrongKind),
        ({"word": ["a"], "n": [1.5]}, BadTable),
        ({"word": ["a"]}, BadTable),
    ],
)
def test_what_is_no_table_of_keys_is_refused_and_spends_nothing(tmp_path, table, error):
    with opened(tmp_path) as ledger:
        with pytest.raises(error):
            ledger.publish("w", table, Promise(noise=NOISE), epsilon=1)
        assert ledger.releases == ()
    with pytest.raises(error):
        ut.release(table, Promise(noise=NOISE), epsilon=1)


def test_no_key_at_all_unicode_and_large_numbers():
    assert ut.release({"word": [], "n": []}, ut.Promise(noise=NOISE), epsilon=1).table == {"word": [], "n": []}
    made = ut.release({"word": ["ß\u202e\n", "日本"], "n": [10**30, 900]}, ut.Promise(noise=NOISE), epsilon=50)
    assert made.table["word"] == ["ß\u202e\n", "日本"]
    assert abs(made.table["n"][0] - 10**30) < 100


def test_a_key_outside_of_the_universe_is_refused_by_its_place_alone():
    noise = selected_cell_noise(["age", "sex", "n"], Tuples(range(100), ["f", "m"]))
    assert noise == type(noise).of_facts(noise.facts())
    with pytest.raises(OutOfRange, match="universe") as refused:
        ut.release({"age": [200], "sex": ["f"], "n": [9]}, ut.Promise(noise=noise), epsilon=1)
    assert "200" not in str(refused.value)
    with pytest.raises(Unsupported, match="Texts or Tuples"):
        selected_cell_noise(["word", "n"], object())


def test_the_statement_never_says_that_epsilon_is_all(tmp_path):
    made = ut.release(WORDS, ut.Promise(noise=NOISE), epsilon=1)
    made.save(tmp_path / "w.csv")
    read = read_release(tmp_path / "w.csv")
    stated = stated_release(read.statement)
    assert stated.line.endswith("except with a chance of 1/10.")
    assert (stated.delta, stated.variant) == (Fraction(1, 10), "Approximate DP")
    assert made.table["word"] == ["flu", "measles"]
    with pytest.raises(BadTable):
        stated_release({name: fact for name, fact in made.statement.items() if name != "delta"})
    (tmp_path / "w.csv").write_text("word,n\nflu,801\n")
    with pytest.raises(BadTable):
        read_release(tmp_path / "w.csv")


@pytest.mark.parametrize(
    "noise",
    [
        key_noise(["word", "n"], delta="1e-31"),
        key_noise(["word", "n"], delta="1e-3", keys=10_001),
        selected_cell_noise(["word", "n"], Texts("ab", most=3), keys=10_001),
        selected_cell_noise(["word", "n"], Texts("ab", most=3), false_keys=10**6),
    ],
)
def test_a_service_reckons_with_no_promise_that_takes_long(noise):
    with pytest.raises(OutOfRange, match="a service"):
        Terms.read(Promise(noise=noise).facts())


def test_what_a_service_may_just_reckon_with():
    Terms.read(Promise(noise=selected_cell_noise(["word", "n"], Texts("ab", most=3), false_keys=10**4)).facts())
    Terms.read(Promise(noise=key_noise(["word", "n"], delta="1e-30", keys=10**4)).facts())


@pytest.mark.parametrize("keys", [1, 2])
def test_what_is_said_of_cells_is_the_distribution_of_each_by_closed_forms(keys):
    r"""P(\|X\| > r) = 2 a^(r + 1)/(1 + a) with a = exp(-1/keys); and the statement names the distribution that is
    drawn."""
    universe, a = Texts("ab", most=3), exp(-1 / keys)
    noise = selected_cell_noise(["word", "n"], universe, keys=keys, false_keys="1/10")
    assert noise.margin(level(1), "0.95") == next(r for r in range(99) if 2 * a ** (r + 1) / (1 + a) <= 0.05)
    threshold = next(m for m in range(99) if 14 * a ** (m + 1) / (1 + a) <= 0.1)
    assert noise.threshold(level(1)) == threshold
    made = ut.release({"word": ["a", "bb"], "n": [9, 10**6]}, ut.Promise(noise=noise), epsilon=1)
    for distribution in (noise.drawn(level(1)), made.statement["noise"]["drawn"]):
        assert repr(Geometric(Fraction(1, keys))) in distribution
        assert f"above {threshold}," in distribution
    assert min(made.table["n"]) > threshold
    by_default = selected_cell_noise(["word", "n"], universe)
    assert (by_default.unit, noise.unit, by_default.false_keys) == (ut.Unit(1, 1), ut.Unit(1, keys), 1)
    assert key_noise(["word", "n"], delta="1/10", keys=keys).unit == ut.Unit(1, keys)
    assert made.statement["guarantee"] == noise.guarantee(level(1), noise.columns)
    assert "The universe has 14 cells" in made.statement["guarantee"]


@pytest.mark.parametrize("keys", [["a", "a\0"], [-1, 2**63 + 1], [-(2**70), 2**64]])
def test_keys_are_named_to_the_last_digit_and_nul(tmp_path, keys):
    """NumPy drops the last NULs of texts, and turns integers that fit no integer type into floats."""
    with opened(tmp_path) as ledger:
        named = ledger.publish("w", {"word": keys, "n": [4000, 5000]}, Promise(noise=NOISE), epsilon=1).table
    assert list(named["word"]) == keys
