"""Theorem 3.1: the program's value is the remapped geometric mechanism's, for every consumer it speaks of."""

import math
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest

from design.random_consumers import (
    any_consumer,
    loose_consumer,
    monotone_loss,
    random_type,
    strict_consumer,
    unimodal_consumer,
)
from utmost import losses, priors
from utmost.channels import Channel, geometric_channel
from utmost.errors import NotMonotone, OutOfRange, Unsupported
from utmost.optima import bayes_remap, expected_loss, face_value_loss, optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, counts, discrete, grid


def check_theorem(seed, count, largest):
    """alpha^n >= 2^-60, so that the solver's last basis is nearly optimal; the dual of any alpha is checked below."""
    rng = random.Random(seed)
    for k in range(count):
        n = rng.randint(0, largest)
        consumer, ptype = (strict_consumer, loose_consumer)[k % 2](rng, n), random_type(rng, n)
        while n * ptype.level.epsilon_float > 60 * math.log(2):
            ptype = random_type(rng, n)
        closed = optimal_mechanism(ptype, consumer)
        program = optimal_mechanism(ptype, consumer, method="program", exactly=True)
        assert closed.theorem.startswith("Theorem 3.1")
        assert closed.gap == 0
        assert program.method == "program"
        assert program.loss == closed.loss == expected_loss(geometric_channel(n + 1, ptype.level), consumer)


def test_the_program_gives_the_value_of_the_remapped_geometric_mechanism():
    """Theorem 3.1, in rationals: strict and loose losses, priors with and without zeros, alpha of 1/100..99/100."""
    check_theorem(seed=1, count=30, largest=8)


@pytest.mark.slow
def test_the_program_gives_the_value_of_the_remapped_geometric_mechanism_430_times():
    check_theorem(seed=2, count=430, largest=8)


@pytest.mark.slow
def test_the_program_gives_the_value_of_the_remapped_geometric_mechanism_up_to_40():
    check_theorem(seed=3, count=80, largest=40)


def test_the_dual_proves_theorem_3_1_up_to_40_at_every_level():
    """The exact certificate needs no program: 25 consumers, n to 40, alpha of 1/100 to 99/100."""
    rng = random.Random(14)
    for k in range(25):
        n = rng.randint(0, 40)
        consumer, ptype = (strict_consumer, loose_consumer)[k % 2](rng, n), random_type(rng, n)
        assert optimal_mechanism(ptype, consumer).gap == 0


def test_the_theorem_extends_to_unimodal_losses_with_ordered_modes():
    """Any number of actions, losses that differ on the two sides: the exact dual of the remap is feasible."""
    rng = random.Random(4)
    for k in range(60):
        n = rng.randint(0, 9)
        consumer, ptype = unimodal_consumer(rng, n), random_type(rng, n)
        found = optimal_mechanism(ptype, consumer, method="theorem")
        assert found.gap == 0
        if k % 10 == 0 and n <= 6:
            assert optimal_mechanism(ptype, consumer, method="program").loss == found.loss


def test_for_any_other_loss_the_dual_decides_as_the_program_does():
    """Where the remap is not optimal the program is strictly better, and where it is the dual proves it."""
    rng, remapped, programmed = random.Random(5), 0, 0
    for _ in range(80):
        n = rng.randint(1, 5)
        consumer, ptype = any_consumer(rng, n), random_type(rng, n)
        found = optimal_mechanism(ptype, consumer)
        best = optimal_mechanism(ptype, consumer, method="program")
        value = expected_loss(geometric_channel(n + 1, ptype.level), consumer)
        assert found.loss == best.loss
        assert found.certificate.verify()
        assert (found.method == "closed form") == (best.loss == value)
        remapped += found.method == "closed form" and found.theorem is None
        programmed += found.method == "program"
        if found.method == "program":
            assert found.theorem is None
            assert ptype.contains(found.channel)
    assert remapped > 5
    assert programmed > 5


def test_floats_bracket_the_exact_optimum_tightly():
    """lower <= optimum <= loss, and the gap is below 1e-12 of the loss: closed form; 1e-11: program."""
    rng = random.Random(6)
    for k in range(30):
        n = rng.randint(0, 30 if k % 3 else 5)
        exact, ptype = loose_consumer(rng, n), random_type(rng, n)
        truth = optimal_mechanism(ptype, exact).loss
        for method, slack in (("auto", 1e-12), ("program", 1e-11)):
            if method == "program" and n > 5:
                continue
            found = optimal_mechanism(ptype, exact.to_floats(), method=method)
            assert isinstance(found.loss, float)
            near = Fraction(1, 10**14)  # the floats of the prior are not the prior
            assert Fraction(found.lower) <= truth * (1 + near) + Fraction(1, 10**250)
            assert Fraction(found.loss) >= truth * (1 - near)
            assert found.gap <= slack * float(truth) + 1e-250
            assert found.certificate.verify()


