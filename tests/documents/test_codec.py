"""The one form of documents: whatever is changed in one is refused, or changes nothing that a check says.

A check said "yes" after the theorem's name, its hypotheses, ``alpha`` beside another epsilon, the rounded epsilon or
the format were changed, and after an exact capacity was raised from 20/11 to 2011/1100.
"""

import copy
import json
import math
import re
from fractions import Fraction

import pytest

from utmost import losses, priors
from utmost.capacities import capacity as capacity_of
from utmost.channels import Channel, geometric_channel, randomized_response

# Documents of designs and capacities are read without a command around each.
from utmost.core.exact.written_levels import level_facts
from utmost.design.capacities.capacity import ROUTES
from utmost.design.capacities.capacity_evidence import CAPACITY_METHODS
from utmost.design.geometry.best_action_cells import exact_loss
from utmost.errors import BadTable, Unsupported, UtmostError
from utmost.geometry import universal_mechanism, universality
from utmost.interfaces.documents import capacities, channel_files, designs, verdicts
from utmost.interfaces.documents.space_names import distances_words
from utmost.interfaces.documents.verdicts import StatedVerdict
from utmost.optima import optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, Space, counts, discrete, graph, grid
from utmost.spaces import places as spaces_of_places

STRICT = [
    [0, 1, 3, 2, 3, 3],
    [1, 0, 2, 1, 2, 2],
    [3, 2, 0, 1, 3, 2],
    [2, 1, 1, 0, 2, 1],
    [3, 2, 3, 2, 0, 3],
    [3, 2, 2, 1, 3, 0],
]


def design(space, prior, loss, name=None, *, method="auto", **level):
    optimum = optimal_mechanism(PrivacyType(space, **level), Consumer(prior, loss), method=method)
    written = designs.document(optimum, name)
    assert written["method"] == optimum.method, "how it was found shows in the evidence"
    return written


def capacity(space, *kinds, **level):
    ptype = PrivacyType(space, **level)
    return capacities.document([capacity_of(ptype, kind=kind) for kind in kinds])


def verdict(space, loss, channel=None):
    ptype = PrivacyType(space, alpha="1/2")
    if channel is None:
        return verdicts.document(StatedVerdict.of_existence(universal_mechanism(ptype, loss), ptype))
    found = universality(ptype, loss, channel)
    return verdicts.document(StatedVerdict.of_channel(found, ptype, channel, exact_loss(loss, ptype.space.size)))


TOWNS = {"Oslo": ("59.91", "10.75"), "Hamar": ("60.79", "11.07"), "Moss": ("59.43", "10.66")}
BOTH = ("multiplicative", "additive")
SKEWED = ["1/8", "3/8", "1/2"]
MADE = {
    "design on counts": lambda: design(counts(2), SKEWED, losses.absolute, "absolute", alpha="1/2"),
    "design by another theorem": lambda: design(counts(2), SKEWED, [[0, 1], [1, 0], [1, 0]], alpha="1/2"),
    "design by no theorem": lambda: design(counts(2), SKEWED, losses.nib, "nib", alpha="1/2"),
    "design in floats": lambda: design(counts(3), priors.prior([0.1, 0.2, 0.3, 0.4]), losses.squared, epsilon=1),
    "design by a program": lambda: design(discrete(3), SKEWED, losses.binary, "binary", alpha="1/2"),
    "design near an optimum": lambda: design(
        grid(2, 2), [0.1, 0.2, 0.3, 0.4], losses.binary, method="columns", epsilon=1
    ),
    "design of labelled places": lambda: design(
        spaces_of_places(TOWNS),
        [0.5, 0.2, 0.3],
        losses.binary,
        method="columns",
        epsilon="1/50000",
    ),
    "design of places in kilometres": lambda: design(
        spaces_of_places(TOWNS, metric="geodesic", unit="km"),
        [0.5, 0.2, 0.3],
        losses.binary,
        method="columns",
        epsilon="1/50",
    ),
    "capacities of places in a plane": lambda: capacity(
        spaces_of_places({"a": (0, 0), "b": (301, 407), "c": (0, 1009)}, metric="metres", rounded="10 m"),
        "multiplicative",
        epsilon="1/500",
    ),
    "capacities of a line": lambda: capacity(counts(3), *BOTH, alpha="1/10"),
    "capacities at an irrational level": lambda: capacity(counts(2), *BOTH, epsilon="1/2"),
    "capacities of alike secrets": lambda: capacity(discrete(3), *BOTH, epsilon=1),
    "capacities of a product": lambda: capacity(grid(2, 3, "manhattan"), *BOTH, alpha="1/2"),
    "capacity of a lattice": lambda: capacity(grid(3, 3), "additive", epsilon="1/10"),
    "capacity by its magnitude": lambda: capacity(
        graph([("hub", "a"), ("hub", "b", "3/2")]), "multiplicative", alpha="1/4"
    ),
    "capacity with multipliers": lambda: capacity(Space(STRICT), "multiplicative", alpha="1/2"),
    "verdict of a conflict": lambda: verdict(discrete(3), losses.binary),
    "verdict that one is best": lambda: verdict(counts(2), losses.absolute),
    "verdict of a channel": lambda: verdict(counts(2), losses.absolute, geometric_channel(3, alpha="1/2")),
    "verdict of a worse channel": lambda: verdict(discrete(3), losses.binary, randomized_response(3, alpha="1/2")),
    "channel": lambda: channel_files.document(Channel([["1/3", "2/3"], ["1/2", "1/2"]], ["a", "b"], ["x", "y"])),
    "channel in floats": lambda: channel_files.document(geometric_channel(2, epsilon=1)),
}


