"""Random consumers on counts, of the kinds that Theorem 3.1 speaks of, and of those it does not."""

import random
from fractions import Fraction

from utmost import priors
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, counts


def random_alpha(rng: random.Random) -> Fraction:
    return Fraction(rng.randint(1, 99), 100)


def random_type(rng: random.Random, n: int) -> PrivacyType:
    return PrivacyType(counts(n), alpha=random_alpha(rng))


def random_prior(rng: random.Random, n: int, full: bool):
    weights = [rng.randint(1, 9) if full else rng.choice([0, 0, 1, 2, 7]) for _ in range(n + 1)]
    weights[rng.randint(0, n)] += 1
    return priors.from_counts(weights)


def monotone_loss(rng: random.Random, n: int, strict: bool):
    """l(i, r) = base_i + a nondecreasing function of |i - r|, another one for every i."""
    rows = []
    for i in range(n + 1):
        base, steps = rng.randint(0, 2), [rng.choice([1, 2, 5] if strict else [0, 0, 1, 3]) for _ in range(n)]
        rows.append([Fraction(base + sum(steps[: abs(i - r)])) for r in range(n + 1)])
    return rows


def unimodal_loss(rng: random.Random, n: int, actions: int):
    """Rows that fall to a mode and rise after it, with modes in order."""
    rows = []
    for mode in sorted(rng.randint(0, actions - 1) for _ in range(n + 1)):
        row = [Fraction(rng.randint(0, 2))] * actions
        for r in range(mode + 1, actions):
            row[r] = row[r - 1] + rng.choice([0, 1, 2, 9])
        for r in range(mode - 1, -1, -1):
            row[r] = row[r + 1] + rng.choice([0, 1, 2, 9])
        rows.append(row)
    return rows


def strict_consumer(rng: random.Random, n: int) -> Consumer:
    return Consumer(random_prior(rng, n, full=True), monotone_loss(rng, n, strict=True))


def loose_consumer(rng: random.Random, n: int) -> Consumer:
    """Zero-mass priors, plateaus of loss, ties."""
    return Consumer(random_prior(rng, n, full=False), monotone_loss(rng, n, strict=False))


def unimodal_consumer(rng: random.Random, n: int) -> Consumer:
    return Consumer(random_prior(rng, n, full=False), unimodal_loss(rng, n, rng.randint(1, n + 3)))


def any_consumer(rng: random.Random, n: int) -> Consumer:
    """A loss without any shape."""
    actions = rng.randint(1, n + 2)
    loss = [[Fraction(rng.randint(0, 4)) for _ in range(actions)] for _ in range(n + 1)]
    return Consumer(random_prior(rng, n, full=False), loss)
