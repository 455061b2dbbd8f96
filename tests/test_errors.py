"""The tree of errors: one root, pickles, messages that say required, came, where and remedy."""

import inspect
import pickle

import pytest

from utmost import errors

LEAVES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.UtmostError)]


@pytest.mark.parametrize("kind", LEAVES)
def test_every_error_descends_from_the_root_and_is_drawn_in_the_tree(kind):
    assert issubclass(kind, errors.UtmostError)
    assert kind.__name__ in (errors.__doc__ or "")


@pytest.mark.parametrize("kind", LEAVES)
def test_an_error_crosses_processes_unchanged(kind):
    error = kind("x must be positive", came=-1, where="row 3", remedy="Pass a positive x.")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == str(error) == "row 3: x must be positive; got -1. Pass a positive x."


def test_a_message_never_dumps_the_data():
    assert len(str(errors.OutOfRange("a short value", came=list(range(10**5))))) < 200


def test_a_message_that_is_cut_ends_after_a_word():
    came = "the noise must be one of " + ", ".join(f"kind{number:03}" for number in range(50))
    text = str(errors.OutOfRange("the file must be sound", came=came))
    assert text.endswith("kind009 ....")
    assert len(text) < 160
    assert str(errors.OutOfRange("x", came="a" * 200)) == f"x; got {'a' * 117}...."