def honest(name):
    return json.loads(json.dumps(MADE[name]()))


def vouched(document):
    """What a check of the document says; its reader refuses by raising."""
    if document.get("kind") == designs.KIND:
        certificate = designs.DESIGN.of(document, "x.json")[0]
        assert certificate.verify()
        claims = [certificate.lower, certificate.upper, certificate.theorem]
        return [*claims, *claims_of_type(certificate.ptype, document)]
    if document.get("kind") == capacities.KIND:
        found = capacities.CAPACITIES.of(document, "x.json")
        assert all(one.certificate.verify() for one in found)
        ptype = found[0].certificate.ptype
        said = [[one.certificate.kind, one.value, one.lower, one.theorem, one.mechanism.shape[1]] for one in found]
        return [*claims_of_type(ptype, document), *said]
    if document.get("kind") == verdicts.KIND:
        found = verdicts.VERDICT.of(document, "x.json")
        proof, conflict = found.dominance, found.conflict
        sizes = [] if proof is None else [len(proof.cells.priors), len(proof.cells.cells)]
        return [found.asked, found.holds, found.regret, sizes, conflict and len(conflict.priors), found.better is None]
    return [channel_files.CHANNEL.of(document, "x.json").shape]


def claims_of_type(ptype, document):
    """What a file says of its secrets and its level.

    What places are called is on the writer's word; a position may move as far as no rounded distance changes.
    """
    space, where = ptype.space, {}
    if document["space"]["kind"] == "places":
        where = {name: fact for name, fact in document["space"].items() if name not in ("labels", "positions")}
    return [space.size, space.unit, distances_words(space), where, level_facts(ptype.level)]


def same(one, other):
    """Alike; floats but for what rounding can do."""
    if isinstance(one, dict):
        return isinstance(other, dict) and same([*one.items()], [*other.items()])
    if isinstance(one, list | tuple):
        return isinstance(other, list | tuple) and len(one) == len(other) and all(map(same, one, other))
    return math.isclose(one, other, rel_tol=1e-12) if isinstance(one, float) else one == other


def places(value, path=()):
    """Every place in a document, and what stands there: fields, entries of lists, and the lists and objects."""
    if path:
        yield path, value
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


def is_at_an_end(document, path):
    """Whether a place lies in the first or last entry of each list of numbers or of lists, which are alike."""
    for key in path:
        if isinstance(document, list) and key not in (0, len(document) - 1) and not isinstance(document[0], dict):
            return False
        document = document[key]
    return True


