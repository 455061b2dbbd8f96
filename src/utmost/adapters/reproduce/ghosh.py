"""Ghosh, Roughgarden and Sundararajan (2009): every example and figure, recomputed.

`figures` gives the rows; nothing is printed here.
"""

from fractions import Fraction
from itertools import product

from utmost.adapters.reproduce.figure import CORRECTED, EXTENDED, Figure, compared
from utmost.channels import Channel, Remap, geometric_channel
from utmost.design import (
    bayes_remap,
    check_lemmas,
    conflicting_users,
    constraint_matrix,
    derivation,
    expected_loss,
    face_value_loss,
    face_value_of_noise,
    optimal_mechanism,
    shared_mechanism,
    sharing_refutation,
    uniqueness,
)
from utmost.noise import Geometric, Laplace
from utmost.privacy import PrivacyType
from utmost.spaces import Consumer, counts, losses, priors

HALF = Fraction(1, 2)
FIGURE_2 = (
    "2/3 0 1/4 1/24 1/48 1/48",
    "1/3 0 1/2 1/12 1/24 1/24",
    "1/6 0 1/2 1/6 1/12 1/12",
    "1/12 0 1/4 1/3 1/6 1/6",
    "1/24 0 1/8 1/6 1/3 1/3",
    "1/48 0 1/16 1/12 1/6 2/3",
)
FIGURE_3 = "dZuuuu dZSuuu dZduuu dZdduu dZdddu"
FIGURE_4 = {(1, 0, 0): "11/12 1/12", (0, 1, 0): "2/3 1/3", (1, 0, 1): "5/6 1/6", (0, 1, 1): "1/3 2/3"}
_LETTERS = {"down": "d", "up": "u", "slack": "S", "zero": "Z"}


def figures() -> tuple[Figure, ...]:
    """All rows, in the order of the paper; needs the extra ``lp``."""
    return (*example_2_2(), *figures_2_and_3(), *section_5(), *section_6_1(), *section_6_2())


