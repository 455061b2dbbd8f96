"""One draw at a time: utmost, and the call of OpenDP.

Run: PYTHONPATH=src python benchmarks/sampling/single_draws_take_a_microsecond.py
"""

import os

import opendp.prelude as dp
from timing import Contender, compared, shown

from utmost.noise import DiscreteStaircase, Geometric, Laplace
from utmost.sampling import sample

N = 20_000


def calls(function, count):
    def repeated():
        for _ in range(count):
            function()

    return repeated


def main():
    dp.enable_features("contrib")
    scalar = dp.m.make_geometric(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0)
    laws = [Geometric(epsilon=1), DiscreteStaircase(epsilon=1, sensitivity=1000), Laplace(epsilon=1)]
    shown(
        compared(
            [
                *(Contender(repr(law), calls(lambda law=law: sample(law), N), N) for law in laws),
                Contender("OpenDP make_geometric, one call", calls(lambda: scalar(0), 500), 500),
                Contender("os.getpid(), which each of our draws asks", calls(os.getpid, N), N),
                Contender("an empty call", calls(lambda: None, N), N),
            ],
            repeats=15,
        )
    )


if __name__ == "__main__":
    main()