@pytest.mark.parametrize("epsilon", ["1/1000000", "1/100", "1/2", 3, 50])
def test_an_irrational_alpha_is_bracketed_for_the_exact_consumer(epsilon):
    """Between the exact optima at two rational levels just around the irrational one."""
    consumer = Consumer(priors.from_counts(range(1, 13)), losses.absolute)
    ptype = PrivacyType(counts(11), epsilon=epsilon)
    found = optimal_mechanism(ptype, consumer)
    around = ptype.level.alpha_interval(300)
    low, high = (
        optimal_mechanism(PrivacyType(counts(11), alpha=a), consumer).loss for a in (around.lower, around.upper)
    )
    assert Fraction(found.lower) <= low <= high <= Fraction(found.loss)
    assert found.gap <= 1e-9 * found.loss


def test_a_float_program_is_exactly_private_and_never_too_good():
    """Repair: the certified matrix keeps the level in rationals, and its loss is at least the proven lower bound."""
    rng = np.random.default_rng(7)
    for space in (counts(9), discrete(4)):
        ptype = PrivacyType(space, epsilon="0.7")
        consumer = Consumer(rng.dirichlet(np.ones(space.size)), losses.nib)
        found = optimal_mechanism(ptype, consumer, method="program", exactly=False)
        assert ptype.contains(Channel(found.certificate.matrix))
        assert found.lower <= found.loss
        assert found.certificate.verify()


def test_large_programs_in_floats_are_repaired():
    """The same when the exact simplex method is not used at all."""
    rng = np.random.default_rng(8)
    for n, epsilon in ((6, "1/3"), (12, 1), (25, "1/2")):
        ptype = PrivacyType(counts(n), epsilon=epsilon)
        consumer = Consumer(rng.dirichlet(np.ones(n + 1)), losses.absolute)
        program = optimal_mechanism(ptype, consumer, method="program", exactly=False)
        closed = optimal_mechanism(ptype, consumer)
        assert ptype.contains(Channel(program.certificate.matrix))
        assert program.loss >= closed.lower
        assert program.lower <= closed.loss
        assert program.gap <= 1e-7


def test_the_figure_of_the_paper():
    """Figure 2: loss 1/3 + 17/48 sqrt 2 + 9/64 sqrt 3 + 5/96 sqrt 5, by G(1/2) remapped by 0, 2, 2, 3, 4, 5."""
    consumer = Consumer([0.25, 0, 0.25, 0, 0.25, 0.25], losses.power("3/2"))
    found = optimal_mechanism(PrivacyType(counts(5), alpha="1/2"), consumer)
    assert found.remap.actions.tolist() == [0, 2, 2, 3, 4, 5]
    assert abs(found.loss - 1.19423215531629191254) < 1e-12
    assert abs(found.lower - 1.19423215531629191254) < 1e-12
    G = geometric_channel(6, alpha="1/2")
    assert abs(face_value_loss(G, consumer) - 1.19898153643735821934) < 1e-14


@pytest.mark.parametrize("alpha", ["1/10", "1/2", "97/100"])
def test_a_uniform_prior_and_the_binary_loss_have_the_known_optimum(alpha):
    """loss 1 - (2 + (n-1)(1-a)) / ((n+1)(1+a)), by the identity remap."""
    a = Fraction(alpha)
    for n in range(1, 9):
        found = optimal_mechanism(PrivacyType(counts(n), alpha=a), Consumer(priors.uniform(n + 1), losses.binary))
        assert found.loss == 1 - (2 + (n - 1) * (1 - a)) / ((n + 1) * (1 + a))
        assert found.remap.actions.tolist() == list(range(n + 1))


def test_200_counts_are_certified_exactly_without_a_solver(monkeypatch):
    # Planted where it is used: whoever calls the solver fails.
    monkeypatch.setattr("utmost.design.optima.optimum.solve_by_rows", None)
    rng = random.Random(9)
    consumer = Consumer(priors.from_counts([rng.randint(0, 99) for _ in range(201)]), losses.absolute)
    found = optimal_mechanism(PrivacyType(counts(200), alpha="9/10"), consumer)
    assert found.is_exact
    assert isinstance(found.loss, Fraction)
    assert found.certificate.verify()


@pytest.mark.slow
def test_10_000_counts_are_bracketed_in_floats():
    rng = np.random.default_rng(10)
    consumer = Consumer(rng.dirichlet(np.ones(10_001)), losses.squared)
    found = optimal_mechanism(PrivacyType(counts(10_000), epsilon="1/10"), consumer)
    assert found.gap <= 1e-11 * found.loss
    assert found.remap.actions.shape == (10_001,)


def test_the_optimal_channel_is_the_remapped_geometric_one_and_costs_its_loss():
    rng = random.Random(11)
    for _ in range(20):
        n = rng.randint(0, 7)
        consumer, ptype = loose_consumer(rng, n), random_type(rng, n)
        found = optimal_mechanism(ptype, consumer)
        G = geometric_channel(n + 1, ptype.level)
        assert found.remap.same_as(bayes_remap(G, consumer))
        assert found.remap.ties == bayes_remap(G, consumer).ties
        assert found.channel.same_as(G @ found.remap)
        assert face_value_loss(found.channel, consumer) == found.loss
        assert ptype.contains(found.channel)
        assert pickle.loads(pickle.dumps(found)).certificate.verify()


