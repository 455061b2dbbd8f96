"""Reports of one of k categories: squared error, length and time, beside the protocols of pure-LDP.

Run: PYTHONPATH=src python benchmarks/rappor/short_reports_have_the_least_error.py [categories] [clients]

pure-LDP asks for scikit-learn, so it is in no group: `pip install pure-ldp` first; without it our rows stand alone. The
error is the sum over categories of squared errors of counts, for each client, at epsilon 1: what theory says of ours,
and what each protocol makes of one and the same Zipf population.
"""

import sys
import warnings
from math import ceil, log2
from time import perf_counter

import numpy as np

from utmost.local import CategoryCounts, best_report, report_categories, short_report

EPSILON = 1


def ours(name, how, truth):
    start = perf_counter()
    reports = report_categories(truth, how)
    drawn = perf_counter()
    estimates = CategoryCounts.of(reports, how).estimates(how)
    return name, how.bits, float(how.variance), estimates, drawn - start, perf_counter() - drawn


def theirs(k, truth):
    try:
        from pure_ldp import frequency_oracles as oracles
    except ImportError:
        return
    hashes = ceil(np.exp(EPSILON)) + 1
    pairs = {
        "pure-LDP direct encoding": (oracles.DEClient, oracles.DEServer, {}, ceil(log2(k))),
        "pure-LDP unary encoding": (oracles.UEClient, oracles.UEServer, {"use_oue": True}, k),
        "pure-LDP local hashing": (oracles.LHClient, oracles.LHServer, {"use_olh": True}, 64 + ceil(log2(hashes))),
        "pure-LDP Hadamard response": (oracles.HadamardResponseClient, oracles.HadamardResponseServer, {}, None),
    }
    for name, (client_kind, server_kind, options, bits) in pairs.items():
        server = server_kind(EPSILON, k, **options)
        more = {} if "Hadamard" not in name else {"hash_funcs": server.get_hash_funcs()}
        client = client_kind(EPSILON, k, **options, **more)
        start = perf_counter()
        try:
            reports = [client.privatise(int(value) + 1) for value in truth]
        except TypeError as error:  # xxhash 3.5 and later hashes no text
            print(f"{name:28} does not run: {error}")
            continue
        drawn = perf_counter()
        for report in reports:
            server.aggregate(report)
        estimates = np.array([server.estimate(x, suppress_warnings=True) for x in range(1, k + 1)], float)
        yield name, bits, None, estimates, drawn - start, perf_counter() - drawn


def main():
    k, n = (int(float(text)) for text in [*sys.argv[1:], *["100", "20000"][len(sys.argv) - 1 :]])
    warnings.simplefilter("ignore")
    weights = 1 / np.arange(1, k + 1)
    truth = np.random.default_rng(1).choice(k, n, p=weights / weights.sum())
    counts = np.bincount(truth, minlength=k)
    start = perf_counter()
    short = short_report(k, EPSILON)
    print(f"{k} categories, {n} clients, epsilon {EPSILON}; the blocks were found in {perf_counter() - start:.1f} s")
    rows = [
        ours("a block (short_report)", short, truth),
        ours("a set (best_report)", best_report(k, EPSILON), truth),
    ]
    print(f"{'':28} {'bits':>6} {'error: theory':>14} {'one run':>9} {'us a report':>12} {'s to count':>11}")
    for name, bits, variance, estimates, drawing, counting in [*rows, *theirs(k, truth)]:
        error, theory = ((estimates - counts) ** 2).sum() / n, "" if variance is None else f"{variance:.2f}"
        length = "" if bits is None else bits
        print(f"{name:28} {length:>6} {theory:>14} {error:9.2f} {drawing / n * 1e6:12.2f} {counting:11.2f}")


if __name__ == "__main__":
    main()
