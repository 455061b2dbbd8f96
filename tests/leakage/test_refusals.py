"""Calls that hypers, measures and capacities refuse, each by its class of error."""

import pytest

from utmost.capacities import capacity
from utmost.channels import Channel, geometric_channel
from utmost.errors import NotAChannel, NotALoss, NotAPrior, OutOfRange, Unsupported
from utmost.leakage import (
    bayes_risk,
    bayes_vulnerability,
    g_vulnerability,
    guessing_entropy,
    hyper,
    hyper_of,
    l_uncertainty,
    property_vulnerability,
    shannon_capacity,
    shannon_entropy,
)

COIN = Channel([["1/2", "1/2"], ["1/2", "1/2"]])
SIGNED = g_vulnerability([[-1, 0], [1, 0]])


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: hyper([["1/2", "1/4"]], [1]), NotAChannel),
        (lambda: hyper([[1], [1]], ["1/2", "1/4"]), NotAPrior),
        (lambda: hyper([[1], [1]], [1]), OutOfRange),
        (lambda: hyper([[1], [1]], [True, False]), NotAPrior),
        (lambda: hyper_of([[1], [0]], ["1/2", "1/2"]), NotAPrior),
        (lambda: hyper_of([[1, 0], [0, "1/2"]], ["1/2", "1/2"]), NotAPrior),
        (lambda: hyper(geometric_channel(3, alpha="1/2"), [0, "1/2", "1/2"]).channel(), NotAPrior),
        (lambda: bayes_vulnerability.posterior(COIN), Unsupported),
        (lambda: g_vulnerability([[1]]).prior([1, 0]), NotALoss),
        (lambda: l_uncertainty([[1]]).prior([1, 0]), NotALoss),
        (lambda: g_vulnerability([[]]), NotALoss),
        (lambda: g_vulnerability([[float("nan")], [1]]), NotALoss),
        (lambda: SIGNED.multiplicative_leakage(COIN, [1, 0]), NotALoss),
        (lambda: shannon_entropy.strategy(COIN, [1, 0]), Unsupported),
        (lambda: bayes_risk.posterior(hyper(COIN, [1, 0]), [1, 0]), Unsupported),
        (lambda: property_vulnerability([{0}, {0, 1}]), OutOfRange),
        (lambda: property_vulnerability([{0}, {2}]), OutOfRange),
        (lambda: property_vulnerability([]), OutOfRange),
        (lambda: capacity([["1/2"]]), NotAChannel),
        (lambda: shannon_entropy.capacity([[1]]), Unsupported),
        *(
            (lambda measure=measure: capacity([[1]], measure, "both"), OutOfRange)
            for measure in (None, shannon_entropy, bayes_risk, guessing_entropy)
        ),
        (lambda: capacity([[1]], bayes_risk, prior=[1]), OutOfRange),
        (lambda: shannon_capacity(Channel([[1]]), gap=0), OutOfRange),
    ],
)
def test_refused(call, error):
    with pytest.raises(error):
        call()
