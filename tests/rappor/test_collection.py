"""From words to counts: filters, exact responses in any order, tallies, and decoding of a real list of names."""

import copy
import csv
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.stats import chisquare

# The slower of two searches is taken only where the quicker one does not end; both are compared with SciPy's.
from utmost.design.local import decoding
from utmost.errors import NotANumber, OutOfRange, PromiseBroken, Unsupported
from utmost.exact import level
from utmost.local import (
    BitResponse,
    Bloom,
    BloomCounts,
    Coupling,
    FoundWord,
    PermanentResponses,
    decode,
    relax,
    respond,
    tighten,
)
from utmost.testing import SeededRandomness, seeded_responses

N = 100_000
SIGNIFICANCE = 1e-6
NAMES = Path(__file__).parents[2] / "examples" / "first_names.csv"
PAIRS = list(product((0, 1), repeat=2))


def fits(counts, probabilities):
    expected = np.array([float(p) for p in probabilities]) * sum(counts)
    return chisquare(counts, expected).pvalue > SIGNIFICANCE


@pytest.mark.parametrize("order", list(permutations(["3/4", "1/2", "1/5"])), ids="-".join)
def test_permanent_responses_have_the_joint_distribution_in_every_order(order):
    for bit in (0, 1):
        answer = seeded_responses(np.full(N, bit), seed=f"{order} {bit}")
        drawn = {a: answer.at(a) for a in order}
        assert (answer.at(order[0]) == drawn[order[0]]).all(), "asked again, the same"
        f = {a: BitResponse.permanent(a) for a in order}
        upper, lower = Coupling(f["3/4"], f["1/2"]), Coupling(f["1/2"], f["1/5"])
        counts, distribution = [], []
        for z1, z2, z3 in product((0, 1), repeat=3):
            counts.append(np.sum((drawn["3/4"] == z1) & (drawn["1/2"] == z2) & (drawn["1/5"] == z3)))
            kept = upper.lower_given(z2)
            distribution.append(lower.joint(bit)[z2, z3] * (kept if z1 else 1 - kept))
        assert fits(counts, distribution)
    assert answer.parameters == (Fraction(3, 4), Fraction(1, 2), Fraction(1, 5))
    assert answer.spent == level(alpha=Fraction(1, 9))
    assert answer.spent_by_value(2) == level(alpha=Fraction(1, 9)).scaled(4)


def test_single_steps_have_their_distributions():
    lower, higher = BitResponse("3/5", "3/10"), BitResponse("4/5", "1/10")
    pair = Coupling(lower, higher)
    for bit in (0, 1):
        bits = np.full(N, bit)
        first = respond(bits, lower)
        second = relax(bits, first, lower, higher)
        assert fits([np.sum((first == a) & (second == b)) for a, b in PAIRS], [pair.joint(bit)[z] for z in PAIRS])
        back = tighten(respond(bits, higher), higher, lower)
        assert fits([back.sum(), N - back.sum()], [lower.of(bit), 1 - lower.of(bit)])


def test_bits_beside_each_other_are_drawn_by_chances_of_their_own():
    """Ones and zeros in one array, also by chances that are nearly 1 and nearly 0."""
    bits, least = np.tile([True, False], N), Fraction(1, 1 << 60)
    for one, zero in ((Fraction(99, 100), Fraction(1, 3)), (1 - least, Fraction(1, 2)), (Fraction(2, 3), least)):
        drawn = respond(bits, BitResponse(one, zero))
        for own, chance in ((drawn[::2], one), (drawn[1::2], zero)):
            if least < chance < 1 - least:
                assert fits([own.sum(), N - own.sum()], [chance, 1 - chance])
            else:
                assert own.sum() == round(chance) * N


def test_responses_are_packed_copies_of_any_shape():
    bits = np.zeros((3, 5, 2), bool)
    answer = PermanentResponses(bits)
    bits[:] = True
    assert answer.at("1e-15").sum() == 0  # of which 2 10^15 bits turn one
    assert answer.at("1/2").shape == (3, 5, 2)
    assert PermanentResponses(np.zeros((0, 8), bool)).at("1/2").shape == (0, 8)
    assert PermanentResponses(1).at("1/3").shape == ()
    assert (PermanentResponses([0]).spent, PermanentResponses([0]).spent_by_value(2)) == (None, None)


def test_responses_guard_their_secret(monkeypatch):
    answer = PermanentResponses([0, 1])
    answer.at("1/2")
    assert "[" not in repr(answer)
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(Unsupported, match="copied"):
            copied(answer)
    with pytest.raises(PromiseBroken, match="nobody can predict"):
        PermanentResponses([0], randomness=SeededRandomness(1))
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert answer.at("1/2").shape == (2,)
    with pytest.raises(Unsupported, match="the process that gave"):
        answer.at("1/4")


