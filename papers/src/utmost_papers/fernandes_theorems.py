"""Check the theorems of Fernandes et al. (2022) on kernels and on optimality for every prior, and correct misprints."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

import numpy as np

from utmost.core.exact.arrays import Array
from utmost.design.channels.channel import Channel
from utmost.design.channels.on_counts import geometric_channel
from utmost.design.channels.on_spaces import randomized_response
from utmost.design.geometry.decomposition import decompose, is_kernel, is_vertex_mechanism, solve_columns
from utmost.design.geometry.kernel_search import kernels
from utmost.design.geometry.universal_optima import distinguishing_mechanism, universal_mechanism, universality
from utmost.design.geometry.vertex_search import count_vertices
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import losses
from utmost.design.spaces.families import counts, discrete, hamming
from utmost.design.spaces.loss_algebra import lifted_loss
from utmost.design.spaces.space import Space
from utmost_papers.comparison import Comparison, corrected, counted, equal, extended
from utmost_papers.fernandes_figures import HALF, claim, hyper_text, same_columns

F = Fraction
ALPHAS = (F(1, 10), F(1, 2), F(9, 10))
SMALL = (counts(2), counts(3), discrete(3), discrete(4), hamming(2))
FEW = (counts(2), counts(3), discrete(3), hamming(2))


def characterisation() -> Iterator[Comparison]:
    """Check Theorem 3, Properties 1 to 3 of kernels, and that geometric and randomised response are kernels."""
    yield _theorem_3()
    yield from _properties()
    lines = [(n, a) for n in range(1, 7) for a in ALPHAS]
    right = sum(is_kernel(PrivacyType(counts(n), alpha=a), geometric_channel(n + 1, alpha=a)) for n, a in lines)
    yield counted("Lemma 19", "the geometric mechanism is a kernel", right, len(lines))
    sizes = [(k, a) for k in range(2, 7) for a in ALPHAS]
    right = sum(is_kernel(PrivacyType(discrete(k), alpha=a), randomized_response(k, alpha=a)) for k, a in sizes)
    yield counted("Lemma 21", "random response is a kernel", right, len(sizes))
    yield corrected(
        "Lemma 21",
        "its determinant, n = 3, alpha = 1/2",
        "(alpha-1)^(n-1) (alpha+n-1) / k^n",
        F(1, 2) ** 2 * (1 + 2 * F(1, 2)) / 2**3,
        _determinant(randomized_response(3, alpha=HALF).matrix),
        "(1-alpha)^(n-1) (1+(n-1) alpha) / k^n: the proof has alpha on the diagonal, which is the dual",
    )


def optimality(long: bool) -> Iterator[Comparison]:
    """Check which mechanisms are optimal for every prior (sections IV and VI); ``long`` includes larger spaces."""
    yield from _existence()
    yield from _impossibility(long)
    yield _lifting()
    lines = range(2, 7 if long else 5)
    best = sum(
        bool(universality(PrivacyType(counts(n), alpha=HALF), losses.nib, geometric_channel(n + 1, alpha=HALF)))
        for n in lines
    )
    yield extended(
        "Section VI-A",
        "geometric optimal for nib?",
        f"yes, proved on lines of 3 to {lines[-1] + 1}",
        f"yes, proved on lines of 3 to {lines[-1] + 1}" if best == len(lines) else f"{best} of {len(lines)}",
        "the paper only suggests it",
    )
    yield from _section_6_b()


def _theorem_3() -> Comparison:
    right, cases = 0, 0
    for space in SMALL:
        ptype = PrivacyType(space, alpha=HALF)
        for channel in _members(space):
            decomposition = decompose(ptype, channel)
            cases += 1
            right += decomposition.verify(channel) and all(is_kernel(ptype, kernel) for kernel in decomposition.kernels)
    return counted("Theorem 3", "M = B P, B a convex sum of kernels", right, cases)


def _members(space: Space) -> list[Channel]:
    """Return three private channels: one that reveals nothing, a kernel, and a channel that need not be a kernel."""
    nothing = Channel(np.full((space.size, 2), F(1, 2), dtype=object))
    kernel = kernels(PrivacyType(space, alpha="2/3"))[0]
    blend = np.array([[F(2, 3), F(1, 3)], [F(1, 4), F(3, 4)]], dtype=object)
    short = Channel(kernel.matrix[:, :2]) if kernel.shape[1] == 2 else nothing
    return [nothing, kernel, short @ Channel(blend)]


def _properties() -> Iterator[Comparison]:
    not_within, unrelated, pairs, mixtures = 0, 0, 0, 0
    for space in FEW:
        ptype = PrivacyType(space, alpha=HALF)
        listed = kernels(ptype)
        sets = [set(listed.support(k)) for k in range(len(listed))]
        channels = [[list(column) for column in kernel.matrix.T] for kernel in listed]
        mixture = Channel(np.concatenate([kernel.matrix / len(listed) for kernel in listed], axis=1))
        mixtures += is_vertex_mechanism(ptype, mixture) and decompose(ptype, mixture).verify(mixture)
        for first, second in permutations(range(len(listed)), 2):
            pairs += 1
            not_within += not sets[first] < sets[second]
            unrelated += not _refines(channels[first], channels[second])
    yield counted("Property 1", "no kernel lies within another", not_within, pairs)
    yield counted("Property 2", "vertex mechanisms are sums of kernels", mixtures, len(FEW))
    yield counted("Property 3", "no kernel refines another", unrelated, pairs)


def _refines(finer: list[list[Fraction]], coarser: list[list[Fraction]]) -> bool:
    """Return whether coarser = finer P for some channel P. P is unique, because the columns of ``finer`` are
    independent.
    """
    solutions = [solve_columns(finer, column) for column in coarser]
    return all(x is not None and min(x) >= 0 for x in solutions)


def _existence() -> Iterator[Comparison]:
    (only,) = kernels(PrivacyType(counts(1), alpha=HALF))
    same = same_columns(only, geometric_channel(2, alpha=HALF))
    yield claim("Corollary 9", "on two secrets, T is the only kernel", same)
    right = 0
    for space in SMALL:
        ptype = PrivacyType(space, alpha=HALF)
        channel, loss = distinguishing_mechanism(ptype)
        verdict = universality(ptype, loss, channel)
        right += bool(verdict) and verdict.certificate is not None and verdict.certificate.verify()
    yield corrected(
        "Theorem 10",
        "a loss that some mechanism serves",
        "a loss on x1, x2, padded with 0",
        f"l(w, x) = [w != x] on x1, x2: {len(SMALL)} of {len(SMALL)} types",
        f"l(w, x) = [w != x] on x1, x2: {right} of {len(SMALL)} types",
        "the padded loss is not monotone by definition 6; this one is, in every metric",
    )
    a = F(1, 2)
    channel, _ = distinguishing_mechanism(PrivacyType(discrete(4), alpha=a))
    yield corrected(
        "Proof of 10",
        "K on x1, x2, n = 4",
        "1/(k+j) and alpha/(k+j)",
        "2/3 1/3",
        " ".join(map(str, channel.matrix[0])),
        "1/(1+alpha), alpha/(1+alpha): the factor n is lost in the print, and alpha is e^-d(x1, x2)",
    )
    yield corrected(
        "Lemma 2 (app.)",
        "fewest vertices on 4 secrets",
        "when totally ordered: 2(n-1) = 6",
        "cube of 2 bits 6, line 8",
        f"cube of 2 bits {count_vertices(hamming(2))}, line {count_vertices(counts(3))}",
        "the bound holds; the line has 2^(n-1)",
    )


def _impossibility(long: bool) -> Iterator[Comparison]:
    ptype = PrivacyType(counts(2), alpha=HALF)
    skew = [[F(int(x == 1) ^ w) for w in range(2)] for x in range(3)]
    served = [
        all(universality(ptype, loss, kernel) for loss in (losses.binary, losses.nib, skew))
        for kernel in kernels(ptype)
    ]
    yield equal(
        "Theorem 11",
        "optimal for every loss, n = 3",
        0,
        sum(served),
        shown=("no mechanism", f"{sum(served)} of {len(served)} kernels of the line"),
    )
    flat = PrivacyType(discrete(3), alpha=HALF)
    kinds = (losses.binary, losses.absolute, losses.squared)
    left = sum(bool(universality(flat, loss, kernel)) for kernel in kernels(flat) for loss in kinds)
    yield equal(
        "Theorem 12",
        "kernels for strictly monotone losses, n = 3",
        0,
        left,
        shown=("none", f"{left} of 5, three losses"),
    )
    known = {"binary": "1/24", "nib": "2/75", "absolute": "1/18", "squared": "2/35"}
    cases = {(3, name): regret for name, regret in known.items()}
    if long:
        cases |= {(4, "binary"): "2/35", (4, "nib"): "1/49", (4, "absolute"): "4/49", (4, "squared"): "1/11"}
    for (k, name), regret in cases.items():
        verdict = universal_mechanism(PrivacyType(discrete(k), alpha=HALF), getattr(losses, name))
        proved = verdict.certificate.verify() and verdict.conflict is not None and verdict.conflict.verify()
        yield extended(
            "Corollary 13" if name == "binary" else "Theorem 12",
            f"least regret, {name}, {k} equidistant",
            regret,
            str(verdict.regret) if proved else "not proved",
            "exact, with priors that conflict",
        )


def _lifting() -> Comparison:
    """Show that Theorem 6(5) is false in one direction: some mechanism is optimal for a lifted loss, but not on the
    subspace.
    """
    geometric = geometric_channel(3, alpha=HALF)
    guess = [[0, 1], [1, 0]]
    lifted = universality(PrivacyType(counts(2), alpha=HALF), lifted_loss(guess, (0, 2), 3), geometric)
    ends = PrivacyType(Space([[0, 2], [2, 0]]), alpha=HALF)
    on_subspace = universality(ends, guess, geometric.restrict([0, 2]))
    return corrected(
        "Theorem 6(5)",
        "optimal on X if and only if lifted",
        "if and only if",
        "only if: the converse fails for {0, 2} on the line of 3",
        "only if: the converse fails for {0, 2} on the line of 3" if lifted and not on_subspace else "both ways",
        "mechanisms on X need not extend to all secrets; the paper uses the true direction only",
    )


def _section_6_b() -> Iterator[Comparison]:
    """Check the mechanisms K_A and K_B of section VI-B, each of which distinguishes one secret from all others."""
    three = _one_secret_channel(3)
    printed = "1/4 2/5\n1/4 2/5\n1/2 1/5\n4/9 5/9"
    yield equal("Section VI-B", "the hyper of K_A, n = 3", printed, hyper_text(three))
    yield corrected(
        "Section VI-B",
        "the hyper of K_A, n = 5",
        "1/4 2/5, 1/2 1/5; 4/9 5/9",
        "1/6 2/9, 1/3 1/9; 2/5 3/5",
        _short(hyper_text(_one_secret_channel(5))),
        "the printed columns sum to 1 for n = 3 only",
    )
    ptype = PrivacyType(discrete(4), alpha=HALF)
    loss = lifted_loss([[1, 0], [0, 1]], (0, 3), 4)
    parts = [_one_secret_channel(4), _one_secret_channel(4, distinguished=0)]
    both = Channel(np.concatenate([part.matrix / 2 for part in parts], axis=1))
    served = [bool(universality(ptype, loss, channel)) for channel in (*parts, both)]
    yield claim("Section VI-B", "K_A, K_B and their sum are optimal for l_e", all(served))


def _one_secret_channel(n: int, distinguished: int | None = None) -> Channel:
    """Return the private channel at alpha = 1/2 that best distinguishes one secret (by default the last) from all
    others.
    """
    x = n - 1 if distinguished is None else distinguished
    rows = [[F(2, 3), F(1, 3)] if s == x else [F(1, 3), F(2, 3)] for s in range(n)]
    return Channel(np.array(rows, dtype=object))


def _short(hyper: str) -> str:
    rows = hyper.splitlines()
    return f"{rows[0]}, {rows[-2]}; {rows[-1]}"


def _determinant(matrix: Array) -> Fraction:
    a, b, c = matrix.tolist()
    return F(
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])
    )
