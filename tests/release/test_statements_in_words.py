"""Sentences of statements that readers rely on: keys of a single person, sums, margins, the version that wrote another
format."""

import pytest

import utmost as ut
from utmost.errors import Unsupported
from utmost.promises import key_noise, together_noise
from utmost.statements import registry_entry, stated_release

HALF = ut.release({"n": [3, 4]}, ut.Promise("n", unit=ut.Unit(1, 2)), epsilon="1/2", once=True)


@pytest.mark.parametrize(
    ("shares", "held", "alone"),
    [
        (None, "at most 2 keys, each counted once,",
         "A key that one individual alone holds is selected with a chance of 1/2000000; if one individual holds "
         "several such keys, at least one of them is selected with a chance of at most 1/1000000."),
        (60, "at most 2 keys and gives them at most 60 shares in all,",
         "Any key that one individual alone holds is selected with a chance of at most 1/1000000."),
    ],
)  # fmt: skip
def test_a_list_of_keys_says_how_likely_the_key_of_a_lone_holder_is_selected(shares, held, alone):
    words = str(ut.Promise(noise=key_noise(["word", "n"], delta="1e-6", keys=2, shares=shares)).guarantee(epsilon=1))
    assert f"who holds {held} multiplies or divides the chance of any list of keys by at most 2.72, except" in words
    assert alone in words


@pytest.mark.filterwarnings("ignore::utmost.errors.DegreesAsLengths")
def test_margins_have_six_digits_and_are_rounded_up():
    points = ut.Promise(["x", "y"], noise=ut.PointNoise(200))
    released = ut.release({"x": [1.5], "y": [2]}, points, epsilon=1, once=True)
    entry = str(registry_entry(stated_release(released.statement)))
    assert "margins ± 337.084 at 50 %, ± 950.188 at 95 %, ± 1329.09 at 99 %." in entry


def test_signed_sums_are_named():
    noise = together_noise(["a", "b", "c"], unit=ut.Unit(1, 3, nonnegative=True))
    drawn = ut.release({"a": [1], "b": [2], "c": [3]}, ut.Promise(["a", "b", "c"], noise=noise), epsilon=1).statement
    assert "(c at 8/15 of the level; a - b at 7/15 of the level; a + b - c at 7/15" in drawn["noise"]["drawn"]


def test_another_format_is_refused_with_the_version_that_wrote_it():
    with pytest.raises(Unsupported) as refused:
        stated_release({**HALF.statement, "format": 2, "utmost": "1.4.0"})
    assert "Version 1.4.0 of utmost wrote it" in refused.value.remedy
