"""Universes too large to list: the distribution is that of noise on every cell, in rationals and by frequencies."""

import json
from fractions import Fraction
from hashlib import sha256

import mpmath
import pytest

import utmost as ut
from goodness import LEVEL, as_often
from utmost import errors
from utmost.errors import BadTable
from utmost.exact import level
from utmost.promises import key_noise, selected_cell_noise
from utmost.releases import Texts, Tuples, select_cells
from utmost.testing import SeededRandomness

HALF = level(alpha="1/2")


@pytest.mark.parametrize(
    "universe", [Texts("ab", 3), Texts("xyz", 2, least=0), Tuples(range(3), "ab"), Tuples([1, "1"], range(5, 0, -2))]
)
def test_places_and_keys_are_inverse(universe):
    keys = [universe.key(place) for place in range(universe.size)]
    assert len(set(keys)) == universe.size
    assert [universe.place(key) for key in keys] == list(range(universe.size))
    assert [universe.place(key) for key in ("é", None, ("c", 9), (True, "a"), 1.5)] == [None] * 5


def test_cells_are_named_as_if_each_had_noise_of_its_own():
    """Counted cells by their noisy counts; all others with equal probability, the tail of the noise."""
    size, alpha = 40_000, Fraction(1, 2)
    held = {(place,): 3 for place in range(0, size, 5)}
    cells = select_cells(held, Tuples(range(size)), epsilon=HALF, false_keys=4000)
    threshold = cells.threshold
    assert size * alpha ** (threshold + 1) / (1 + alpha) <= 4000 < size * alpha**threshold / (1 + alpha)
    noisy = dict(zip(cells.keys, cells.noisy, strict=True))
    assert min(noisy.values()) == threshold + 1
    own = [noisy[key] for key in noisy if key in held]
    stays = (
        alpha ** max(0, threshold + 1 - 3) / (1 + alpha)
        if threshold >= 3
        else 1 - alpha ** (3 - threshold) / (1 + alpha)
    )
    assert as_often(len(own), len(held), float(stays)) > LEVEL
    chance = float(alpha ** (threshold + 1) / (1 + alpha))
    others = [key[0] for key in noisy if key not in held]
    for rest in range(1, 5):
        assert as_often(sum(place % 5 == rest for place in others), size // 5, chance) > LEVEL
    for more in range(4):
        above = sum(noisy[(place,)] > threshold + more for place in others)
        assert as_often(above, len(others), 0.5**more) > LEVEL


@pytest.mark.parametrize(
    ("size", "alpha"), [(1, "1/3"), (10**9, "999/1000"), (10**9, "1/3"), (26**20, "1/3"), (26**283, "999/1000")]
)
def test_the_threshold_is_the_least(size, alpha):
    ratio = Fraction(alpha)
    letters = 20 if size == 26**20 else 283
    universe = Tuples(range(size)) if size < 26**20 else Texts("abcdefghijklmnopqrstuvwxyz", letters, least=letters)
    least = select_cells({}, universe, epsilon=level(alpha=alpha), false_keys=Fraction(1, 3)).threshold
    with mpmath.workdps(50):  # the powers themselves have millions of digits
        at = mpmath.mpf(ratio.numerator) / ratio.denominator
        few, more = (mpmath.log(universe.size / (1 + at)) + n * mpmath.log(at) for n in (least + 1, least))
        assert few <= mpmath.log(mpmath.mpf(1) / 3)
        assert least == 0 or more > mpmath.log(mpmath.mpf(1) / 3)


def test_vast_universes_take_the_time_of_what_is_there():
    for universe, key in ((Texts("abcdefghijklmnopqrstuvwxyz", 20), "house"), (Tuples(range(10**9)), (7,))):
        cells = select_cells({key: 10**4}, universe, epsilon=1, false_keys=5)
        assert key in cells.keys
        assert len(cells.keys) < 60
        assert cells.expected_false <= 5


def test_refusals_come_before_the_draw():
    for counts, universe, wish, error in (
        ({"secret": 1}, Texts("ab", 3), 1, errors.OutOfRange),
        ({"a": 1}, Texts("ab", 3), 0, errors.OutOfRange),
    ):
        with pytest.raises(error) as caught:
            select_cells(counts, universe, epsilon=1, false_keys=wish)
        assert "secret" not in str(caught.value)
    with pytest.raises(errors.OutOfRange):
        Texts("aa", 2)
    with pytest.raises(errors.PromiseBroken):
        select_cells({"a": 1}, Texts("ab", 3), epsilon=1, randomness=SeededRandomness(1))


def test_nothing_is_held():
    assert select_cells({}, Texts("ab", 3), epsilon=1, false_keys="1e-9").keys == ()


def test_published_keys_are_those_that_the_statement_allows(tmp_path):
    """The statement of another universe, and a list with an impossible key, one twice or a rare one were believed."""
    noise = selected_cell_noise(["word", "n"], Texts("abc", most=3), false_keys="1/2")
    ut.release({"word": ["a", "b"], "n": [900, 800]}, ut.Promise(noise=noise), epsilon=1, once=True).save(
        tmp_path / "t.csv"
    )
    text, said = (tmp_path / "t.csv").read_text(), json.loads((tmp_path / "t.csv.json").read_text())
    forged = json.loads(json.dumps(said))
    forged["promise"]["noise"]["universe"]["alphabet"] = "xyz"
    (tmp_path / "t.csv.json").write_text(json.dumps(forged))
    with pytest.raises(BadTable, match="must be possible"):
        ut.read_release(tmp_path / "t.csv")
    for row in ("a,900", "abcd,900", ",900", "c,2", "c,900.5", "c,"):
        (tmp_path / "t.csv").write_text(f"{text}{row}\n")
        digest = {"of": "file", "sha256": sha256((tmp_path / "t.csv").read_bytes()).hexdigest()}
        (tmp_path / "t.csv.json").write_text(json.dumps(said | {"rows": said["rows"] + 1, "table": digest}))
        with pytest.raises(BadTable, match="selected key"):
            ut.read_release(tmp_path / "t.csv")


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_keys_of_numbers_and_texts_are_read_from_each_kind_of_file(tmp_path, ending):
    universe = Tuples(range(-2, 5), ["1.50", "", "x"], [1, 2])
    counts = {"a": [-2, 4], "b": ["1.50", ""], "c": [1, 2], "n": [900, 800]}
    if ending != "csv":
        counts["b"] = ["1.50", "x"]
    noise = selected_cell_noise(["a", "b", "c", "n"], universe, false_keys="1/2")
    released = ut.release(counts, ut.Promise(noise=noise), epsilon=1, once=True)
    released.save(tmp_path / f"t.{ending}")
    assert ut.read_release(tmp_path / f"t.{ending}").statement["rows"] == released.rows


def test_selected_keys_of_shares_are_read_again(tmp_path):
    noise = key_noise(["word", "n"], delta="1e-6", keys=2, shares=8)
    released = ut.release({"word": ["a", "b"], "n": [9000, 800]}, ut.Promise(noise=noise), epsilon=1, once=True)
    released.save(tmp_path / "t.csv")
    assert ut.read_release(tmp_path / "t.csv").statement["rows"] == released.rows == 2
