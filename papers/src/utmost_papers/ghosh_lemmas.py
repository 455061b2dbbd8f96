"""Check Ghosh et al. (2009) for many users: Figure 1, the lemmas of section 5, and Lemma 6.4."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np

from utmost.design.channels.channel import Channel
from utmost.design.channels.on_counts import geometric_channel
from utmost.design.geometry.decomposition import null_vector
from utmost.design.optima.beyond_oblivious import conflicting_users
from utmost.design.optima.optimum import optimal_mechanism
from utmost.design.optima.several_consumers import shared_mechanism
from utmost.design.optima.structure import check_lemmas, constraint_matrix, derivation, remap_of_vertex
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import losses
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import counts
from utmost_papers.comparison import Comparison, equal

F = Fraction
ALPHAS = (F(1, 3), F(1, 2), F(4, 5))


def steps_of_the_proof() -> Iterator[Comparison]:
    """Check Figure 1 and Lemmas 5.1 to 5.11 on users with strictly increasing losses and positive priors."""
    optima = strict_optima()
    derived = sum(derivation(X, a).is_derivable for X, a in optima)
    yield _users("Figure 1", "each optimum is the geometric mechanism, then a remap", derived, len(optima))
    corners = sum(is_vertex(X, a) for X, a in optima)
    yield _users("Lemma 5.1", "the optimum found is a vertex of the program", corners, len(optima))
    patterns = [(X.matrix.shape[0], a, constraint_matrix(X, a)) for X, a in optima]
    by_pattern = Counter((n, a, tuple(map(tuple, pattern))) for n, a, pattern in patterns)
    by_matrix = Counter((X.matrix.shape[0], a, tuple(map(tuple, X.matrix))) for X, a in optima)
    yield equal(
        "Observation 5.3",
        "different vertices have different constraint matrices",
        len(by_matrix),
        len(by_pattern),
        shown=("unique", f"{len(by_pattern)} matrices of {len(by_matrix)} vertices"),
    )
    held = Counter(check.lemma for _, _, pattern in patterns for check in check_lemmas(pattern) if check.holds)
    for lemma in ("5.4", "5.5", "5.6", "5.7", "5.8", "5.9"):
        name = f"{'Corollary' if lemma == '5.7' else 'Lemma'} {lemma}"
        yield _users(name, _SAYS[lemma], held[lemma], len(optima))
    yield _lemma_5_10()
    rebuilt = sum(_is_rebuilt(X, a) for X, a in optima)
    yield _users("Lemma 5.11", "the remap built from the pattern gives the optimum", rebuilt, len(optima))


_SAYS = {
    "5.4": "no row of the constraint matrix is all down or all up",
    "5.5": "each row is down..., at most one slack, up...",
    "5.6": "each row has more downs than the last, or as many and a slack",
    "5.7": "there are at least as many slacks as zero columns",
    "5.8": "there are as many slacks as zero columns",
    "5.9": "each column in use is up..., its slacks, down...",
}


@cache
def strict_optima() -> tuple[tuple[Channel, Fraction], ...]:
    """Return pairs (optimal mechanism, alpha) for 72 users. Each mechanism is a vertex of the user's linear program."""
    kinds = (losses.absolute, losses.squared)
    optima = []
    for n, a, tilt, loss in product((1, 2, 3, 4), ALPHAS, (1, 2, 5), kinds):
        weights = [tilt ** (i % 3) + i for i in range(n + 1)]
        consumer = Consumer([F(w, sum(weights)) for w in weights], loss)
        optimum = optimal_mechanism(PrivacyType(counts(n), alpha=a), consumer, method="program")
        optima.append((optimum.channel, a))
    return tuple(optima)


def is_vertex(X: Channel, a: Fraction) -> bool:
    """Return whether mechanism X is a vertex: the constraints that are tight at X, at level a, determine it."""
    n, m = X.shape
    tight = [[F(i == k) for i in range(n) for _ in range(m)] for k in range(n)]
    for i, r in product(range(n), range(m)):
        if X.matrix[i, r] == 0:
            tight.append(_row(n, m, {(i, r): F(1)}))
        for j in (i - 1, i + 1):
            if 0 <= j < n and X.matrix[i, r] == a * X.matrix[j, r]:
                tight.append(_row(n, m, {(i, r): F(1), (j, r): -a}))
    return null_vector([list(column) for column in zip(*tight, strict=True)]) is None


def _row(n: int, m: int, entries: dict[tuple[int, int], Fraction]) -> list[Fraction]:
    row = [F(0)] * (n * m)
    for (i, r), value in entries.items():
        row[i * m + r] = value
    return row


def _lemma_5_10() -> Comparison:
    """Check Lemma 5.10: merging the responses a to b of G gives a column with a "up" rows, b - a "slack" rows, and then
    "down" rows.
    """
    cases, right = list(combinations(range(7), 2)), 0
    for a, end in cases:
        b, G = end - 1, geometric_channel(6, alpha=F(1, 2)).matrix
        rest = G.sum(axis=1) - G[:, a:end].sum(axis=1)
        column = np.column_stack([G[:, a:end].sum(axis=1), rest])
        pattern = constraint_matrix(Channel(column), F(1, 2))[:, 0].tolist()
        right += pattern == ["up"] * a + ["slack"] * (b - a) + ["down"] * (5 - b)
    return equal(
        "Lemma 5.10",
        "the column of responses a..b of G, n = 5",
        len(cases),
        right,
        shown=("up to a - 1, slack to b - 1, then down", f"{right} of {len(cases)} pairs a <= b, exactly"),
    )


def _is_rebuilt(X: Channel, a: Fraction) -> bool:
    G = geometric_channel(X.shape[0], alpha=a)
    remapped = np.zeros(X.shape, dtype=object) + F(0)
    for response, action in enumerate(remap_of_vertex(X, a).actions.tolist()):
        remapped[:, action] += G.matrix[:, response]
    return bool((remapped == X.matrix).all())


def lemma_6_4() -> Comparison:
    """Check Lemma 6.4: a mechanism that two users share needs only four outcomes, which are the pairs of answers 1 or
    2.
    """
    query, first_user, second_user = conflicting_users(F(1, 100))
    shared = shared_mechanism(PrivacyType(query.space, alpha="1/2"), [first_user, second_user])
    used = {shared.actions[k] for k in range(len(shared.actions)) if any(shared.together.channel.matrix[:, k])}
    narrow = shared_mechanism(
        PrivacyType(query.space, alpha="1/2"), [_reading_1_or_2(user) for user in (first_user, second_user)]
    )
    same = narrow.together.loss == shared.together.loss and len(narrow.actions) == 4
    return equal(
        "Lemma 6.4",
        "four outcomes suffice for two users who read 1 or 2",
        True,
        same and used <= set(product((1, 2), repeat=2)),
        shown=("R = {l, m, n, o}", f"the same least total loss, {narrow.together.loss}, with 4 outcomes and with 16"),
    )


def _reading_1_or_2(user: Consumer) -> Consumer:
    return Consumer(user.prior, user.loss[:, 1:3])


def _users(place: str, what: str, right: int, cases: int) -> Comparison:
    return equal(place, what, cases, right, shown=("every user", f"{right} of {cases} users, exactly"))
