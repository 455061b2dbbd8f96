"""Losses by name, as a command line or a file writes them."""

from collections.abc import Callable

from utmost.errors import NotALoss, NotANumber, OutOfRange
from utmost.spaces.losses import Loss, absolute, asymmetric, binary, capped, nib, power, squared, thresholded

_PLAIN = {"absolute": absolute, "squared": squared, "binary": binary, "nib": nib}
_WITH_NUMBERS: dict[str, tuple[Callable[..., Loss], int]] = {
    "power": (power, 1),
    "asymmetric": (asymmetric, 2),
    "thresholded": (thresholded, 1),
    "capped": (capped, 1),
}
LOSS_NAMES = "absolute, squared, binary, nib, power:1.5, asymmetric:OVER,UNDER, thresholded:T or capped:LIMIT"


def loss_named(name: str) -> Loss:
    """The loss with this name: "absolute", "squared", "binary", "nib", or one with its numbers behind a colon.

    Raises:
        OutOfRange: for any other name, and for numbers that the loss does not take.

    >>> loss_named("binary"), loss_named("asymmetric:1,3")
    (losses.binary, losses.asymmetric(1, 3))
    """
    kind, colon, numbers = name.strip().lower().partition(":")
    if kind in _PLAIN and not colon:
        return _PLAIN[kind]
    make, count = _WITH_NUMBERS.get(kind, (absolute, 0))
    given = [number.strip() for number in numbers.split(",")]
    if count != len(given) or not colon:
        raise OutOfRange(f"a loss by name must be one of {LOSS_NAMES}", came=name)
    try:
        made: Loss = make(*given)
    except (NotALoss, NotANumber) as error:
        raise OutOfRange(error.required, came=error.came, where=f"loss {name}", mend=error.mend) from None
    return made