def test_filters():
    """Each word sets its own places, other cohorts and keys others; more than eight hashes need a second digest."""
    bloom = Bloom(bits=64, hashes=11, cohorts=3, key=b"one")
    words, cohorts = ["ann", "bo", "ann", "ann"], [0, 0, 0, 2]
    filters = bloom.encode(words, cohorts)
    assert filters.shape == (4, 64)
    for row, word, cohort in zip(filters, words, cohorts, strict=True):
        assert np.flatnonzero(row).tolist() == sorted(set(bloom.places(word, cohort)))
    assert (filters[0] == filters[2]).all()
    assert (filters[0] != filters[3]).any()
    assert bloom.places("ann", 0) != Bloom(64, 11, 3, b"two").places("ann", 0)
    assert len(bloom.places("ann", 0)) == 11
    assert bloom.encode([], []).shape == (0, 64)
    assert Bloom(1, 1).encode(["x", "é\ud800"], [0, 0]).tolist() == [[True], [True]]
    assert "one" not in repr(bloom)
    drawn = bloom.cohort_of(30_000, randomness=SeededRandomness(2))
    assert fits(np.bincount(drawn), [Fraction(1, 3)] * 3)


def test_places_are_spread_evenly():
    bloom = Bloom(bits=10, hashes=4)
    places = [place for k in range(5000) for place in bloom.places(f"word {k}", 0)]
    assert fits(np.bincount(places), [Fraction(1, 10)] * 10)


def test_tallies_add_up_and_are_unbiased():
    bloom, response = Bloom(bits=16, cohorts=4), BitResponse("7/8", "1/4")
    rng = np.random.default_rng(0)
    bits, cohorts = rng.random((40_000, 16)) < 0.2, rng.integers(0, 4, 40_000)
    said = rng.random(bits.shape) < np.where(bits, float(response.one), float(response.zero))
    tally = BloomCounts.of(said, cohorts, bloom)
    halves = BloomCounts.of(said[:100], cohorts[:100], bloom) + BloomCounts.of(said[100:], cohorts[100:], bloom)
    assert (tally.ones == halves.ones).all()
    assert tally.ones[2].tolist() == said[cohorts == 2].sum(axis=0).tolist()
    truth = np.array([bits[cohorts == c].sum(axis=0) for c in range(4)])
    z = (tally.true_ones(response) - truth) / np.sqrt(tally.variances(response))
    assert abs(z.mean()) < 0.5
    assert 0.75 < z.std() < 1.25


def names(count):
    with NAMES.open(newline="") as file:
        rows = list(csv.DictReader(file))[:count]
    weights = np.array([int(row["per_100000"]) for row in rows], float)
    return [row["name"] for row in rows], weights / weights.sum()


@pytest.mark.parametrize(("rows", "columns"), [(30, 12), (40, 60)])
def test_nonnegative_least_squares_against_scipy(monkeypatch, rows, columns):
    rng = np.random.default_rng(rows)
    A = (rng.random((rows, columns)) < 0.2).astype(float)
    y = A @ np.maximum(rng.normal(size=columns), 0) + rng.normal(size=rows)
    _, norm = nnls(A, y)
    for patience in (decoding._PATIENCE, 0):
        monkeypatch.setattr(decoding, "_PATIENCE", patience)
        x = decoding.nonnegative_least_squares(A.T @ A, A.T @ y)
        assert (x >= 0).all()
        assert np.linalg.norm(A @ x - y) == pytest.approx(norm, rel=1e-8)


