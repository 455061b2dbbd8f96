"""Sums as people write them: every name of a part is read back as that part, and what is not known is named."""

from fractions import Fraction

import pytest

from utmost.errors import NotANumber, OutOfRange

# Commands and pages share these readers; a command would start anew for each of fifty texts.
from utmost.publish.workloads.sums_in_words import read_marginal, read_selection, read_share, read_wanted
from utmost.workloads import Domain, Workload, bins, hierarchy, plain

PLACE = hierarchy({"the North": ["a b", "a"], "South, far": ["c=d", "e"]}, names=["region", "district"])
DOMAIN = Domain(
    {"place": PLACE, "age": bins(0, 40, width=5), "age group": ["1", "2"], "x": plain([1, 2], other="else, or not")}
)


@pytest.mark.parametrize("words", [
    (), ("region",), ("age group", "age"), ("age/2", "x", "district"), (("region", "the North"), "age"),
    (("district", "a b"), ("x", "else, or not")), (("district", "c=d"),),
    (("age", "[5, 10)"), "x"), ("district", ("x", "2")),
])  # fmt: skip
def test_the_name_of_a_part_is_read_back_as_that_part(words):
    """With spaces, commas and equals signs in names and labels, and a weight behind."""
    (part,) = Workload(DOMAIN, {words: 1}).parts
    (again,) = read_wanted(DOMAIN, [part.name]).parts
    assert again.sums == part.sums
    (weighed,) = read_wanted(DOMAIN, [f"{part.name} =2/3"]).parts
    assert (weighed.sums, weighed.weight) == (part.sums, Fraction(2, 3))
    assert Workload(DOMAIN, {read_marginal(DOMAIN, part.name): 1}).parts[0].sums == part.sums


@pytest.mark.parametrize("made", [
    Workload.ranges(DOMAIN, "age", weight=2), Workload.prefixes(DOMAIN, "age", by="region x"),
    Workload.sums(DOMAIN, [{"age": slice(5, 20), "x": "1"}, {"age": slice(None, 20)}]),
])  # fmt: skip
def test_ranges_prefixes_and_single_sums_are_read_back(made):
    again = read_wanted(DOMAIN, [f"{part.name} ={part.weight}" for part in made.parts])
    assert [(part.sums, part.weight) for part in again.parts] == [(part.sums, part.weight) for part in made.parts]


def test_a_number_behind_a_level_is_its_weight_unless_it_is_a_label():
    found = [(part.name, part.weight) for part in read_wanted(DOMAIN, ["region=3", "x=2", "x =2", "x=2=5", "=4"]).parts]
    assert found == [("region", 3), ("x=2", 6), ("x", 2), ("", 4)]
    assert [part.weight for part in read_wanted(DOMAIN, ["region=2"], per_answer=True).parts] == [4]
    named = Domain(total=["a", "b"])
    assert [part.name for part in read_wanted(named, ["total", ""]).parts] == ["total", ""]


def test_a_selection_takes_labels_with_commas_and_ranges():
    def taken(*texts):
        return [row.tolist() for row in DOMAIN.selection(read_selection(DOMAIN, texts))]

    assert taken("district=a b, c=d") == [row.tolist() for row in DOMAIN.selection({"district": ["a b", "c=d"]})]
    assert taken("region=South, far") == [row.tolist() for row in DOMAIN.selection({"region": "South, far"})]
    assert taken("age=[0, 5),[5, 10)") == taken("age=..10") == taken("age=0..10")
    assert taken("age group=1,2", "x=else, or not,1")[2:] == [[True, True], [True, False, True]]
    assert read_selection(DOMAIN, []) == {}


REFUSED = [
    (lambda: read_selection(DOMAIN, ["regoin=a"]), "Did you mean 'region'"),
    (lambda: read_selection(DOMAIN, ["region"]), "COLUMN=LABEL"),
    (lambda: read_selection(DOMAIN, ["x=3"]), "Its labels are "),
    (lambda: read_selection(DOMAIN, ["x=1..2"]), "needs an axis of bins"),
    (lambda: read_selection(DOMAIN, ["age=0..7"]), "edges of bins"),
    (lambda: read_selection(DOMAIN, ["age=0..y"]), "age"),
    (lambda: read_wanted(DOMAIN, []), "want= must name at least one table"),
    (lambda: read_wanted(DOMAIN, ["region district"]), "one level of each axis"),
    (lambda: read_wanted(DOMAIN, ["region place"]), "Its levels are"),
    (lambda: read_wanted(DOMAIN, ["region=0"]), "positive"),
    (lambda: read_wanted(DOMAIN, ["region =many"]), "weight"),
    (lambda: read_wanted(DOMAIN, ["age=0..10 region"]), "want= must not name a range"),
    (lambda: read_wanted(DOMAIN, ["ranges of region"]), "must name the finest level of an axis"),
    (lambda: read_wanted(DOMAIN, ["ranges of "]), "must name axes"),
    (lambda: read_share(DOMAIN, "region"), "share must be a table and a number, written TABLE=NUMBER"),
    (lambda: read_share(DOMAIN, "x=2=1/2"), "share must be a table and a number, written TABLE=NUMBER"),
    (lambda: read_marginal(DOMAIN, "age=0..10"), "levels and their labels"),
]


@pytest.mark.parametrize(("ask", "said"), REFUSED)
def test_what_is_not_known_is_named(ask, said):
    with pytest.raises((OutOfRange, NotANumber), match=said):
        ask()


def test_what_is_no_weight_is_refused_in_the_words_of_a_want():
    with pytest.raises(NotANumber, match="'y'"):
        read_wanted(Domain(sex=["men", "women"]), ["sex =y"])
