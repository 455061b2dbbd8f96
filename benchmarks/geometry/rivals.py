"""lrs, cddlib and the Parma Polyhedra Library counting the vertices of a polyhedron, each in a process of its own.

A polyhedron is given as equations and inequalities, rows [b | a] of rationals for b + a . x = 0 and >= 0. A rival that
is not installed says so (Debian package lrslib; Python packages pycddlib, pplpy); one that computes for longer than
half a minute is stopped, and one that has not ended after three times as long by the clock, whatever it waits for.
"""

import os
import resource
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from fractions import Fraction
from math import lcm
from multiprocessing import get_context

LIMIT = 30
PATIENCE = 3
"""So many times the limit a rival may take by the clock."""


def timed(work):
    """Seconds of computing, on one core, so that a busy machine changes little; and the answer."""
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


def lrs(equations, inequalities):
    program = shutil.which("lrs")
    if program is None:
        raise ImportError("lrs")
    rows, count = [*equations, *inequalities], len(equations)
    linear = [f"linearity {count} {' '.join(str(k + 1) for k in range(count))}"] if count else []
    head = ["H-representation", *linear, "begin", f"{len(rows)} {len(rows[0])} rational"]
    text = "\n".join([*head, *(" ".join(map(str, row)) for row in rows), "end", ""])
    answer = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    return sum(line.startswith(" 1 ") for line in answer.stdout.splitlines())


def cdd(equations, inequalities):
    import cdd.gmp as exact

    table = [[Fraction(x) for x in row] for row in (*equations, *inequalities)]
    matrix = exact.matrix_from_array(table, rep_type=exact.RepType.INEQUALITY, lin_set=range(len(equations)))
    return len(exact.copy_generators(exact.polyhedron_from_matrix(matrix)).array)


def ppl(equations, inequalities):
    from ppl import C_Polyhedron, Constraint_System, Variable

    x = [Variable(k) for k in range(len(inequalities[0]) - 1)]
    system = Constraint_System()
    for rows, is_equation in ((equations, True), (inequalities, False)):
        for row in rows:
            scale = lcm(*(Fraction(a).denominator for a in row))
            constant, *factors = (int(a * scale) for a in row)
            total = sum((a * v for a, v in zip(factors, x, strict=True) if a), 0 * x[0]) + constant
            system.insert(total == 0 if is_equation else total >= 0)
    return sum(generator.is_point() for generator in C_Polyhedron(system).minimized_generators())


RIVALS = (lrs, cdd, ppl)


def run_apart(rival, equations, inequalities):
    """What a rival found and how long it computed, as text."""
    context = get_context("fork")
    answers = context.SimpleQueue()
    worker = context.Process(target=_answer, args=(rival, equations, inequalities, answers))
    worker.start()
    worker.join(PATIENCE * LIMIT)
    if worker.is_alive():
        _end(worker)
        return f"not within {PATIENCE * LIMIT} s by the clock"
    return answers.get() if not answers.empty() else f"not within {LIMIT} s"


def _end(worker):
    """End a worker with the program that it may have started, which is in its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.kill()
    worker.join()


def _answer(rival, equations, inequalities, answers):
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (_used() + LIMIT, _used() + LIMIT + 1))
    before = _used(exactly=True)
    try:
        found = rival(equations, inequalities)
    except ImportError:
        answers.put("not installed")
    except subprocess.CalledProcessError:
        answers.put(f"not within {LIMIT} s")
    else:
        answers.put(f"{found:,} in {_used(exactly=True) - before:.3f} s")


def _used(exactly=False):
    """Seconds that this process and its children have computed."""
    each = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(used.ru_utime + used.ru_stime for used in each)
    return seconds if exactly else int(seconds)
