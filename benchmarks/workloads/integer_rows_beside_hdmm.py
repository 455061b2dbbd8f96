"""Integer rows and their products beside HDMM: one axis, all rectangles of 256 x 256, the Census workload SF1.

    python benchmarks/workloads/integer_rows_beside_hdmm.py line 16 64 256      mean variances of ranges and prefixes
    python benchmarks/workloads/integer_rows_beside_hdmm.py plane
    python benchmarks/workloads/integer_rows_beside_hdmm.py sf1

One individual in one cell, geometric noise of every level, root mean square errors over all answers. ``line`` has
beside them the plan without rows and the best *real* rows with Laplace noise, by SciPy's L-BFGS-B from the formula of
McKenna, Miklau, Hay and Machanavajjhala (PVLDB 11, 2018): another descent. HDMM's own program prints 32.692 in units of
sqrt(2)/epsilon for the plane, and 7.332 at epsilon 1 for SF1; its errors go with 1/epsilon at every level.
``plane`` and ``sf1`` draw noise by NumPy, eight times, and compare the squared errors with what is stated.
"""

import sys
import time
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize

from utmost.exact import level
from utmost.privacy import Unit
from utmost.publish.workloads.planning.product_search import product_rows
from utmost.publish.workloads.reconstruction.least_squares import precision_weights
from utmost.publish.workloads.reconstruction.product_reconstruction import ProductReconstruction
from utmost.workloads import Domain, Workload, bins, choose_plan

LEVELS = (0.1, 1, 3)
DRAWS = 8


def real_rows(M, p, steps=500, seed=0):
    """The least tr(M X^-1) that is found of p real rows with Laplace noise, in units of 2/epsilon^2."""
    n = len(M)

    def error(flat):
        B = flat.reshape(p, n)
        s = 1 + B.sum(axis=0)
        X = np.eye(n) - B.T @ np.linalg.inv(np.eye(p) + B @ B.T) @ B
        MX = M * X
        slope = -2 * ((B @ X) @ (M * np.outer(s, s))) @ X + 2 * (MX @ s)
        return float(s @ MX @ s), slope.ravel()

    start = np.random.default_rng(seed).random(p * n)
    options = {"maxiter": steps, "maxcor": 20, "ftol": 1e-12, "gtol": 1e-10}
    return minimize(error, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * (p * n), options=options).fun


