"""Vertices and kernels against lrs, cddlib and the Parma Polyhedra Library, which know nothing of privacy."""

import shutil
import subprocess
from fractions import Fraction
from itertools import permutations
from math import lcm

import numpy as np
import pytest

from utmost.geometry import count_vertices, kernels, vertices
from utmost.privacy_types import PrivacyType
from utmost.spaces import counts, discrete, grid, hamming

pytestmark = pytest.mark.oracle
TYPES = [counts(2), counts(4), discrete(4), discrete(5), hamming(2), hamming(3), grid(2, 3, metric="manhattan")]


def privacy_rows(space, alpha):
    """[0 | a] with a . v >= 0 for v(y) - alpha^d(x, y) v(x) >= 0."""
    n = space.size
    for x in range(n):
        for y in range(n):
            if x != y:
                row = [Fraction(0)] * (n + 1)
                row[1 + y] += 1
                row[1 + x] -= Fraction(alpha) ** int(space.distances[x, y])
                yield row


def kernel_rows(listed):
    """V lambda = 1 as equations, lambda >= 0."""
    n, m = listed.weights.shape
    equations = [[Fraction(-1), *listed.weights[x]] for x in range(n)]
    bounds = [[Fraction(0), *(Fraction(int(j == k)) for j in range(m))] for k in range(m)]
    return equations, bounds


def by_lrs(equations, inequalities, tmp_path):
    """The vertices that lrs finds, as tuples of Fractions."""
    program = shutil.which("lrs") or pytest.importorskip("lrs", reason="the Debian package lrslib is not installed")
    rows = [*equations, *inequalities]
    text = ["H-representation", f"linearity {len(equations)} {' '.join(str(k + 1) for k in range(len(equations)))}"]
    text += ["begin", f"{len(rows)} {len(rows[0])} rational"] + [" ".join(map(str, row)) for row in rows] + ["end"]
    file = tmp_path / "problem.ine"
    file.write_text("\n".join(text) + "\n")
    # A limit of the processor's time, not of the clock's: the largest take minutes, and machines are busy.
    limited = ["sh", "-c", 'ulimit -t 900 && exec "$@"', "sh", program, str(file)]
    answer = subprocess.run(limited, capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in answer.splitlines() if line.startswith(" 1 ")]
    return {tuple(Fraction(x) for x in line[1:]) for line in lines}


@pytest.mark.parametrize("alpha", ["1/2", "1/3", "9/10"])
@pytest.mark.parametrize("space", TYPES)
def test_vertices_against_lrs(space, alpha, tmp_path):
    """The posteriors of the type, as points of the simplex; as many at every level."""
    total = [Fraction(-1), *[Fraction(1)] * space.size]
    found = by_lrs([total], list(privacy_rows(space, alpha)), tmp_path)
    assert found == {tuple(p) for p in vertices(PrivacyType(space, alpha=alpha))}
    assert len(found) == count_vertices(space)


@pytest.mark.slow
def test_the_four_bit_cube_against_lrs(tmp_path):
    """990 vertices, where the paper prints none."""
    total = [Fraction(-1), *[Fraction(1)] * 16]
    found = by_lrs([total], list(privacy_rows(hamming(4), "1/2")), tmp_path)
    assert found == {tuple(p) for p in vertices(PrivacyType(hamming(4), alpha="1/2"))}


@pytest.mark.parametrize(
    ("space", "alpha"),
    [(counts(2), "1/2"), (counts(4), "1/2"), (counts(4), "1/3"), (discrete(4), "1/2"), (hamming(2), "2/3")],
)
def test_kernels_against_lrs(space, alpha, tmp_path):
    """The vertices of {lambda >= 0, V lambda = 1}, as supports."""
    listed = kernels(PrivacyType(space, alpha=alpha))
    found = by_lrs(*kernel_rows(listed.vertices), tmp_path)
    supports = {tuple(j for j, x in enumerate(point) if x) for point in found}
    assert len(found) == len(supports)
    assert supports == {listed.support(k) for k in range(len(listed))}


