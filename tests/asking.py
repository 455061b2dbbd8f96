"""Calls that tests vary by one dict: what is said of a promise in it becomes the promise, the rest stays as it is."""

import inspect
from dataclasses import fields, replace
from typing import Any

import utmost as ut
from utmost.ledger import PublishRequest

_UNIT = ("sensitivity", "cells", "neighbours", "amount")
_CELLS = ("numbers", "grid", "largest", "half_step")
_ONCE = ("cost", "relaxable")
ALLOWED = dict[str, str]()
"""An allowed text of each field of a promise that refuses some texts, as a date does."""
PROMISE_TEXTS = {
    each.name: ALLOWED.get(each.name, f"a {each.name}") for each in fields(ut.Promise) if each.metadata["form"].hint
}
"""A text for each field of a promise that is a text for people: tests of all fields read it."""
_OF_A_PROMISE = {*inspect.signature(ut.Promise).parameters, *_UNIT, *_CELLS, *_ONCE}


def promised(**words: Any) -> ut.Promise:
    """A promise, of which a test varies one number of the unit or of the noise of cells at a time.

    >>> promised(columns="n", unit=ut.Unit(1, 1), cells=2).unit, promised(columns="n", sensitivity=1, cells=1).unit
    (Unit(1, cells=2), Unit(1, cells=1))
    """
    unit = {name: words.pop(name) for name in _UNIT if name in words}
    noise = {name: words.pop(name) for name in _CELLS if name in words}
    once = {name: words.pop(name) for name in _ONCE if name in words}
    if unit:
        words["unit"] = replace(words["unit"], **unit) if "unit" in words else ut.Unit(**unit)
    if noise and isinstance(words.get("noise"), ut.CellNoise):
        words["noise"] = replace(words["noise"], **noise)
    elif noise:
        words["noise"] = ut.CellNoise(words.pop("unit", None), **noise)
    return ut.Promise(**words).once(**once) if once else ut.Promise(**words)


def asked(**words: Any) -> dict[str, Any]:
    """The arguments of a call that takes a promise.

    >>> sorted(asked(columns="n", unit=ut.Unit(1, 1), epsilon=1))
    ['epsilon', 'promise']
    """
    of_promise = {name: word for name, word in words.items() if name in _OF_A_PROMISE}
    return {"promise": promised(**of_promise), **{name: word for name, word in words.items() if name not in of_promise}}


def publish_items(
    ledger: ut.Ledger,
    name: str,
    commitment: Any,
    promise: ut.Promise,
    *,
    epsilon: Any = None,
    dataset: str | None = None,
    **rest: Any,
) -> Any:
    """A table that workers have committed to, published in its own dataset unless the test says another."""
    own = name if dataset is None else dataset
    request = PublishRequest(name=name, promise=promise, level=ut.level(epsilon), dataset=own, **rest)
    return ledger.items.publish(request, commitment)
