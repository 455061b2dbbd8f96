"""Check the theorems of Fernandes et al. (2022) on hypers, miracle theorems, utility sets, capacities, and nib loss.

A statement about all priors, gains or mechanisms is tested in rational arithmetic, on examples without symmetry or zero
probabilities. For a bound that can be attained, an example that attains the bound is also tested.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, islice, permutations, product

import numpy as np

from utmost.core.exact.arrays import Array
from utmost.design.capacities.capacity import capacity
from utmost.design.channels.channel import Channel
from utmost.design.channels.on_counts import geometric_channel
from utmost.design.channels.on_spaces import two_secret_optimum
from utmost.design.geometry.decomposition import decompose
from utmost.design.geometry.impossibility import blurred_pair, trivial_action
from utmost.design.geometry.kernel_search import count_kernels, kernels
from utmost.design.geometry.nib_on_trees import least_nib_loss
from utmost.design.geometry.refining import refines
from utmost.design.geometry.universal_optima import LeastLoss, distinguishing_mechanism, universality
from utmost.design.leakage.channel_capacity import CapacityKind
from utmost.design.leakage.hypers import hyper
from utmost.design.leakage.measures import g_vulnerability, l_uncertainty
from utmost.design.optima.best_actions import expected_loss
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import losses, priors
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import counts, discrete, hamming
from utmost.design.spaces.loss_algebra import joint_loss, scaled_loss
from utmost.design.spaces.space import Space
from utmost_papers.comparison import Comparison, corrected, counted, extended
from utmost_papers.fernandes_figures import HALF

F = Fraction
ALPHAS = (F(1, 10), F(1, 2), F(9, 10))
TYPES = (counts(2), counts(3), discrete(3), discrete(4), hamming(2))
SMALL = (counts(2), discrete(3))
KINDS: tuple[CapacityKind, CapacityKind] = ("multiplicative", "additive")


def crooked_prior(n: int, k: int) -> Array:
    """Return prior number k of n secrets, a fixed example in which all probabilities differ."""
    weights = [(3 * x * x + (k + 2) * x + 1 + k) % 11 + 1 + x for x in range(n)]
    return np.array([F(w, sum(weights)) for w in weights], dtype=object)


def crooked_gain(n: int, k: int) -> Array:
    """Return gain matrix number k, a fixed nonnegative example with three different actions: (n, 3)."""
    return np.array([[F((5 * x + 3 * w * w + k * (x + 1) * (w + 2)) % 7) for w in range(3)] for x in range(n)])


def mechanisms(space: Space) -> list[Channel]:
    """Return four private channels: two kernels, one of these kernels followed by another channel, and a public random
    choice between the two.
    """
    ptype = PrivacyType(space, alpha=HALF)
    listed = kernels(ptype)
    first, last = listed[0], listed[len(listed) - 1]
    blend = np.full((first.shape[1], first.shape[1]), F(1, 3 * first.shape[1]), dtype=object)
    np.fill_diagonal(blend, F(1, 3 * first.shape[1]) + F(2, 3))
    return [first, last, first @ Channel(blend), first.choose(last, "1/3")]


@cache
def members() -> tuple[tuple[Space, Channel, int], ...]:
    """Return triples (space, mechanism, k) for mechanisms on each space in TYPES and three values of k, which numbers
    priors and gains.
    """
    return tuple((space, channel, k) for space in TYPES for channel in mechanisms(space) for k in (1, 2, 5))


def hypers() -> Iterator[Comparison]:
    """Check Lemmas 1 and 2, Remark 1, and that refinement (6) means a smaller loss for every user."""
    cases = members()
    averaged = [hyper(C, crooked_prior(space.size, k)) for space, C, k in cases]
    right = sum(
        (averaged_hyper.prior == crooked_prior(space.size, k)).all()
        for averaged_hyper, (space, _, k) in zip(averaged, cases, strict=True)
    )
    yield counted("Lemma 1", "the posteriors average to the prior", right, len(cases))
    right = sum(
        _has_private_posteriors(space, C, a) == _is_private(space, C, a) for space, C, _ in cases for a in ALPHAS
    )
    yield counted("Lemma 2", "private exactly if all posteriors of the uniform prior are", right, 3 * len(cases))
    right = sum(_least_by_remaps(C, space.size, k) == _posterior_uncertainty(C, space.size, k) for space, C, k in cases)
    yield counted("Remark 1", "the least loss over remaps, (1), is the posterior uncertainty, (5)", right, len(cases))
    pairs = [(space, C, D) for space in SMALL for C, D in permutations(mechanisms(space), 2)]
    verdicts = [(space, C, D, refines(better=C, worse=D)) for space, C, D in pairs]
    right = sum(v.verify() and (not v or _never_better(D, C, space.size)) for space, C, D, v in verdicts)
    yield counted("(6)", "a refinement never serves anybody better, another does somebody", right, len(verdicts))


def _is_private(space: Space, C: Channel, a: Fraction) -> bool:
    n = space.size
    pairs = [(x, z, a ** int(space.distances[x, z])) for x, z in permutations(range(n), 2)]
    return all((C.matrix[x] * factor <= C.matrix[z]).all() for x, z, factor in pairs)


def _has_private_posteriors(space: Space, C: Channel, a: Fraction) -> bool:
    posteriors = hyper(C, priors.uniform(space.size)).posteriors
    return all(
        (posteriors[x] - posteriors[z] / a ** int(space.distances[x, z]) <= 0).all()
        for x, z in permutations(range(space.size), 2)
    )


def _posterior_uncertainty(C: Channel, n: int, k: int) -> Fraction:
    return Fraction(l_uncertainty(crooked_gain(n, k)).posterior(C, crooked_prior(n, k)))


def _least_by_remaps(C: Channel, n: int, k: int) -> Fraction:
    """Return the least expected loss (1) over all remaps of the outcomes to actions, computed by applying each
    remap.
    """
    joint, loss = C.matrix * crooked_prior(n, k)[:, None], crooked_gain(n, k)
    expected_losses = loss.T @ joint  # shape (actions, outcomes)
    return min(
        sum((expected_losses[w, y] for y, w in enumerate(remap)), F(0))
        for remap in _remaps(expected_losses.shape[0], expected_losses.shape[1], expected_losses)
    )


def _remaps(actions: int, outcomes: int, expected_losses: Array) -> Iterator[tuple[int, ...]]:
    """Yield all remaps of up to 6 outcomes. For more outcomes, yield only the remaps that differ from the best one in
    at most two outcomes.
    """
    if outcomes <= 6:
        yield from product(range(actions), repeat=outcomes)
        return
    best = expected_losses.argmin(axis=0).tolist()
    for changed in combinations(range(outcomes), 2):
        for choice in product(range(actions), repeat=2):
            yield tuple(choice[changed.index(y)] if y in changed else w for y, w in enumerate(best))


def _never_better(worse: Channel, better: Channel, n: int) -> bool:
    return all(_posterior_uncertainty(worse, n, k) >= _posterior_uncertainty(better, n, k) for k in range(1, 7))


def miracles() -> Iterator[Comparison]:
    """Check Theorems 4 and 5: no gain and prior leak more than the capacities, and some gain and prior leak as much."""
    cases = [(space, C, prior, gain) for space, C, _ in members()[::3] for prior in (1, 3) for gain in (1, 2, 4)]
    right = sum(_multiplicative_leakage(C, space.size, p, g) <= capacity(C).value for space, C, p, g in cases)
    yield counted("Theorem 4", "V_g[p, M]/V_g[p] is at most the largest for one guess", right, len(cases))
    channels = [(space, C) for space, C, _ in members()[::3]]
    attained = sum(
        g_vulnerability(losses.nib).multiplicative_leakage(C, priors.uniform(space.size))
        == sum(C.matrix.max(axis=0), F(0))
        for space, C in channels
    )
    yield counted("Theorem 4", "attained by one guess and the uniform prior", attained, len(channels))
    right = sum(
        _additive_leakage(C, space.size, p, g) <= 1 - sum(C.matrix.min(axis=0), F(0)) for space, C, p, g in cases
    )
    yield counted("Theorem 5", "V_g[p, M] - V_g[p] is at most 1 - n U_nib[u, M]", right, len(cases))
    attained = sum(_leakage_of_exclusion(C, space.size) == 1 - sum(C.matrix.min(axis=0), F(0)) for space, C in channels)
    yield extended(
        "Theorem 5",
        "attained by g(w, x) = 1 - n [w = x] and the uniform prior",
        f"{len(channels)} of {len(channels)}",
        f"{attained} of {len(channels)}",
    )


def _multiplicative_leakage(C: Channel, n: int, p: int, g: int) -> Fraction:
    return Fraction(g_vulnerability(crooked_gain(n, g)).multiplicative_leakage(C, crooked_prior(n, p)))


def _additive_leakage(C: Channel, n: int, p: int, g: int) -> Fraction:
    """Return the additive leakage by gain number g, rescaled to lie between 0 and 1."""
    gain = crooked_gain(n, g)
    gain = (gain - gain.min()) / (gain.max() - gain.min())
    return Fraction(g_vulnerability(gain).additive_leakage(C, crooked_prior(n, p)))


def _leakage_of_exclusion(C: Channel, n: int) -> Fraction:
    gain = np.full((n, n), F(1), dtype=object)
    np.fill_diagonal(gain, F(1 - n))
    return Fraction(g_vulnerability(gain).additive_leakage(C, priors.uniform(n)))


def utility_sets() -> Iterator[Comparison]:
    """Check Theorem 6(1) to (4), (13), (14) and Corollary 7 by deciding for which losses mechanisms are optimal."""
    settings = [(PrivacyType(space, alpha=HALF), mechanisms(space)) for space in SMALL]
    trivial = [[1, 1, 2], [3, 3, 3], [0, 0, 5], [2, 2, 2]]
    held = [universality(p, trivial[: p.space.size], C) for p, listed in settings for C in listed]
    yield counted("Theorem 6(1)", "trivial losses are in every utility set", sum(map(bool, held)), len(held))
    chosen = [(p, C, member_losses(p.space.size)) for p, listed in settings for C in listed]
    table = {(i, k): bool(universality(p, loss, C)) for i, (p, C, ls) in enumerate(chosen) for k, loss in enumerate(ls)}
    count = len(chosen[0][2])
    refined = [(i, j) for i, j in permutations(range(len(chosen)), 2) if _is_refinement(chosen[i], chosen[j])]
    right = sum(table[j, k] <= table[i, k] for i, j in refined for k in range(count))
    yield counted("Theorem 6(2)", "the better mechanism has the larger utility set", right, len(refined) * count)
    nothing = [(p, loss, Channel([[1]] * p.space.size)) for p, _ in settings for loss in member_losses(p.space.size)]
    right = sum(bool(universality(p, loss, C)) == (trivial_action(loss) is not None) for p, loss, C in nothing)
    yield counted("Theorem 6(3)", "saying nothing is optimal for trivial losses only", right, len(nothing))
    pairs = [(i, j) for i, j in combinations(range(len(chosen)), 2) if chosen[i][0] is chosen[j][0]]
    right = 0
    for i, j in pairs:
        both = chosen[i][1].choose(chosen[j][1], "2/5")
        for k, loss in enumerate(chosen[i][2]):
            right += bool(universality(chosen[i][0], loss, both)) == (table[i, k] and table[j, k])
    yield counted("Theorem 6(4)", "a choice of two serves those whom both serve", right, len(pairs) * count)
    yield from _closure_and_kernels(chosen, table)


def member_losses(n: int) -> list[Array]:
    """Return six loss matrices for n secrets: binary, nib, absolute, two losses that concern a single secret, and a
    trivial loss.
    """
    guess = np.array([[F(x == 0), F(x != 0)] for x in range(n)], dtype=object)
    last = np.array([[F(x != n - 1), F(x == n - 1)] for x in range(n)], dtype=object)
    flat = np.array([[F(x), F(x), F(x + 1)] for x in range(n)], dtype=object)
    return [losses.binary.matrix(n), losses.nib.matrix(n), losses.absolute.matrix(n), guess, last, flat]


def _is_refinement(
    better: tuple[PrivacyType, Channel, list[Array]], worse: tuple[PrivacyType, Channel, list[Array]]
) -> bool:
    return better[0] is worse[0] and bool(refines(better=better[1], worse=worse[1]))


def _closure_and_kernels(
    chosen: list[tuple[PrivacyType, Channel, list[Array]]], table: dict[tuple[int, int], bool]
) -> Iterator[Comparison]:
    """Check equations (13) and (14), by which utility sets are closed under sums and multiples, and Corollary 7 on
    kernels.
    """
    served = [(p, C, [ls[k] for k in range(len(ls)) if table[i, k]]) for i, (p, C, ls) in enumerate(chosen)]
    sums = [(p, C, joint_loss(first, second)) for p, C, ls in served for first, second in combinations(ls, 2)]
    sums += [
        (p, C, scaled_loss([F(x + 1, 2) for x in range(p.space.size)], loss)) for p, C, ls in served for loss in ls
    ]
    right = sum(bool(universality(p, loss, C)) for p, C, loss in sums)
    yield counted("(13), (14)", "utility sets are closed under sums and multiples", right, len(sums))
    owned = [(p, C, loss) for p, C, ls in served for loss in ls]
    right = sum(all(bool(universality(p, loss, kernel)) for kernel in decompose(p, C).kernels) for p, C, loss in owned)
    yield counted("Corollary 7", "whom a mechanism serves best, each of its kernels does", right, len(owned))
    pairs = [(x, alpha) for x in (1, 2, 3) for alpha in ALPHAS]
    types = [PrivacyType(Space([[0, x], [x, 0]]), alpha=alpha) for x, alpha in pairs]
    right = sum(
        count_kernels(p) == 1 and all(universality(p, loss, kernels(p)[0]) for loss in member_losses(2)) for p in types
    )
    yield counted("Theorem 8", "the only kernel serves everybody, on two secrets", right, len(types))


def type_capacities() -> Iterator[Comparison]:
    """Check Theorems 14 and 15, Lemma 16, and Corollaries 17 and 18 on the largest leakage that a type allows."""
    types = [PrivacyType(space, alpha=a) for space in TYPES for a in ALPHAS]
    right = 0
    for p in types:
        for kind in KINDS:
            listed = max(capacity(kernel, kind=kind).value for kernel in kernels(p))
            computed = capacity(p, kind=kind)
            reached = capacity(computed.mechanism, kind=kind).value
            right += listed == computed.value == reached and computed.certificate.verify()
    yield counted("Theorem 14", "the capacity exists, and a kernel attains it", right, 2 * len(types))
    served = []
    for space in (counts(2), counts(3), counts(4)):
        p, G = PrivacyType(space, alpha=HALF), geometric_channel(space.size, alpha=HALF)
        for loss, kind in zip((losses.binary, losses.nib), KINDS, strict=True):
            largest = capacity(p, kind=kind).value
            served.append(bool(universality(p, loss, G)) and capacity(G, kind=kind).value == largest)
    yield counted("Theorem 15", "who serves bin or nib best attains the capacity", sum(served), len(served))
    right, wide = 0, [(p, kernels(p)) for p in types]
    cases = [(kernel, kind) for _, listed in wide for kernel in islice(listed, 20) for kind in KINDS]
    for kernel, kind in cases:
        right += _merged_by_best_guess(kernel, kind).shape[1] <= kernel.shape[0] and (
            capacity(_merged_by_best_guess(kernel, kind), kind=kind).value == capacity(kernel, kind=kind).value
        )
    yield counted("Lemma 16", "outcomes with one best guess merged: at most n, same capacity", right, len(cases))
    for corollary, kind in zip(("Corollary 17", "Corollary 18"), KINDS[::-1], strict=True):
        right = sum(_has_capacity_as_trace(p, kind) for p in types)
        yield counted(corollary, f"the program for the {kind} capacity: its trace attains it", right, len(types))


def _merged_by_best_guess(C: Channel, kind: CapacityKind) -> Channel:
    """Merge outcomes that make the same secret most likely (for additive capacity, least likely)."""
    keys = (C.matrix.argmax(axis=0) if kind == "multiplicative" else C.matrix.argmin(axis=0)).tolist()
    columns = [C.matrix[:, [y for y, key in enumerate(keys) if key == x]].sum(axis=1) for x in sorted(set(keys))]
    return Channel(np.column_stack(columns))


def _has_capacity_as_trace(p: PrivacyType, kind: CapacityKind) -> bool:
    """Check that the mechanism that attains the capacity is private, and that its trace gives the capacity."""
    largest = capacity(p, kind=kind)
    matrix = largest.mechanism.matrix
    best = matrix.argmax(axis=0) if kind == "multiplicative" else matrix.argmin(axis=0)
    trace = sum((matrix[x, y] for y, x in enumerate(best.tolist())), F(0))
    value = trace if kind == "multiplicative" else 1 - trace
    return bool(value == largest.value and _is_private(p.space, Channel(matrix), p.level.alpha_fraction()))


def appendix() -> Iterator[Comparison]:
    """Check the lemmas of Appendix C about the pairs of secrets that decide for which losses a mechanism is optimal."""
    strict = [(n, x, z) for n in (3, 4, 5) for x, z in combinations(range(n), 2)]
    kinds = (losses.absolute, losses.squared)
    right = sum(trivial_action(loss.matrix(n)[[x, z]]) is None for n, x, z in strict for loss in kinds)
    yield counted("Lemma 3 (app.)", "strictly monotone losses are trivial for no pair", right, 2 * len(strict))
    right = 0
    for space in (discrete(3), discrete(4), discrete(5)):
        channel, loss = distinguishing_mechanism(PrivacyType(space, alpha=HALF))
        right += bool(universality(PrivacyType(space, alpha=HALF), loss, channel)) and trivial_action(loss) is None
    yield corrected(
        "Theorem 4 (app.)",
        "a loss served among n equidistant, n = 3, 4, 5",
        "the loss on x1, x2, padded with 0",
        "l(w, x) = [w != x]: 3 of 3",
        f"l(w, x) = [w != x]: {right} of 3",
        "the padded loss is not monotone by definition 6",
    )
    pairs = [(n, a) for n in (3, 4, 5) for a in ALPHAS]
    right = sum(_distinguishes_as_well_as_two(n, a) for n, a in pairs)
    yield counted("Corollary 5 (app.)", "some mechanism is T on a given pair of secrets", right, len(pairs))
    cases = [(n, kernel) for n in (3, 4) for kernel in kernels(PrivacyType(discrete(n), alpha=HALF))]
    right = 0
    for n, kernel in cases:
        ptype = PrivacyType(discrete(n), alpha=HALF)
        proof = blurred_pair(ptype, losses.absolute, kernel)
        right += proof is not None and proof.verify(ptype)
    yield counted("Lemma 6 (app.)", "each kernel blurs some pair, of n = 3 and 4 equidistant", right, len(cases))


def _distinguishes_as_well_as_two(n: int, a: Fraction) -> bool:
    channel, _ = distinguishing_mechanism(PrivacyType(discrete(n), alpha=a))
    two = two_secret_optimum(alpha=a).matrix
    part = channel.matrix[:2]
    return any(sorted(map(tuple, part.T)) == sorted(map(tuple, rows.T)) for rows in (two, two[::-1]))


def nib_on_every_line() -> Iterator[Comparison]:
    """Check that the geometric mechanism is optimal for nib loss on every line, which the paper only suggests."""
    steps = [(a, n, w) for a in ALPHAS for n in (4, 7) for w in range(5)]
    yield extended(
        "Section VI-A",
        "nib on every line: the bound is strictly convex",
        f"{len(steps)} of {len(steps)}",
        f"{sum(_is_convex(*step) for step in steps)} of {len(steps)}",
        "h(j-1) + h(j+1) = (a + 1/a) h(j) + (1/a - a) w[j], so a vertex has at most two entries",
    )
    pairs = [(a, u, j, v) for a in ALPHAS for u, v in combinations(range(7), 2) for j in range(u, v)]
    yield extended(
        "Section VI-A",
        "nib on every line: two entries are chances of the geometric mechanism",
        f"{len(pairs)} of {len(pairs)}",
        f"{sum(_are_geometric_probabilities(*pair) for pair in pairs)} of {len(pairs)}",
        "above j for u, and up to j for v: so a remap of it attains the bound, and nobody loses less",
    )
    lines = [(n, a, k) for n in (2, 3, 4, 5, 9, 40, 200) for a in ALPHAS for k in (1, 2, 5)]
    certificates = [least_nib_loss(PrivacyType(counts(n - 1), alpha=a), crooked_prior(n, k)) for n, a, k in lines]
    proved = sum(best.verify() for best in certificates)
    text = f"optimal for {len(lines)} of {len(lines)} priors, up to 200 secrets, with both proofs"
    yield extended(
        "Section VI-A",
        "nib on every line: certificates",
        text,
        text.replace(str(len(lines)), str(proved), 1),
        "theorem",
    )
    short = [(n, a, k) for n, a, k in lines if n <= 5]
    programs = sum(_least_by_program(n, a, k) == _least_nib(n, a, k) for n, a, k in short)
    yield extended(
        "Section VI-A",
        "nib on every line: the same by program over all mechanisms",
        f"{len(short)} of {len(short)}",
        f"{programs} of {len(short)}",
        "lines of 2 to 5",
    )


def _is_convex(a: Fraction, n: int, k: int) -> bool:
    w = crooked_prior(n, k)
    h = [sum((w[x] / a ** abs(x - j) for x in range(n)), F(0)) for j in range(n)]
    inner = range(1, n - 1)
    return all(h[j - 1] + h[j + 1] == (a + 1 / a) * h[j] + (1 / a - a) * w[j] > 2 * h[j] for j in inner)


def _are_geometric_probabilities(a: Fraction, u: int, j: int, v: int) -> bool:
    G = geometric_channel(7, alpha=a).matrix
    above, upto = G[u, j + 1 :].sum(), G[v, : j + 1].sum()
    weights = (a ** (j + 1 - u) / (1 + a), a ** (v - j) / (1 + a))
    tight = [weights[0] / a ** abs(u - i) + weights[1] / a ** abs(v - i) for i in (j, j + 1)]
    return bool((above, upto) == weights and tight == [1, 1])


def _least_nib(n: int, a: Fraction, k: int) -> Fraction:
    G = geometric_channel(n, alpha=a)
    return Fraction(expected_loss(G, Consumer(crooked_prior(n, k), losses.nib)))


def _least_by_program(n: int, a: Fraction, k: int) -> Fraction:
    least = LeastLoss.of(PrivacyType(counts(n - 1), alpha=a), losses.nib)
    prior = tuple(crooked_prior(n, k).tolist())
    (_, solution), *_ = least.at((prior,))
    return solution.value
