"""Estimate the number of clients with each candidate word, from counts of reported bits of Bloom filters.

A cohort is a group of clients with the same hash functions. Let n_wj be the number of clients of cohort j with word w,
and N_w the number of all clients with word w. The expected number of true ones at position i of the filter is
t_ij = sum_w B_wij n_wj, where B_wij is 1 if w sets position i in cohort j. Each client draws one of c cohorts, so n_wj
is N_w/c on average, and a regression estimates the N_w. Words that are not among the candidates add about equally many
ones to all positions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, sequence_of, text
from utmost.core.exact.arrays import Floats, as_array
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import Number, between_0_and_1, read_confidence
from utmost.design.local.bits import BitResponse
from utmost.design.local.words import Bloom, BloomCounts
from utmost.errors import OutOfRange, SolverFailed

# Number of block exchanges without progress after which single exchanges follow.
_PATIENCE = 5
# This number times the largest diagonal entry is added to the diagonal, so that equal columns get equal coefficients.
_RIDGE = 1e-11


def nonnegative_least_squares(gram: Floats, moments: Floats, *, tolerance: float = 1e-9) -> Floats:
    """Return the x >= 0 that minimises ||Ax - y||, from ``gram`` G = A'A and ``moments`` b = A'y."""
    # Block principal pivoting is fast for nearly independent columns. If it makes no progress, the active-set method of
    # Lawson and Hanson follows, which always terminates. The Karush-Kuhn-Tucker conditions hold for the result.
    gram, moments = (
        as_array(gram, "gram", ndim=2).astype(np.float64),
        as_array(moments, "moments", ndim=1).astype(float),
    )
    size = len(moments)
    if gram.shape != (size, size):
        raise OutOfRange(f"gram must have the shape ({size}, {size})", came=str(gram.shape))
    if not size or not np.diag(gram).max() > 0:
        return np.zeros(size)
    ridged = gram + _RIDGE * float(np.diag(gram).max()) * np.eye(size)
    slack = tolerance * max(1e-300, float(np.abs(moments).max()))
    solution = _by_blocks(ridged, moments, slack)
    return solution if solution is not None else _one_by_one(ridged, moments, slack)


def _by_blocks(gram: Floats, moments: Floats, slack: float) -> Floats | None:
    """Minimise by block pivoting: repeatedly free all entries that should grow, and fix all negative entries at 0.
    Return None if pivoting makes no progress.
    """
    free, fewest, patience = np.zeros(len(moments), np.bool_), len(moments) + 1, _PATIENCE
    while patience:
        x = _solution_on(gram, moments, free)
        wrong = np.where(free, x < 0, gram @ x - moments < -slack)
        count = int(np.count_nonzero(wrong))
        if not count:
            return x
        fewest, patience = (count, _PATIENCE) if count < fewest else (fewest, patience - 1)
        free = free ^ wrong
    return None


def _one_by_one(gram: Floats, moments: Floats, slack: float) -> Floats:
    """Minimise by Lawson and Hanson's active-set method: free one entry at a time, and fix entries that reach 0."""
    x, free = np.zeros(len(moments)), np.zeros(len(moments), np.bool_)
    for _ in range(30 * len(moments)):
        descent = np.where(free, -np.inf, moments - gram @ x)
        best = int(np.argmax(descent))
        if descent[best] <= slack:
            return x
        free[best] = True
        target = _solution_on(gram, moments, free)
        while (falling := free & (target <= 0)).any():
            # Move towards the target until the first entry reaches 0.
            steps = x[falling] / np.maximum(x[falling] - target[falling], 1e-300)
            x = x + float(steps.min()) * (target - x)
            free[np.flatnonzero(falling)[steps <= steps.min()]] = False
            x = np.where(free, np.maximum(x, 0), 0.0)
            target = _solution_on(gram, moments, free)
        x = target
    raise SolverFailed(
        "the active set must stop changing",
        came=f"changes after {len(moments)} places",
        where="nonnegative_least_squares",
        remedy="Pass a larger tolerance.",
    )


def _solution_on(gram: Floats, moments: Floats, free: NDArray[np.bool_]) -> Floats:
    """Return the least-squares solution in which all entries that are not ``free`` are 0."""
    used = np.flatnonzero(free)
    x = np.zeros(len(moments))
    x[used] = np.linalg.solve(gram[np.ix_(used, used)], moments[used])
    return x


