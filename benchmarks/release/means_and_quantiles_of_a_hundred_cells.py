"""A mean and a quantile over a hundred cells with their error bars: seconds of processor, and times less than before.

Run with PYTHONPATH=src, and OMP_NUM_THREADS=1. "Before" is every point of a mean's bar proven by a distribution of its
own, and the margin of every cut of a quantile; both in the same run, with the same answers.
"""

import time
from fractions import Fraction

import numpy as np

import utmost as ut
from utmost.core.noise import ratio_bars
from utmost.privacy import Unit
from utmost.publish.releases.quantiles import quantile_bar
from utmost.publish.workloads.measuring.forms import selected
from utmost.workloads import Domain, Plan, bins


def timed(work):
    """What came, and the seconds of processor."""
    start = time.process_time()
    return work(), time.process_time() - start


def main():
    draw = np.random.default_rng(0)
    ages = Domain(age=bins(100))
    both = Domain(sex=["women", "men"], age=bins(100))
    for name, domain, marginals in (
        ("100 cells alone", ages, [ages.finest]),
        ("100 cells, and runs of them", ages, list(ages.marginals())),
        ("the same by sex, all marginals", both, list(both.marginals())),
    ):
        plan = Plan(domain, Unit(1, 1), {marginal: Fraction(1, len(marginals)) for marginal in marginals})
        released = ut.release(draw.poisson(50, domain.shape), plan, epsilon=1, once=True).table

        def measured(forms, released=released):
            values = [released.reconstruction.value(released.measured, form) for form in forms]
            margins = [Fraction(released.noise(form).margin(released.confidence)) for form in forms]
            return [(value, abs(value) > margin) for value, margin in zip(values, margins, strict=True)]

        def by_margins(released=released, domain=domain, measured=measured):
            return quantile_bar(domain, selected(domain, {}), "age", "2/3", released.confidence, measured)

        guess = ratio_bars._Noises.guess
        mean, seconds = timed(lambda released=released: released.mean("age"))
        ratio_bars._Noises.guess = lambda *_: 0.0
        same, before = timed(lambda released=released: released.mean("age"))
        ratio_bars._Noises.guess = guess
        assert same.lower - mean.lower < (same.upper - same.lower) / 100 > mean.upper - same.upper
        print(f"{name}: mean {seconds:.3f} s, 1/{before / seconds:.0f} of before", end="; ")
        quantile, seconds = timed(lambda released=released: released.quantile("age", "2/3"))
        same, before = timed(by_margins)
        assert quantile == same
        print(f"quantile {seconds:.3f} s, 1/{before / seconds:.0f}")


if __name__ == "__main__":
    main()
