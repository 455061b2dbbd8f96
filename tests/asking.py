"""Calls that tests vary by one dict: what is said of a promise in it becomes the promise, the rest stays as it is."""

import inspect
from typing import Any

import utmost as ut

_OF_A_PROMISE = frozenset(inspect.signature(ut.Promise).parameters)


def asked(**words: Any) -> dict[str, Any]:
    """The arguments of a call that takes a promise.

    >>> sorted(asked(columns="n", sensitivity=1, cells=1, epsilon=1))
    ['epsilon', 'promise']
    """
    promised = {name: word for name, word in words.items() if name in _OF_A_PROMISE}
    return {"promise": ut.Promise(**promised), **{name: word for name, word in words.items() if name not in promised}}