@dataclass(frozen=True, slots=True, repr=False)
class FoundWord(Display):
    """A candidate word that some clients have, according to the reports.

    Attributes:
        word: Word.
        count: Estimated number of clients with the word.
        error: Standard error of the count.
        p_value: One-sided p-value of the hypothesis that no client has the word, not corrected for many candidates.
    """

    word: str
    count: float
    error: float
    p_value: float

    def interval(self, confidence: Number = DEFAULT_CONFIDENCE) -> tuple[float, float]:
        """Return the normal confidence interval of the count, with negative ends replaced by 0.

        >>> [round(end) for end in FoundWord("mary", 1000.0, 50.0, 0.0).interval()]
        [902, 1098]
        """
        reach = NormalDist().inv_cdf((1 + float(read_confidence(confidence))) / 2) * self.error
        return max(0.0, self.count - reach), self.count + reach


@dataclass(frozen=True, slots=True, repr=False)
class Decoding(Display):
    """The words that were found, most frequent first, and the estimated number of clients with other words."""

    found: tuple[FoundWord, ...]  # the significant candidates
    others: float  # estimated number of clients with other words
    # Residual variance divided by the variance that the model expects. If it is above 1, clients probably have words
    # that are no candidates or were not found, and the standard errors are widened.
    spread: float

    def count(self, word: str) -> float:
        """Return the estimated number of clients with a word; 0 if the word was not found."""
        return next((each.count for each in self.found if each.word == word), 0.0)


