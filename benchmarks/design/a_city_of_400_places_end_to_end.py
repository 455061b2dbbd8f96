"""A designed mechanism for 400 real places: designed, saved, checked, drawn a million times, and attacked.

Run: PYTHONPATH=src python benchmarks/design/a_city_of_400_places_end_to_end.py [PLACES [DRAWS]]

The places are the largest towns of France (examples/towns.csv), the prior their populations, the loss the distance in
kilometres, and the level epsilon = 1 per 20 km along the great circle, for all pairs of towns.

Printed: how each step ended, and its seconds of processor, those of the design in one thread; then the chi-square of
answers for Paris against the row that the certificate checked, and how often the best guess of somebody who knows the
prior is right, beside the stated vulnerability. Draws are from the operating system, so that these
change from run to run.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import csv
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from scipy.stats import chi2, norm

import utmost as ut
from utmost.interfaces.documents import designs
from utmost.interfaces.documents.answers import saved_mechanism
from utmost.tables.files.json_files import encoded

TOWNS = Path(__file__).parents[2] / "examples" / "towns.csv"
LEVEL = "1/20"
LEAST = 20  # draws expected in each cell of the chi-square


def main():
    n, draws = int(sys.argv[1]) if sys.argv[1:] else 400, int(float(sys.argv[2])) if sys.argv[2:] else 10**6
    with step("places and distances"):
        space, prior = towns(n)
    ptype, consumer = ut.PrivacyType(space, epsilon=LEVEL), ut.Consumer(prior, ut.losses.distance(space))
    ut.optimal_mechanism(
        ut.PrivacyType(ut.spaces.grid(4, 4), epsilon=1),
        ut.Consumer(ut.priors.uniform(16), ut.losses.distance(ut.spaces.grid(4, 4))),
        method="columns",
    )  # numba compiles, or loads what it compiled
    with step("design and certificate"):
        design = ut.optimal_mechanism(ptype, consumer, method="columns")
    say("expected distance, km", f"{float(design.loss):.6f}")
    say("none loses less than", f"{float(design.lower):.6f}, relative gap {float(design.gap) / float(design.loss):.0e}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "design.json"
        with step("saved"):
            path.write_bytes(encoded(designs.document(design, "distance")))
        say("size of the document", f"{path.stat().st_size / 1e6:.1f} MB")
        with step("read, and checked again"):
            saved = saved_mechanism(path)
    chi_square(saved.mechanism, draws)
    attacked(saved.mechanism, draws)


def towns(n):
    """The space of the n largest towns, in km, and their populations as a prior of Fractions."""
    with TOWNS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[:n]
    at = {row["name"]: (float(row["latitude"]), float(row["longitude"])) for row in rows}
    return ut.spaces.places(at, unit="km"), ut.priors.from_counts([int(row["population"]) for row in rows])


def chi_square(design, draws):
    """Answers for the first place against its row."""
    row = np.array([float(p) for p in design.certificate.matrix[0]])
    with step(f"{draws} answers for {design.certificate.ptype.space.labels[0]}"):
        answers = design.draw(np.intp(0), shape=draws)
    seen, wanted = np.bincount(answers, minlength=len(row)), row * draws
    large = wanted >= LEAST
    cells = [(seen[large], wanted[large])]
    if not large.all():
        cells.append((seen[~large].sum(keepdims=True), wanted[~large].sum(keepdims=True)))
    seen, wanted = (np.concatenate(side) for side in zip(*cells, strict=True))
    statistic = float(((seen - wanted) ** 2 / wanted).sum())
    say(
        "chi-square",
        f"{statistic:.1f} with {len(seen) - 1} degrees of freedom, p = {chi2.sf(statistic, len(seen) - 1):.3f}",
    )


def attacked(design, draws):
    """The best guess from each answer, for secrets that come as the prior says."""
    kept, told = design.certificate, design.attack()
    prior, matrix = (np.asarray(table, float) for table in (kept.consumer.prior, kept.matrix))
    guess = (prior[:, None] * matrix).argmax(axis=0)
    secrets = np.random.default_rng().choice(len(prior), size=draws, p=prior / prior.sum())
    with step(f"{draws} answers for secrets from the prior"):
        answers = design.draw(secrets)
    right, stated = float((guess[answers] == secrets).mean()), float(told.vulnerability)
    z = (right - stated) / np.sqrt(stated * (1 - stated) / draws)
    off = np.asarray(kept.consumer.loss, float)[secrets, answers]
    say("guessed without an answer", f"{float(told.prior_vulnerability):.5f}")
    say("guessed with it, stated", f"{stated:.5f}")
    say("guessed with it, found", f"{right:.5f}, z = {z:+.2f}, p = {2 * norm.sf(abs(z)):.3f}")
    error = off.std() / np.sqrt(draws)
    say("distance lost, stated", f"{float(design.loss):.4f} km")
    say("distance lost, found", f"{off.mean():.4f} km, z = {(off.mean() - float(design.loss)) / error:+.2f}")


@contextmanager
def step(name):
    start = time.process_time()
    yield
    say(name, f"{time.process_time() - start:.1f} s")


def say(name, value):
    print(f"{name:44} {value}", flush=True)


if __name__ == "__main__":
    main()