def line(sizes):
    for n in sizes:
        for name in ("ranges", "prefixes"):
            wanted = getattr(Workload, name)(Domain(a=bins(n)), "a")
            counts = sorted({max(1, n // 16), max(1, n // 8), max(1, n // 4) if n <= 64 else max(1, n // 16)})
            laplace = min(real_rows(wanted.gram(), p, seed=s) for p in counts for s in range(3 if n <= 256 else 1))
            for epsilon in LEVELS:
                plain = choose_plan(wanted, Unit(1, 1), epsilon=epsilon).value
                started = time.process_time()
                chosen = choose_plan(wanted, Unit(1, 1), epsilon=epsilon, method="rows")
                seconds = time.process_time() - started
                real = laplace * 2 / epsilon**2
                rows = "no rows" if chosen.rows is None else f"{len(chosen.rows.axes[0].rows)} rows"
                print(
                    f"{name} of {n}, epsilon {epsilon}: marginals and hat functions {plain:.6g}, "
                    f"with rows {chosen.value:.6g} "
                    f"({rows}, {len(chosen.shares)} classes, {seconds:.0f} s), {chosen.value / real:.4f} of real rows "
                    f"with Laplace noise, {real:.6g}",
                    flush=True,
                )


def drawn(rows, epsilon):
    """The errors of all cells in each draw, by the library's estimates from NumPy's geometric noise."""
    levels = {marginal: level(epsilon).scaled(share) for marginal, share in rows.shares.items()}
    reconstruction = ProductReconstruction(rows, precision_weights(levels))
    draw = np.random.default_rng(5)
    for _ in range(DRAWS):
        noise = {}
        for marginal, one in levels.items():
            chance, shape = -np.expm1(-one.epsilon_float), rows.shape(marginal)
            noise[marginal] = draw.geometric(chance, shape) - draw.geometric(chance, shape)
        yield reconstruction.floats(noise, rows.base)


def roots(squares, answers):
    """The root of the mean of mean squared errors, and its standard error."""
    means = np.array(squares) / answers
    root = np.sqrt(means.mean())
    return root, means.std(ddof=1) / np.sqrt(len(means)) / 2 / root


def squared_along(parts, errors):
    """The sum of squared errors of all answers of some parts, from those of the cells: an axis after the other."""
    total = 0.0
    for matrices in parts:
        sums = errors
        for place, matrix in enumerate(matrices):
            sums = np.moveaxis(np.tensordot(matrix, sums, axes=([1], [place])), 0, place)
        total += float((sums**2).sum())
    return total


def plane(n=256):
    wanted = Workload.ranges(Domain(x=bins(n), y=bins(n)), "x", "y")
    for epsilon in LEVELS:
        started = time.process_time()
        rows, error = product_rows(wanted, epsilon)
        seconds = time.process_time() - started
        squares = [squared_rectangles(cells) for cells in drawn(rows, epsilon)]
        unit = epsilon / np.sqrt(2)
        root, off = (unit * number for number in roots(squares, wanted.answers))
        print(
            f"rectangles of {n} x {n}, epsilon {epsilon}: {np.sqrt(error) * unit:.3f} of sqrt(2)/epsilon "
            f"(HDMM 32.692), {len(rows.shares)} classes, {seconds:.0f} s; drawn by NumPy {root:.2f} +- {off:.2f}",
            flush=True,
        )


def squared_rectangles(cells):
    """The sum of squared errors of all rectangles: of every strip of rows the differences of two prefixes."""
    corners = np.zeros((len(cells) + 1, cells.shape[1] + 1))
    corners[1:, 1:] = cells.cumsum(axis=0).cumsum(axis=1)
    total = 0.0
    for low in range(len(cells)):
        strips = corners[low + 1 :] - corners[low]
        total += float(corners.shape[1] * (strips**2).sum() - (strips.sum(axis=1) ** 2).sum())
    return total


def sf1_tables():
    """The tables of SF1 as HDMM has them: of each a list of sums for each axis, the other axes summed over."""
    bits = [value.bit_count() for value in range(64)]
    race = np.arange(64)
    single = [race == 1 << k for k in range(6)]
    alone = [*single, ~np.any(single, axis=0)]
    combined = [*(race == k for k in range(1, 64)), *(np.array(bits) == k for k in range(1, 7)), np.array(bits) >= 2]
    white = [race == 1]
    age = np.arange(115)
    ends = [0, 5, 10, 15, 18, 20, 21, 22, 25, 30, 35, 40, 45, 50, 55, 60, 62, 65, 67, 70, 75, 80, 85, 115]
    groups = [(low <= age) & (age < high) for low, high in pairwise(ends)]
    years = [*(age == year for year in range(100)), *((low <= age) & (age < low + 5) for low in (100, 105, 110))]
    adult = [age >= 18]
    sex, sexes = np.eye(2), np.array([[1, 0], [0, 1], [1, 1]])
    both, both_too = np.eye(2), np.array([[1, 0], [0, 1], [1, 1]])
    yes, no = both[:1], both[1:]
    total = {}
    return [
        total, {"race": alone}, total, {"hispanic": both}, total, {"hispanic": both, "race": alone},
        {"hispanic": both_too}, {"race": combined}, total, {"hispanic": both}, {"hispanic": no, "race": combined},
        total, {"race": combined, "age": adult}, {"age": adult}, {"hispanic": both, "age": adult},
        {"hispanic": no, "race": combined, "age": adult}, {"age": adult}, {"sex": sex, "age": groups}, {"sex": sexes},
        {"sex": sex, "race": alone, "age": groups}, {"sex": sexes, "race": alone},
        {"sex": sex, "hispanic": yes, "age": groups}, {"sex": sexes, "hispanic": yes},
        {"sex": sex, "hispanic": no, "race": white, "age": groups}, {"sex": sexes, "hispanic": no, "race": white},
        {"sex": sex, "age": years}, {"sex": sexes}, {"sex": sex, "race": alone, "age": years},
        {"sex": sexes, "race": alone}, {"sex": sex, "hispanic": yes, "age": years}, {"sex": sexes, "hispanic": yes},
        {"sex": sex, "hispanic": no, "race": alone, "age": years}, {"sex": sexes, "hispanic": no, "race": alone},
    ]  # fmt: skip


def sf1():
    domain = Domain(sex=range(2), hispanic=range(2), race=range(64), relationship=range(17), age=range(115))
    parts, matrices, answers = [], [], 0
    for number, table in enumerate(sf1_tables()):
        whole = {axis: np.asarray(rows).astype(int) for axis, rows in table.items()}
        named = {"weight": 1, "per_answer": True}
        parts.append(
            Workload.weighed(domain, whole, name=f"table {number}", **named) if whole else Workload(domain, {"": 1})
        )
        answers += int(np.prod([len(rows) for rows in whole.values()]))
        ones = dict(zip(domain.columns, ([[1] * size] for size in domain.shape), strict=True))
        ones["relationship"] = [[1]]
        matrices.append([np.asarray(whole.get(axis, ones[axis]), dtype=float) for axis in domain.columns])
    wanted = sum(parts[1:], start=parts[0])
    for epsilon in LEVELS:
        started = time.process_time()
        rows, error = product_rows(wanted, epsilon)
        seconds = time.process_time() - started
        squares = [squared_along(matrices, cells) for cells in drawn(rows, epsilon)]
        root, off = roots(squares, answers)
        sums = sum(int(np.prod(rows.shape(marginal))) for marginal in rows.shares)
        print(
            f"SF1, {answers} answers over {domain.size} cells, epsilon {epsilon}: root mean square error times epsilon "
            f"{np.sqrt(error / answers) * epsilon:.4f} (HDMM 7.332), {sums} noisy sums in {len(rows.shares)} classes, "
            f"{seconds:.1f} s; drawn by NumPy {root * epsilon:.2f} +- {off * epsilon:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    command, *sizes = sys.argv[1:] or ["line"]
    {"line": lambda: line(map(int, sizes or [16, 32])), "plane": plane, "sf1": sf1}[command]()