def _near_text(text):
    yield from (text + " ", " " + text, text.upper(), text[:-1], "")
    if re.fullmatch(r"-?\d+(/\d+)?", text):
        number = Fraction(text)
        yield from (str(number * Fraction(101, 100) + 0), str(number * Fraction(99, 100)), str(-number), "0", "1", "7")
        yield from (f"{2 * number.numerator}/{2 * number.denominator}", f"+{text}", float(number), str(float(number)))
    else:
        yield from ("another theorem", "absolute", "squared", "uniform", "kernel", "additive", "program")
        yield from ("multiplicative", "this mechanism", "any mechanism", "closed form")


def others(value):
    """What may stand in this place instead: near values, values of other kinds, nothing, more and less."""
    match value:
        case bool():
            found = [not value, int(value), str(value)]
        case int():
            found = [value + 1, value - 1, -value, -1, 10**6, float(value), value + 0.5, -1.5, str(value), bool(value)]
        case float():
            found = [value * (1 + 1e-9), value * (1 - 1e-9), value / 2, 2 * value, -value, 0.0, str(value), int(value)]
        case str():
            found = list(_near_text(value))
        case list():
            found = [[], value[::-1], value[:-1], value[1:], [*value, *value[-1:]], [*value, "1"], [value], {}, "1"]
        case dict():
            found = [{}, value | {"note": "by the way"}, [value], list(value.values()), "1"]
            found += [{key: part for key, part in value.items() if key != left_out} for left_out in value]
        case _:
            found = []
    return [one for one in [*found, None, 7, "1/3", [], {}] if type(one) is not type(value) or one != value]