def test_a_real_list_of_names_is_decoded_and_relaxing_finds_more():
    """50 000 clients, 100 names: no false name, errors of the right size, and more names at every higher level."""
    listed, weights = names(100)
    rng = np.random.default_rng(11)
    who = rng.choice(len(listed), 50_000, p=weights)
    truth = np.bincount(who, minlength=len(listed))
    candidates = [*listed, *(f"nobody {k}" for k in range(200))]
    bloom = Bloom(bits=128, hashes=2, cohorts=16, key=b"collector")
    cohorts = rng.integers(0, bloom.cohorts, who.size)
    answer = seeded_responses(bloom.encode([listed[i] for i in who], cohorts), seed=4)
    sizes, scores = [], []
    for a in ("9/10", "1/2", "1/5"):
        tally = BloomCounts.of(answer.at(a), cohorts, bloom)
        result = decode(tally, BitResponse.permanent(a), bloom, candidates)
        assert not [each.word for each in result.found if each.word.startswith("nobody")]
        sizes.append(len(result.found))
        assert 0.8 < result.spread < 1.25, "the squares of the residuals are those that are expected"
        scores += [(each.count - truth[listed.index(each.word)]) / each.error for each in result.found]
        assert all(each.p_value <= 0.05 / 300 for each in result.found)
    assert sizes[0] < sizes[1] < sizes[2]
    assert sizes[2] >= 20
    assert abs(np.mean(scores)) < 1
    assert 0.6 < np.std(scores) < 1.4
    mary = result.found[0]
    assert mary.word == "Mary"
    low, high = mary.interval("0.9999")
    assert low < truth[0] < high
    assert result.count("Mary") == mary.count
    assert result.count("nobody 1") == 0
    memo = answer.at("1/5")
    report = BitResponse("3/4", "1/4")
    reports = rng.random(memo.shape) < np.where(memo, float(report.one), float(report.zero))
    whole = BitResponse.permanent("1/5").then(report)
    once = decode(BloomCounts.of(reports, cohorts, bloom), whole, bloom, candidates)
    assert once.found[0].word == "Mary"
    assert len(once.found) < sizes[2], "a report of a response tells less than the response"


def test_without_noise_to_speak_of_the_counts_come_back():
    bloom = Bloom(bits=256, hashes=3, cohorts=2)
    words = ["a"] * 500 + ["b"] * 300 + ["c"] * 200
    cohorts = np.arange(1000) % 2
    answer = seeded_responses(bloom.encode(words, cohorts), seed=1)
    result = decode(
        BloomCounts.of(answer.at("1/1000000"), cohorts, bloom),
        BitResponse.permanent("1/1000000"),
        bloom,
        list("abcdef"),
    )
    assert [(each.word, round(each.count)) for each in result.found] == [("a", 500), ("b", 300), ("c", 200)]
    assert result.others < 20


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: Bloom(0), OutOfRange, "at least 1"),
        (lambda: Bloom(2, hashes=3), OutOfRange, "as many bits as hashes"),
        (lambda: Bloom(2, key=b"x" * 65), OutOfRange, "at most 64 bytes"),
        (lambda: Bloom(2).encode(["a"], [1]), OutOfRange, "integers in 0..0"),
        (lambda: Bloom(2).encode(["a"], [0, 0]), OutOfRange, "must be 1 integers"),
        (lambda: Bloom(2).encode([1], [0]), OutOfRange, "must be text"),
        (lambda: PermanentResponses([0.5]), NotANumber, "made of bits"),
        (lambda: PermanentResponses([2]), NotANumber, "made of bits"),
        (lambda: PermanentResponses([0]).at(1), OutOfRange, "strictly between"),
        (lambda: BitResponse.permanent("1/2").level_of_value(0), OutOfRange, "at least 1"),
        (
            lambda: relax([0], [0, 1], BitResponse.permanent("1/2"), BitResponse.permanent("1/4")),
            OutOfRange,
            "the same shape",
        ),
        (lambda: BloomCounts.of([[1, 0]], [0], Bloom(3)), OutOfRange, r"\(clients, 3\)"),
        (lambda: BloomCounts([[2]], [1]), OutOfRange, "ones must lie between"),
        (lambda: BloomCounts([[-1]], [1]), OutOfRange, "ones from -1"),
        (lambda: BloomCounts([1], [1]), OutOfRange, "ones"),
        (lambda: BloomCounts([[0.5]], [1]), OutOfRange, "integers of 64 bits"),
        (lambda: BloomCounts([["a"]], [1]), OutOfRange, "integers of 64 bits"),
        (lambda: BloomCounts([[1 << 70]], [1 << 70]), OutOfRange, "integers of 64 bits"),
        (lambda: BloomCounts([[1]], [1]) + BloomCounts([[1, 1]], [1]), OutOfRange, "ones of shape"),
        (lambda: FoundWord("x", 1.0, 1.0, 0.0).interval(1), OutOfRange, "confidence"),
        (
            lambda: decode(BloomCounts([[1]], [1]), BitResponse.permanent("1/2"), Bloom(1, 1), ["a", "a"]),
            OutOfRange,
            "distinct words; got 'a' twice",
        ),
        (
            lambda: decode(BloomCounts([[0]], [0]), BitResponse.permanent("1/2"), Bloom(1, 1), ["a"]),
            OutOfRange,
            "at least one client",
        ),
        (
            lambda: decode(BloomCounts([[1]], [1]), BitResponse.permanent("1/2"), Bloom(1, 1), ["a"], significance=0),
            OutOfRange,
            "significance",
        ),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
