"""A consumer meets a channel: posteriors, the Bayes remap, and the expected loss with and without it."""

from fractions import Fraction
from typing import Any

import numpy as np

from utmost.channels import Channel, Remap
from utmost.errors import OutOfRange
from utmost.exact import Array, as_array, checked, exact_integer, frozen, one_world
from utmost.leakage import TIE, joint, least_actions, scores, uncertainty
from utmost.spaces import Consumer


@checked
def posterior(C: Channel, prior: Array, outcome: int) -> Array | None:
    """p(x | y) = p_x C[x, y] / sum_z p_z C[z, y], shape (n,); None for an outcome of probability zero.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import priors
    >>> posterior(geometric_channel(1, alpha="1/3"), priors.uniform(2), 1).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """
    y = exact_integer(outcome, "outcome")
    if not 0 <= y < C.shape[1]:
        raise OutOfRange(f"the outcome must lie in 0..{C.shape[1] - 1}", came=outcome)
    prior = as_array(prior, "prior", ndim=1)
    _check_sizes(C, len(prior))
    weights, column = one_world(prior, C.matrix[:, y])
    joint = weights * column
    total = joint.sum()
    return None if total == 0 else frozen(np.asarray(joint / total))


@checked
def bayes_remap(C: Channel, consumer: Consumer, tie: float = TIE) -> Remap:
    """For each outcome y the action r with the least posterior loss sum_x p_x C[x, y] l(x, r).

    Of several best actions the smallest is taken, and the outcome is listed in ``.ties``. To an outcome of probability
    zero all actions are equal: it takes action 0, and is listed (unless there is one action only).

    Args:
        C: (n, m).
        consumer: n secrets, k actions.
        tie: in float64, how much more than the least a score may be, relatively, and still count as equal: scores are
            sums of positive terms, so they are good to some units of 2^-53. Exact scores tie when they are equal.

    Source: [ghosh2009], section 2.3. Cost: O(n m k).

    >>> from utmost.spaces import losses, priors
    >>> guess = Consumer(priors.from_counts([1, 3]), losses.binary)
    >>> bayes_remap(Channel([["1/2", "1/2"], ["1/2", "1/2"]]), guess).actions
    array([1, 1])
    """
    return least_actions(scores(consumer.loss, joint(C, consumer)), tie)


@checked
def expected_loss(C: Channel, consumer: Consumer) -> Any:
    """sum_y min_r sum_x p_x C[x, y] l(x, r): the loss after the optimal remap.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import losses, priors
    >>> expected_loss(geometric_channel(3, alpha="1/2"), Consumer(priors.uniform(4), losses.binary))
    Fraction(1, 2)
    """
    return uncertainty(C, consumer)


@checked
def face_value_loss(C: Channel, consumer: Consumer) -> Any:
    """sum_x p_x sum_y C[x, y] l(x, y): the loss of a consumer who takes each outcome as its answer.

    Raises:
        OutOfRange: when there are more outcomes than actions.
    """
    _check_sizes(C, consumer.secrets)
    if C.shape[1] > consumer.actions:
        raise OutOfRange(f"each of the {C.shape[1]} outcomes must be an action", came=f"{consumer.actions} actions")
    prior, loss, matrix = one_world(consumer.prior, consumer.loss, C.matrix)
    total = (prior * (matrix * loss[:, : C.shape[1]]).sum(axis=1)).sum()
    return total if isinstance(total, Fraction) else float(total)


def _check_sizes(C: Channel, secrets: int) -> None:
    if C.shape[0] != secrets:
        raise OutOfRange(f"the channel must have {secrets} rows, one for each secret of the prior", came=C.shape[0])