def changed(document, path, value):
    document = copy.deepcopy(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return document


def is_proven_all_the_same(document, path, value):
    """Where a document with a change proves another sentence, or not all of them.

    If this mechanism is the best for every prior, then some mechanism is; and the other way round, for the one that is
    in the document. One of two capacities is proven without the other.
    """
    if path == ("asked",):
        return document["verdict"] and value in (verdicts.ANY, verdicts.THIS)
    return path == ("capacities",) and all(one in document["capacities"] for one in value)


def check_change(document, said, path, value):
    other = changed(document, path, value)
    try:
        found = vouched(other)
    except UtmostError:
        return
    assert same(found, said) or is_proven_all_the_same(document, path, value), (path, value)


@pytest.mark.parametrize("dose", [1, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MADE)
def test_whatever_is_changed_is_refused_or_changes_nothing_that_is_said(name, dose):
    document = honest(name)
    said = vouched(document)
    for number, (path, value) in enumerate(places(document)):
        if dose is not None and not is_at_an_end(document, path):
            continue
        found = others(value)
        at = number % len(found)
        for other in found if dose is None else (found[at:] + found[:at])[:dose]:
            check_change(document, said, path, other)


@pytest.mark.parametrize("name", MADE)
def test_no_field_of_a_document_is_left_out_or_made_up(name):
    document = honest(name)
    for key in document:
        with pytest.raises(BadTable):
            vouched(
                {other: value for other, value in document.items() if other != key}
                | ({} if key != "kind" else {"kind": ""})
            )
    for path, value in [((), document), *places(document)]:
        if isinstance(value, dict):
            more = value | {"note": "by the way"}
            with pytest.raises(BadTable):
                vouched(changed(document, path, more) if path else more)


@pytest.mark.parametrize("name", MADE)
def test_another_format_is_refused(name):
    document = honest(name)
    for form in (-1.5, 1.0, 2.0, "1", True, None, [1]):
        with pytest.raises(BadTable, match="format"):
            vouched(document | {"format": form})
    for form in (-1, 0, 2, 99):
        with pytest.raises(Unsupported, match=r"7\.1"):
            vouched(document | {"format": form, "utmost": "7.1"})
        for version in (None, "seven", 7):
            with pytest.raises(Unsupported, match="Another version of utmost wrote the file"):
                vouched(document | {"format": form, "utmost": version})


FOUND_OUT = [
    ("design on counts", ["theorem"], None, "theorem"),
    ("design on counts", ["theorem"], "Theorem 9.9 of nobody", "theorem"),
    ("design on counts", ["hypotheses"], [], "hypotheses"),
    ("design on counts", ["hypotheses", 0], "none", "hypotheses"),
    ("design on counts", ["method"], "program", "method"),
    ("design on counts", ["alpha"], "1/3", "alpha"),
    ("design on counts", ["epsilon_rounded_up"], 0.25, "epsilon_rounded_up"),
    ("design by no theorem", ["theorem"], "Theorem 3.1", "theorem"),
    ("design in floats", ["lower_bound"], 0.0, "lower_bound"),
    ("capacities of a line", ["capacities", 0, "theorem"], "another", "capacities"),
    ("capacities of a line", ["capacities", 0, "theorem"], None, "capacities"),
    ("capacities of alike secrets", ["alpha"], [0.0, 1.0], "alpha"),
]


@pytest.mark.parametrize(("name", "path", "value", "field"), FOUND_OUT)
def test_a_check_names_the_field_that_does_not_follow(name, path, value, field):
    with pytest.raises(BadTable, match=f"x.json, '{field}': the fields of .* must agree with one another"):
        vouched(changed(honest(name), path, value))


def test_a_capacity_that_is_stated_a_little_larger_is_refused():
    """20/11 at alpha = 1/10 was checked as 2011/1100."""
    document = honest("capacities of a line")
    exactly = Fraction(document["capacities"][0]["value"])
    for value in (exactly + Fraction(1, 1100), exactly + Fraction(1, 10**30)):
        with pytest.raises(BadTable, match="'capacities': the fields of"):
            vouched(changed(document, ["capacities", 0, "value"], str(value)))
    twice = document | {"capacities": [*document["capacities"], document["capacities"][0]]}
    with pytest.raises(BadTable, match="at most one of each kind"):
        vouched(twice)


TRUTH = [["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("verdict of a conflict", {"regret": "0", "verdict": True}),
        ("verdict of a conflict", {"regret": "1/25"}),
        ("verdict of a conflict", {"asked": "this mechanism"}),
        ("verdict of a conflict", "a multiplier that is too large"),
        ("verdict of a conflict", {"loss": [["0", "1", "2"], ["1", "0", "1"], ["2", "1", "0"]]}),
        ("verdict of a conflict", {"better": {"prior": ["1", "0", "0"], "mechanism": TRUTH}}),
        ("verdict of a conflict", {"mechanism": TRUTH}),
        ("verdict of a conflict", {"conflict": None}),
        ("verdict of a worse channel", "a mechanism that is of no type"),
        ("verdict of a worse channel", "a mechanism that is no better"),
        ("verdict of a worse channel", {"verdict": True}),
    ],
)
def test_a_verdict_that_does_not_follow_is_refused(name, change):
    document = honest(name)
    if change == "a multiplier that is too large":
        (prior, z), *more = document["duals"]
        change = {"duals": [[prior, ["5", *z[1:]]], *more]}
    elif isinstance(change, str):
        other = TRUTH if "no type" in change else document["mechanism"]
        change = {"better": document["better"] | {"mechanism": other}}
    with pytest.raises(UtmostError):
        vouched(document | change)


def test_what_proves_nothing_names_the_file(tmp_path):
    document = honest("design on counts")
    path = tmp_path / "design.json"
    path.write_text(json.dumps(changed(document, ["dual", 0], "5")))
    with pytest.raises(UtmostError, match=r"design\.json.*dual"):
        designs.read(path)


def test_a_design_with_constraints_is_not_written():
    """Its bounds would not follow from what a document says."""
    optimum = optimal_mechanism(
        PrivacyType(counts(2), alpha="1/2"), Consumer(priors.uniform(3), losses.absolute), constraints=["symmetry"]
    )
    with pytest.raises(Unsupported, match="without constraints"):
        designs.document(optimum, None)


def test_the_routes_of_a_document_are_those_of_the_search():
    assert list(CAPACITY_METHODS) == list(dict.fromkeys(name for name, _ in ROUTES))
