"""Optimal mechanism and certificate for n = 40 to 10 000 counts, beside HiGHS and qif in the same run.

Run: PYTHONPATH=src python benchmarks/design/optima_of_ten_thousand_counts_take_seconds.py

Ours: remap, loss and a proven gap, in floats for every n, and exactly (in rationals, without a solver) up to 400.
HiGHS: the user's linear program in floats at tolerance 1e-10, without repair or proof. qif: its own program. Both
stop where a minute does not do; qif is left out where it is not installed. "off" is how far the reported loss is from
the proven interval, relatively: a negative number is a loss below the optimum.
"""

import math
import time
from fractions import Fraction
from importlib.util import find_spec

import numpy as np

from utmost.design import optimal_mechanism, user_program
from utmost.privacy import PrivacyType
from utmost.programs import solve
from utmost.spaces import Consumer, counts, losses, priors

SIZES = (40, 100, 400, 2_000, 10_000)
ALPHA = "9/10"
HIGHS_TO, QIF_TO, EXACT_TO = 100, 40, 400


def main():
    spent = []
    for n in SIZES:
        prior = np.random.default_rng(n).dirichlet(np.ones(n + 1))
        ptype, consumer = PrivacyType(counts(n), alpha=ALPHA), Consumer(prior, losses.absolute)
        seconds, found = timed(lambda ptype=ptype, consumer=consumer: optimal_mechanism(ptype, consumer))
        spent.append(seconds)
        print(f"n = {n:6,}: ours {seconds:8.3f} s, loss {found.loss:.12f}, gap {found.gap / found.loss:.0e}")
        if n <= EXACT_TO:
            rational = Consumer(priors.from_counts(np.rint(prior * 10**6).astype(int)), losses.absolute)
            seconds, exact = timed(lambda ptype=ptype, rational=rational: optimal_mechanism(ptype, rational))
            print(f"            ours {seconds:8.3f} s, exact, gap {exact.gap}, verified {exact.certificate.verify()}")
        if n <= HIGHS_TO:
            program = user_program(ptype, consumer)
            seconds, solution = timed(lambda program=program: solve(program))
            beside("HiGHS", seconds, solution.value, found, spent[-1])
        if n <= QIF_TO and find_spec("qif"):
            seconds, loss = timed(lambda prior=prior, n=n: qif_loss(prior, n))
            beside("qif", seconds, loss, found, spent[-1])
    for (small, fast), (large, slow) in zip(
        zip(SIZES, spent, strict=True), list(zip(SIZES, spent, strict=True))[1:], strict=False
    ):
        print(f"growth from {small:,} to {large:,}: n^{math.log(slow / fast) / math.log(large / small):.2f}")


def timed(work):
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def beside(name, seconds, loss, found, ours):
    off = min(0.0, loss - found.lower) + max(0.0, loss - found.loss)
    print(f"  {name:>8}: {seconds:10.3f} s, {seconds / ours:8.0f} times ours, off {off / found.loss:+.0e}")


def qif_loss(prior, n):
    import qif

    epsilon = -math.log(float(Fraction(ALPHA)))

    def loss(x, y):
        return float(abs(x - y))

    channel = qif.mechanism.d_privacy.min_loss_given_d(prior, n + 1, lambda x, y: epsilon * abs(x - y), loss)
    return qif.utility.expected_distance(loss, prior, channel)


if __name__ == "__main__":
    main()