def decode(
    counts: BloomCounts,
    response: BitResponse,
    bloom: Bloom,
    candidates: Sequence[str],
    *,
    significance: Number = "0.05",
) -> Decoding:
    """Find the candidate words that clients have, and estimate the number of clients with each.

    1. Estimate the number of true ones at every position of every cohort's filter, without bias.
    2. Select the candidates whose positions have the largest estimates, half as many candidates as there are positions.
    3. Regress on these candidates with nonnegative coefficients, and one more coefficient for all other words.
    4. Regress on the candidates with a positive coefficient by weighted least squares, and remove the least significant
       candidates until all are significant. Standard errors include the randomness of responses and of cohorts, and the
       residuals of the model.

    Args:
        counts: Numbers of ones and of clients in the reports.
        response: Response with which the reports were drawn from true bits.
        bloom: Bloom filter of the reports.
        candidates: Distinct words.
        significance: Largest probability that some word is found that no client has; it is divided equally among all
            candidates (Bonferroni).

    Raises:
        OutOfRange: if a candidate is repeated, if the counts have a wrong shape, if there are no clients, or if the
            significance is outside (0, 1).

    Cost: a microsecond or two for each candidate and cohort, then the regression: seconds for thousands of candidates.
    """
    instance(counts, BloomCounts, "counts")
    instance(response, BitResponse, "response")
    instance(bloom, Bloom, "bloom")
    sequence_of(candidates, text, "candidates")
    share = between_0_and_1(significance, "the significance", "decode")
    if len(set(candidates)) != len(candidates):
        twice = next(word for at, word in enumerate(candidates) if word in candidates[:at])
        raise OutOfRange(
            "the candidates must be distinct words",
            came=f"{twice!r} twice",
            where="decode",
            remedy="Remove repeated words.",
        )
    if counts.ones.shape != (bloom.cohorts, bloom.bits) or not counts.clients.any():
        required = f"the counts must have {bloom.cohorts} cohorts and {bloom.bits} bits, and at least one client"
        came = f"shape {counts.ones.shape} with {int(counts.clients.sum())} clients"
        raise OutOfRange(required, came=came)
    rows = _BitEquations.of(counts, response, bloom)
    words = rows.screened(list(candidates), bloom)
    words = words.part(nonnegative_least_squares(*rows.normal(words))[:-1] > 0)
    critical = float(share) / max(1, len(candidates))
    while True:
        fit = _Fit.of(rows, words)
        doubtful = np.flatnonzero(fit.p_values > critical)
        if not doubtful.size:
            return fit.decoding(words.words)
        worst = doubtful[np.argsort(fit.p_values[doubtful])[-max(1, doubtful.size // 2) :]]
        words = words.part(~np.isin(np.arange(len(words.words)), worst))


@dataclass(frozen=True, slots=True, eq=False)
class _CandidateWords:
    """Words, and a 0/1 matrix (words, positions) of the positions that each word sets in the filters of all cohorts."""

    words: list[str]
    sets: Floats

    def part(self, some: NDArray[np.bool_]) -> "_CandidateWords":
        return _CandidateWords([word for word, keep in zip(self.words, some, strict=True) if keep], self.sets[some])


@dataclass(frozen=True, slots=True, eq=False)
class _BitEquations:
    """One regression equation for each position of each cohort's filter."""

    estimates: Floats  # estimated number of true ones
    variances: Floats  # variance of the estimate; infinite for cohorts without clients
    shares: Floats  # fraction of the clients in the cohort
    others: Floats  # expected ones for each client with a word that is no candidate
    cohorts: int

    @classmethod
    def of(cls, counts: BloomCounts, response: BitResponse, bloom: Bloom) -> "_BitEquations":
        shares = counts.clients / counts.clients.sum()
        here = np.repeat(counts.clients > 0, bloom.bits)
        by_position = np.repeat(shares, bloom.bits)
        # A word that is not a candidate sets each position of its cohort with this probability.
        chance = 1 - (1 - 1 / bloom.bits) ** bloom.hashes
        variances = np.where(here, np.maximum(counts.variances(response).reshape(-1), 1e-9), np.inf)
        return cls(counts.true_ones(response).reshape(-1), variances, by_position, by_position * chance, bloom.cohorts)

    def screened(self, candidates: list[str], bloom: Bloom) -> _CandidateWords:
        """Return the candidates whose positions have the largest estimates, half as many as there are positions."""
        usual = np.average(self.estimates.reshape(self.cohorts, -1), axis=1).repeat(bloom.bits)
        excess = np.where(np.isfinite(self.variances), (self.estimates - usual) * self.shares / self.variances, 0.0)
        # List the positions of each word over all cohorts.
        positions = [
            sorted({c * bloom.bits + position for c in range(bloom.cohorts) for position in bloom.places(word, c)})
            for word in candidates
        ]
        scores = np.array([excess[at].sum() for at in positions])
        best = np.sort(np.argsort(-scores, kind="stable")[: max(1, len(excess) // 2)])
        sets = np.zeros((len(best), len(excess)))
        for row, number in enumerate(best.tolist()):
            sets[row, positions[number]] = 1.0
        return _CandidateWords([candidates[number] for number in best.tolist()], sets)

    def design(self, words: _CandidateWords) -> Floats:
        """Return the expected number of ones at each position that one client adds: a row per word, one for other
        words.
        """
        return np.vstack([words.sets * self.shares, self.others])

    def normal(self, words: _CandidateWords) -> tuple[Floats, Floats]:
        """Return the Gram matrix and moments of least squares in which each position has the weight 1 / variance."""
        design = self.design(words)
        weighted = design / self.variances
        return weighted @ design.T, weighted @ self.estimates


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """The weighted least-squares fit; arrays have an entry for each word, and a last one for all other words."""

    counts: Floats
    errors: Floats
    spread: float

    @classmethod
    def of(cls, rows: _BitEquations, words: _CandidateWords) -> "_Fit":
        design = rows.design(words)
        gram, moments = rows.normal(words)
        # Invert after scaling to a unit diagonal, with a ridge of 1e-12 for equal columns.
        scale = np.sqrt(np.where(np.diag(gram) > 0, np.diag(gram), 1.0))
        unit = gram / np.outer(scale, scale) + 1e-12 * np.eye(len(gram))
        inverse: Floats = np.linalg.inv(unit) / np.outer(scale, scale)
        counts = inverse @ moments
        solver = inverse @ (design / rows.variances)  # counts = solver @ estimates

        # N_w clients fall into cohorts j with probabilities s_j, and each contributes L_j to the estimate. So the
        # variance of counts due to random cohorts is the sum over w of N_w (sum_j s_j L_j^2 - (sum_j s_j L_j)^2).
        size = len(rows.shares) // rows.cohorts
        shares, of_cohort = rows.shares[::size], np.eye(rows.cohorts)
        by_cohorts = np.zeros(len(counts))
        for sets, count in zip(words.sets, counts, strict=False):
            positions = np.flatnonzero(sets)
            each = solver[:, positions] @ of_cohort[positions // size]
            by_cohorts += max(0.0, float(count)) * (each**2 @ shares - (each @ shares) ** 2)

        # Residuals vary because responses are random, and because random cohorts change the numbers of true ones.
        used = np.isfinite(rows.variances)
        residual = (rows.estimates - counts @ design)[used]
        freedom = max(1, int(used.sum()) - len(counts))
        ones: Floats = np.maximum(counts[:-1], 0) @ words.sets * rows.shares * (1 - rows.shares)
        expected = rows.variances[used] + ones[used]
        spread = float((residual**2 / expected).sum() / freedom)
        variances = np.diag(inverse) * max(1.0, spread) + by_cohorts
        return cls(counts, np.sqrt(np.maximum(variances, 0)), spread)

    @property
    def p_values(self) -> Floats:
        """One-sided p-values of the hypotheses that no client has a word, one for each word."""
        z = self.counts[:-1] / np.maximum(self.errors[:-1], 1e-300)  # avoids a division by 0
        return np.array([0.5 * erfc(each / sqrt(2)) for each in z])

    def decoding(self, words: list[str]) -> Decoding:
        rows = zip(words, self.counts.tolist(), self.errors.tolist(), self.p_values.tolist(), strict=False)
        decoded = sorted((FoundWord(*row) for row in rows), key=lambda each: (-each.count, each.word))
        return Decoding(tuple(decoded), max(0.0, float(self.counts[-1])), self.spread)