def test_a_loss_the_theorem_does_not_cover_is_refused_when_the_theorem_is_asked_for():
    consumer = Consumer(priors.uniform(4), losses.nib)
    with pytest.raises(NotMonotone, match="theorem"):
        optimal_mechanism(PrivacyType(counts(3), alpha="1/2"), consumer, method="theorem")
    with pytest.raises(NotMonotone):
        optimal_mechanism(PrivacyType(discrete(4), alpha="1/2"), consumer, method="theorem")


def test_misuse_is_refused():
    consumer = Consumer(priors.uniform(4), losses.absolute)
    with pytest.raises(OutOfRange, match="3 entries"):
        optimal_mechanism(PrivacyType(counts(2), alpha="1/2"), consumer)
    with pytest.raises(OutOfRange, match="method"):
        optimal_mechanism(PrivacyType(counts(3), alpha="1/2"), consumer, method="simplex")
    with pytest.raises(Unsupported, match="rational"):
        optimal_mechanism(PrivacyType(counts(3), epsilon="1/2"), consumer, exactly=True)
    with pytest.raises(Unsupported, match="rational"):
        optimal_mechanism(PrivacyType(counts(3), alpha="1/2"), consumer.to_floats(), exactly=True)


def theorem_for(loss, n=4, actions=None):
    consumer = Consumer(priors.uniform(n), loss, actions)
    return optimal_mechanism(PrivacyType(counts(n - 1), alpha="1/2"), consumer).theorem


def test_the_hypotheses_are_told_apart():
    square = monotone_loss(random.Random(12), 4, strict=False)
    assert "extended" not in theorem_for(square, 5)
    assert "extended" in theorem_for(losses.asymmetric(1, 3), 5)
    assert theorem_for(losses.absolute, actions=9) is not None
    falling_modes = [[0, 1, 2], [0, 1, 2], [2, 1, 0], [0, 1, 2]]
    two_valleys = [[0, 1, 0, 1]] * 4
    for loss in (losses.nib, falling_modes, two_valleys):
        assert theorem_for(loss) is None
    assert theorem_for([[1, 0], [0, 1]], 2) is None


@pytest.mark.parametrize("alpha", ["1/2", "1/3", "9/10"])
def test_irrational_distances_leave_a_proven_interval(alpha):
    """On a Euclidean grid alpha^sqrt(2) is irrational although alpha is rational; the channel is private exactly."""
    ptype = PrivacyType(grid(2, 3), alpha=alpha)
    found = optimal_mechanism(ptype, Consumer(priors.uniform(6), losses.binary))
    assert 0 < found.gap < 1e-12
    assert found.certificate.verify()
    assert ptype.contains(Channel(found.certificate.matrix))


@pytest.mark.parametrize(
    ("space", "prior", "loss"),
    [
        (counts(3), [0, 0, 1, 0], losses.absolute),
        (counts(0), [1], losses.absolute),
        (counts(3), [0, 1, 0, 0], [[3, 1], [0, 2], [5, 0], [1, 1]]),
        (discrete(3), [0, 1, 0], losses.binary),
    ],
)
def test_whoever_is_sure_loses_exactly_nothing(space, prior, loss):
    """At an irrational alpha the loss was 2e-300, and its lower bound below 0."""
    found = optimal_mechanism(PrivacyType(space, epsilon=1), Consumer(prior, loss))
    assert (found.loss, str(found.lower)) == (0, "0.0")
    assert found.certificate.verify()
    assert found.attack().loss == 0


@pytest.mark.parametrize("epsilon", [30, 50, 100])
@pytest.mark.parametrize("secrets", [3, 8])
def test_a_tiny_loss_is_found_to_its_last_digits(epsilon, secrets):
    """Floats prove no more than 1e-18: of k secrets equally far apart one loses (k-1) alpha / (1 + (k-1) alpha)."""
    found = optimal_mechanism(
        PrivacyType(discrete(secrets), epsilon=epsilon), Consumer(priors.uniform(secrets), losses.binary)
    )
    wrong = (secrets - 1) * math.exp(-epsilon)
    assert found.loss == pytest.approx(wrong / (1 + wrong), rel=1e-14)
    assert 0 < found.lower <= found.loss
    assert found.gap <= 1e-14 * found.loss
    assert found.certificate.verify()
    assert found.attack().loss == pytest.approx(found.loss, rel=1e-12)


@pytest.mark.parametrize(("secrets", "loss"), [(20, losses.binary), (8, losses.nib)])
def test_no_lower_bound_of_a_loss_is_below_0(secrets, loss):
    """Of many variables, and where no basis of floats is optimal, nothing is proven of a loss of 1e-17."""
    found = optimal_mechanism(PrivacyType(discrete(secrets), epsilon=50), Consumer(priors.uniform(secrets), loss))
    assert found.lower >= 0
    assert str(found.lower) != "-0.0"
    assert found.certificate.verify()