@pytest.mark.parametrize(("space", "count"), [(grid(2, 2), 18), (grid(2, 3), 162), (grid(3, 3), 4346)])
def test_euclidean_vertices_against_cdd(space, count):
    """In the log domain, on an integer metric with the same ties: 4346, where the paper prints 4798."""
    cdd = pytest.importorskip("cdd.gmp")
    roots = {1: 10**6, 2: 1414214, 4: 2 * 10**6, 5: 2236068, 8: 2 * 1414214}  # whole numbers for five square roots
    n, squares = space.size, np.rint(np.asarray(space.distances, dtype=float) ** 2).astype(int)
    rows = []
    for x, y in permutations(range(n), 2):
        row = [roots[int(squares[x, y])]] + [0] * (n - 1)  # d(x, y) - f(x) + f(y) >= 0, f(0) = 0
        for secret, sign in ((x, -1), (y, 1)):
            if secret:
                row[secret] += sign
        rows.append(row)
    matrix = cdd.matrix_from_array(rows, rep_type=cdd.RepType.INEQUALITY)
    found = cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array
    assert len({tuple(row) for row in found}) == len(found) == count == count_vertices(space)


KERNEL_TYPES = [(counts(3), "1/2"), (counts(4), "2/3"), (discrete(4), "1/2"), (hamming(2), "1/2")]


@pytest.mark.parametrize(("space", "alpha"), KERNEL_TYPES)
def test_kernels_against_cdd(space, alpha):
    """The same polyhedron in rationals, by another double description."""
    cdd = pytest.importorskip("cdd.gmp")
    listed = kernels(PrivacyType(space, alpha=alpha))
    equations, bounds = kernel_rows(listed.vertices)
    matrix = cdd.matrix_from_array(
        [*equations, *bounds], rep_type=cdd.RepType.INEQUALITY, lin_set=range(len(equations))
    )
    found = cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array
    supports = {tuple(j for j, x in enumerate(row[1:]) if x) for row in found}
    assert supports == {listed.support(k) for k in range(len(listed))}
    assert len(found) == len(listed)


@pytest.mark.parametrize(("space", "alpha"), KERNEL_TYPES)
def test_kernels_against_ppl(space, alpha):
    """The same polyhedron in integers, by the Parma Polyhedra Library."""
    ppl = pytest.importorskip("ppl")
    listed = kernels(PrivacyType(space, alpha=alpha))
    amounts = [ppl.Variable(j) for j in range(len(listed.vertices))]
    system = ppl.Constraint_System()
    for row in kernel_rows(listed.vertices)[0]:
        scale = lcm(*(x.denominator for x in row))
        terms = [int(a * scale) * x for a, x in zip(row[1:], amounts, strict=True)]
        system.insert(sum(terms[1:], terms[0]) == scale)
    for amount in amounts:
        system.insert(amount >= 0)
    found = {
        tuple(j for j, c in enumerate(point.coefficients()) if c)
        for point in ppl.C_Polyhedron(system).minimized_generators()
    }
    assert found == {listed.support(k) for k in range(len(listed))}


@pytest.mark.slow
@pytest.mark.parametrize("space", [counts(5), discrete(5), hamming(3)])
def test_larger_kernels_against_lrs(space, tmp_path):
    """15346, 1291 and 29213 of them."""
    listed = kernels(PrivacyType(space, alpha="1/2"))
    found = by_lrs(*kernel_rows(listed.vertices), tmp_path)
    assert {tuple(j for j, x in enumerate(point) if x) for point in found} == {
        listed.support(k) for k in range(len(listed))
    }


@pytest.mark.parametrize("space", TYPES)
def test_vertices_against_ppl(space):
    """The generators of the polyhedron, in integers."""
    ppl = pytest.importorskip("ppl")
    v = [ppl.Variable(x) for x in range(space.size)]
    system = ppl.Constraint_System()
    system.insert(sum(v[1:], v[0]) == 1)
    for row in privacy_rows(space, "1/2"):
        scale = lcm(*(x.denominator for x in row))
        terms = [int(a * scale) * x for a, x in zip(row[1:], v, strict=True)]
        system.insert(sum(terms[1:], terms[0]) >= 0)
    found = {
        tuple(Fraction(int(c), int(point.divisor())) for c in point.coefficients())
        for point in ppl.C_Polyhedron(system).generators()
    }
    assert found == {tuple(p) for p in vertices(PrivacyType(space, alpha="1/2"))}


@pytest.mark.parametrize("space", TYPES)
def test_vertices_against_cdd(space):
    """The generators of the polyhedron, in rationals."""
    cdd = pytest.importorskip("cdd.gmp")
    matrix = cdd.matrix_from_array(
        [[Fraction(-1), *[Fraction(1)] * space.size], *privacy_rows(space, "1/2")],
        rep_type=cdd.RepType.INEQUALITY,
        lin_set=[0],
    )
    found = cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array
    assert {tuple(Fraction(x) for x in row[1:]) for row in found} == {
        tuple(p) for p in vertices(PrivacyType(space, alpha="1/2"))
    }