def example_2_2(n: int = 5, alpha: Fraction = Fraction(1, 3)) -> tuple[Figure, ...]:
    """Mass 1/2 at 0 and at n (odd), binary loss: what remapping is worth."""
    consumer = Consumer([HALF, *[Fraction(0)] * (n - 1), HALF], losses.binary)
    G = geometric_channel(n, alpha=alpha)
    where = f"Example 2.2, n = {n}, alpha = {alpha}"
    return (
        compared(
            f"{where}: at face value",
            str(2 * alpha / (1 + alpha)),
            str(face_value_of_noise(Geometric(alpha=alpha), consumer)),
        ),
        Figure(f"{where}: clamped, at face value", "", str(face_value_loss(G, consumer)), EXTENDED),
        compared(f"{where}: remapped", str(alpha ** ((n + 1) // 2) / (1 + alpha)), str(expected_loss(G, consumer))),
    )


def figures_2_and_3() -> tuple[Figure, ...]:
    """The optimal mechanism for |i - r|^1.5 and prior 1/4, 0, 1/4, 0, 1/4, 1/4, and its constraint matrix."""
    consumer = Consumer([0.25, 0, 0.25, 0, 0.25, 0.25], losses.power("3/2"))
    ptype = PrivacyType(counts(5), alpha=HALF)
    found, only = optimal_mechanism(ptype, consumer), uniqueness(ptype, consumer)
    channel, G = found.channel, geometric_channel(5, alpha=HALF)
    pattern = constraint_matrix(channel, HALF)
    ours = " ".join("".join(_LETTERS[entry] for entry in row) for row in pattern.tolist())
    rows = [compared(f"Figure 2, row {i}", FIGURE_2[i], _row(channel, i)) for i in range(6)]
    held = ", ".join(check.lemma for check in check_lemmas(pattern) if check.holds)
    return (
        *rows,
        compared("Figure 2, remap (Example 5.2)", "0 2 2 3 4 5", " ".join(map(str, bayes_remap(G, consumer).actions))),
        Figure("Figure 2, expected loss", "", f"{found.loss:.13f}", EXTENDED, f"proven to within {found.gap:.0e}"),
        Figure("Figure 2, loss of G at face value", "", f"{face_value_loss(G, consumer):.13f}", EXTENDED),
        Figure(
            "Figure 2, the only optimum",
            "",
            "yes" if only.is_unique else "no",
            EXTENDED,
            f"{only.variables} variables, {only.tight} tight constraints priced",
        ),
        compared("Figure 3", FIGURE_3, ours),
        compared("Lemmas 5.4 to 5.9 on Figure 3", "5.4, 5.5, 5.6, 5.7, 5.8, 5.9", held),
    )


def section_5() -> tuple[Figure, ...]:
    """What section 5 says too strongly."""
    stubborn = Channel([["0", "1/3", "2/3"], ["0", "2/3", "1/3"], ["0", "1/3", "2/3"]])
    user = Consumer(priors.uniform(3), [["0", "3/4", "3/4"], ["1", "0", "1"], ["2", "1", "0"]])
    best = optimal_mechanism(PrivacyType(counts(2), alpha=HALF), user).loss
    attains = face_value_loss(stubborn, user) == best and not derivation(stubborn, HALF).is_derivable
    G = geometric_channel(2, alpha=HALF)
    remaps = {tuple((G @ Remap(list(actions), 3)).matrix.ravel()) for actions in product(range(3), repeat=3)}
    sided = Consumer(priors.uniform(6), losses.asymmetric(1, 3))
    wider = optimal_mechanism(PrivacyType(counts(5), alpha=HALF), sided)
    return (
        Figure(
            "Program (3), (4): ranges",
            "r in N without n, i in N",
            "i in N without n, r in N",
            CORRECTED,
            "the two ranges are exchanged in print",
        ),
        Figure(
            "Lemma 5.5",
            "every optimal vertex",
            "some optimal vertex",
            CORRECTED,
            "every one for full-support priors and strictly increasing losses; the values always agree",
        ),
        Figure(
            "Footnote 4: a vertex that is no remap of G is optimal",
            "for no user",
            "for some users" if attains else "for no user",
            CORRECTED,
            f"rows (0,1/3,2/3), (0,2/3,1/3), (0,1/3,2/3) attain the optimum {best} of a user with plateaus of loss",
        ),
        Figure("Deterministic remaps of G, n = 2", "", str(len(remaps)), EXTENDED, "6 of them are no vertices"),
        Figure(
            "Theorem 3.1 for losses that differ on the two sides",
            "",
            "holds" if wider.is_exact and wider.method == "closed form" else "fails",
            EXTENDED,
            "each row may fall to a mode and rise after it, at modes that do not decrease",
        ),
    )


def section_6_1(alpha: Fraction = Fraction(1, 4)) -> tuple[Figure, ...]:
    """The Laplace mechanism beside the geometric one, for one bit and a uniform prior; and Theorem 6.1."""
    bit = Consumer(priors.uniform(2), losses.binary)
    geometric = optimal_mechanism(PrivacyType(counts(1), alpha=alpha), bit).loss
    laplace = Laplace(alpha=alpha).ccdf(0.5)
    unique = [
        uniqueness(PrivacyType(counts(n), alpha=alpha), Consumer(priors.uniform(n + 1), losses.binary)).is_unique
        for n in range(1, 9)
    ]
    return (
        compared(f"6.1, alpha = {alpha}: geometric", str(alpha / (1 + alpha)), str(geometric)),
        compared(f"6.1, alpha = {alpha}: Laplace", f"{float(alpha) ** 0.5 / 2:.12f}", f"{laplace:.12f}"),
        Figure(
            f"6.1, alpha = {alpha}: ratio", "", f"{laplace / float(geometric):.12f}", EXTENDED, "(1 + a) / (2 sqrt a)"
        ),
        compared("Theorem 6.1: G is the only optimum, n = 1..8", "yes", "yes" if all(unique) else "no"),
    )


def section_6_2(tilt: Fraction = Fraction(1, 100)) -> tuple[Figure, ...]:
    """Figures 4 and 5: two consumers with priors over databases whom no mechanism serves both."""
    query, one, two = conflicting_users(tilt)
    ptype = PrivacyType(query.space, alpha=HALF)
    found, both = optimal_mechanism(ptype, one), shared_mechanism(ptype, [one, two])
    matrix = found.channel.matrix
    rows = {d: " ".join(map(str, matrix[query.databases.index(d), 1:3])) for d in FIGURE_4}
    refuted = sharing_refutation(ptype, [one, two]) is not None
    return (
        *(compared(f"Figure 4, {_named(d)}", row, rows[d]) for d, row in FIGURE_4.items()),
        Figure("Figure 4, expected loss", "", str(found.loss), EXTENDED, f"13/48 + epsilon/2 at epsilon = {tilt}"),
        compared("Figure 4, the only optimum", "yes", "yes" if uniqueness(ptype, one).is_unique else "no"),
        Figure(
            "Figure 5: a mechanism that induces both optima",
            "none",
            "none" if refuted else "some",
            "equal" if refuted else CORRECTED,
            "an exact Farkas certificate; randomised remaps included",
        ),
        Figure("Theorem 6.3: least total loss of one mechanism", "", str(both.together.loss), EXTENDED),
        Figure("Theorem 6.3: regret", "", str(both.regret), EXTENDED, "11/120 - epsilon/5, for epsilon to 1/24"),
        Figure("Theorem 6.3: delta", "small", "any in [0, 1)", CORRECTED, "answers 0 and 3 are never used"),
    )


def _row(channel: Channel, i: int) -> str:
    return " ".join(map(str, channel.matrix[i]))


def _named(database: tuple[int, ...]) -> str:
    return "{" + ", ".join(str(row + 1) for row, value in enumerate(database) if value) + "}"
