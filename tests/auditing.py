"""An audit of privacy by draws alone, after DP-Sniper (Bichsel, Steffen, Bogunovic, Vechev, 2021).

A logistic classifier learns from half of the draws to tell the responses to one value from those to its neighbour; the
event "the classifier is surest" is then counted in the other half, and exact confidence bounds on its two
probabilities give an epsilon that the mechanism cannot keep. Whatever the classifier learned, the bound holds; a poor
one only makes it weak.
"""

import numpy as np
from scipy import stats
from scipy.optimize import minimize


def epsilon_refuted(here, there, doubt=1e-9):
    """An epsilon that the mechanism breaks, unless the draws are of the kind that comes once in 1/doubt.

    Args:
        here, there: (draws, levels) responses to a value and to its neighbour.
        doubt: the chance that the bound is wrong.
    """
    half = len(here) // 2
    score = _learned(here[:half], there[:half])
    learned, judged = ([score(draws[part]) for draws in (here, there)] for part in (slice(half), slice(half, None)))
    sure = np.quantile(learned[0], [0.3, 0.5, 0.7, 0.9, 0.98])
    best = max(sure, key=lambda threshold: _bound(learned, threshold, doubt))
    return _bound(judged, best, doubt)


def _bound(scores, threshold, doubt):
    """log(p/q) for the event that the score reaches the threshold: p from below and q from above (Clopper-Pearson)."""
    (k, m), (n, size) = ((scores[i] >= threshold).sum() for i in (0, 1)), map(len, scores)
    low = stats.beta.ppf(doubt / 2, k, n - k + 1) if k else 0.0
    high = stats.beta.ppf(1 - doubt / 2, m + 1, size - m) if m < size else 1.0
    return float(np.log(low / high)) if low else 0.0


def _learned(here, there):
    """The log odds of ``here``, linear in where each response lies and in which side of the values it fell on."""
    scale = np.std(here, axis=0) + 1
    features = lambda draws: np.hstack([np.ones((len(draws), 1)), draws / scale, np.clip(draws, -1, 1)])  # noqa: E731
    X = np.vstack([features(here), features(there)])
    y = np.repeat([1.0, -1.0], [len(here), len(there)])

    def cost(w):
        margins = y * (X @ w)
        slope = -y / (1 + np.exp(np.clip(margins, -500, 500)))
        return np.logaddexp(0, -margins).mean() + 1e-6 * w @ w, X.T @ slope / len(y) + 2e-6 * w

    weights = minimize(cost, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B").x
    return lambda draws: features(draws) @ weights
