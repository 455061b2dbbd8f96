"""The best mechanism for places by this package, by HiGHS three ways, and planar Laplace noise: loss and seconds.

Run: PYTHONPATH=src python benchmarks/design/optima_beside_solvers_and_planar_laplace.py [case ...]

Cases as in large_maps_are_designed_in_minutes.py; loss: distance; epsilon 1 per unit. HiGHS gets the user's program,
its simplex method, interior point (without crossover) and first-order method PDLP, one thread and 45 s by the clock
each, up to 64 places; of these none ended in 20 to 40 s by the clock on a busy machine, 1.5 to 5 s of processor, and
larger ones were not tried. What a solver has when it ends is made private (constants are mixed in, as
`utmost.optima.repair` does), and the loss is that of the repaired channel, so that a point that breaks privacy
wins nothing.

qif, where it is installed, solves a program of its own forming; it is stopped after a minute by the clock.

Planar Laplace: noise of density exp(-|z|) / 2 pi on the plane, its position known to a quarter of a unit and remapped
for the reader by Bayes' rule; on roads it keeps the level, since no way is shorter than the straight line.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from importlib.util import find_spec
from multiprocessing import get_context

import numpy as np
from large_maps_are_designed_in_minutes import SPACES, beliefs

from utmost.core.programs.highs import _loaded
from utmost.design.optima.column_generation import certificate_of_rays
from utmost.design.optima.consumer_program import user_program
from utmost.design.spaces import losses
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer

CASES = (
    "grid,36,france grid,36,dirichlet random,36,uniform road,36,sparse grid,64,uniform random,64,dirichlet "
    "grid,100,uniform grid,100,dirichlet grid,100,france random,100,uniform random,100,dirichlet road,100,uniform "
    "road,100,dirichlet road,100,sparse"
)
SEEDS = {"random": 5, "road": 0}
SOLVERS = {
    "simplex": {"solver": "simplex", "presolve": "on"},
    "interior point": {"solver": "ipm", "run_crossover": "off", "presolve": "on"},
    "first-order (PDLP)": {"solver": "pdlp", "presolve": "on", "pdlp_optimality_tolerance": 1e-6},
}
SECONDS, GRACE = 45, 15
MOST = 64  # places that solvers are given
STEP, REACH = 0.25, 16  # of the plane, in units: cells of planar noise, and how far around the places they go


def main():
    compare("grid,16,dirichlet", shown=False)
    for case in sys.argv[1:] or CASES.split():
        compare(case)


def compare(case, shown=True):
    kind, places, prior = case.split(",")
    n = int(places)
    space = SPACES[kind](n)
    consumer, ptype = Consumer(beliefs(prior, n), losses.distance(space)), PrivacyType(space, epsilon=1)
    start = time.process_time()
    found = certificate_of_rays(ptype, consumer)
    if not shown:
        return
    best = float(found.upper)
    say(case, "utmost, certified", best, best, time.process_time() - start, f"gap {float(found.gap) / best:.0e}")
    say(case, "planar Laplace", planar_laplace(spots(kind, n), consumer), best)
    if n > MOST:
        return
    for name, options in SOLVERS.items():
        say(case, f"HiGHS {name}", *in_a_process(by_highs, ptype, consumer, best, options))
    if find_spec("qif") is not None:
        say(case, "qif, its own program", *in_a_process(by_qif, ptype, consumer, best))


def say(case, name, loss, best, seconds=None, note=""):
    shown = "no private channel" if loss is None else f"loss {loss:.7f}, above the best {(loss / best - 1):8.1e}"
    took = "" if seconds is None else f"{seconds:7.1f} s"
    print(f"{case:22} {name:26} {shown:44} {took} {note}", flush=True)


def spots(kind, n):
    """(n, 2): where the places of a case lie."""
    side = round(n**0.5)
    if kind == "grid":
        return np.stack(np.divmod(np.arange(n), side), axis=1).astype(float)
    return np.random.default_rng(SEEDS[kind]).random((n, 2)) * np.sqrt(n)


def planar_laplace(at, consumer):
    """The loss of planar Laplace noise after the reader's best remap of its position."""
    axes = [
        np.arange(low - REACH, high + REACH, STEP) for low, high in zip(at.min(axis=0), at.max(axis=0), strict=True)
    ]
    cells = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    noise = np.exp(-np.hypot(*(at[:, None] - cells[None]).transpose(2, 0, 1)))
    noise /= noise.sum(axis=1)[:, None]
    prior, loss = np.asarray(consumer.prior, float), np.asarray(consumer.loss, float)
    return float(((prior[:, None] * loss).T @ noise).min(axis=0).sum())


def in_a_process(solver, ptype, consumer, best, *options):
    """Loss of what a solver ends with, the best loss, its seconds of processor, and how it ended."""
    context = get_context("fork")
    here, there = context.Pipe()
    worker = context.Process(target=solver, args=(ptype, consumer, there, *options))
    worker.start()
    # Forming the program takes seconds, and is not counted.
    here.recv()
    answer = here.recv() if here.poll(SECONDS + GRACE) else (None, float(SECONDS + GRACE), "stopped")
    worker.kill()
    worker.join()
    loss, seconds, note = answer
    return loss, best, seconds, note


def by_qif(ptype, consumer, back):
    """qif's optimal mechanism; forming its program is part of what it does, and counted."""
    import qif

    prior, loss = (np.asarray(table, float) for table in (consumer.prior, consumer.loss))
    lengths = ptype.level.epsilon_float * np.asarray(ptype.space.distances, float)
    back.send("formed")
    start = time.process_time()
    try:
        values = qif.mechanism.d_privacy.min_loss_given_d(
            prior, loss.shape[1], lambda x, y: lengths[x, y], lambda x, r: loss[x, r]
        )
    except Exception as error:
        back.send((None, seconds_since(start), type(error).__name__))
        return
    back.send((loss_when_private(ptype, consumer, np.asarray(values)), seconds_since(start), ""))


def seconds_since(start):
    return time.process_time() - start


def by_highs(ptype, consumer, back, options):
    highs = _loaded(user_program(ptype, consumer), {**options, "time_limit": float(SECONDS)}, 1e-7)
    back.send("formed")
    start = time.process_time()
    highs.run()
    seconds, status = time.process_time() - start, highs.modelStatusToString(highs.getModelStatus())
    values = np.array(highs.getSolution().col_value).reshape(consumer.secrets, -1)
    back.send((loss_when_private(ptype, consumer, values), seconds, status.lower()))


def loss_when_private(ptype, consumer, near):
    """The expected loss of the nearest private channel that constants make; None where there is none to repair."""
    if not np.isfinite(near).all() or near.sum() == 0:
        return None
    factors = np.exp(-ptype.level.epsilon_float * np.asarray(ptype.space.distances, float))
    near = np.maximum(near, 0)
    near[np.arange(len(near)), near.argmax(axis=1)] += 1 - near.sum(axis=1)
    if near.min() < 0:
        return None
    short = np.zeros(near.shape[1])
    for x in range(len(near)):
        short = np.maximum(short, (factors[x][:, None] * near).max(axis=0) - near[x])
    room = 1 - factors[~np.eye(len(factors), dtype=bool)].max()
    near = near + short / room
    near /= near.sum(axis=1)[:, None]
    return float((np.asarray(consumer.prior, float)[:, None] * near * np.asarray(consumer.loss, float)).sum())


if __name__ == "__main__":
    main()
