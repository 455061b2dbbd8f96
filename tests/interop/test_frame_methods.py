"""Frames of pandas and Polars have the verbs once they are registered, and decide nothing of their own."""

import copy
import pickle

import pytest

import utmost as ut
from running import python
from utmost.errors import NotDeclared, OutOfRange, Unsupported, WrongKind
from utmost.interop import register_frames

VALUES = {"department": ["A", "B"], "admitted": [601, 370]}
EVENTS = {"user": ["ann", "ann", "bob"], "page": ["A", "B", "A"]}


@pytest.fixture(params=["pandas", "polars"])
def frames(request):
    package = pytest.importorskip(request.param)
    assert register_frames(request.param) == (request.param,)
    return package


def test_a_release_of_a_frame_is_the_release_of_its_values(frames):
    """At any level, in the kind of frame that came; at this level no noise is ever seen."""
    frame = frames.DataFrame(VALUES)
    unit = ut.Unit(1, 1)
    promise = ut.Promise("admitted", public="department", unit=unit)
    made = frame.utmost.release(promise, epsilon=100)
    assert type(made.table) is frames.DataFrame
    assert made.table["admitted"].to_list() == VALUES["admitted"]
    assert made.release.at(200).table["admitted_margin"].to_list() == [0, 0]
    assert frame.utmost.release(promise, epsilon=ut.level(alpha="1/2")).level == ut.level(alpha="1/2")


def test_a_count_of_a_frame_is_the_count_of_its_events(frames):
    domain = ut.Domain(page=["A", "B"])
    counted = frames.DataFrame(EVENTS).utmost.count(domain, ut.Counting("user", at_most=2))
    assert list(counted.table("page")["count"]) == [2, 1]
    assert counted.unit == ut.Unit(1, 2)


def test_a_lazy_frame_is_counted_where_it_is():
    polars = pytest.importorskip("polars")
    register_frames("polars")
    counted = polars.LazyFrame(EVENTS).utmost.count(ut.Domain(page=["A", "B"]), ut.Counting("user", at_most=2))
    assert list(counted.table("page")["count"]) == [2, 1]


def test_a_series_is_released_under_its_name():
    pandas = pytest.importorskip("pandas")
    register_frames("pandas")
    made = pandas.Series([7, 9], name="visits").utmost.release(ut.Promise("visits", unit=ut.Unit(1, 1)), epsilon=100)
    assert made.table["visits"].tolist() == [7, 9]


def test_refusals_are_those_of_the_verb_and_draw_nothing(frames):
    """Every column is declared, by a promise and by nothing else."""
    frame = frames.DataFrame(VALUES)
    with pytest.raises(NotDeclared):
        frame.utmost.release(ut.Promise("admitted", unit=ut.Unit(1, 1)), epsilon=1)
    with pytest.raises(WrongKind):
        frame.utmost.release("admitted", epsilon=1)


def test_the_frame_stays_what_it_was(frames):
    """Looking at the verbs changes no values, and copies and pickles carry nothing of ours."""
    frame = frames.DataFrame(VALUES)
    assert type(frame.utmost).__name__ == "FrameMethods"
    again = pickle.loads(pickle.dumps(copy.deepcopy(frame)))
    assert again.equals(frame)
    assert again.to_dict().keys() == VALUES.keys()
    assert b"frame_methods" not in pickle.dumps(frame)


def test_registering_again_changes_nothing_and_replaces_nobody(frames):
    """Both packages would put ours in the place of another's, with a warning."""
    register_frames()
    ours = frames.DataFrame.__dict__["utmost"]
    try:
        frames.DataFrame.utmost = property(lambda frame: "another's")
        with pytest.raises(Unsupported, match="another package"):
            register_frames(frames.__name__)
    finally:
        frames.DataFrame.utmost = ours
    assert register_frames(frames.__name__) == (frames.__name__,)
    with pytest.raises(OutOfRange, match="pandas, polars"):
        register_frames("dask")


def test_nothing_is_registered_before_the_call():
    """The rooms open without either package, and importing them leaves frames as they are."""
    code = """if True:
        import sys
        import utmost, utmost.interop as interop
        interop.register_frames
        print([name for name in ("pandas", "polars") if name in sys.modules])
        sys.modules["pandas"] = None
        try:
            interop.register_frames("pandas")
        except utmost.errors.Unsupported as error:
            print("pip install pandas" in str(error))
    """
    assert python("-c", code).stdout.split() == ["[]", "True"]
