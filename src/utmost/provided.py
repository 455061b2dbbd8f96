"""What a room asks of one above it, by name: the single place where a call looks upwards.

Rooms import downwards only. A few conveniences belong to a value below and are made above it: a law draws itself, a
release saves itself, every value shows its card. Each has a name here, and ``utmost/__init__.py``, which stands above
all rooms, says which room provides it; that room is loaded when the name is first asked for.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

_PROVIDERS: dict[str, str] = {}


def register(providers: Mapping[str, str]) -> None:
    """Say where names are provided: "module:attribute", or a module alone.

    >>> register({"half": "fractions:Fraction"})
    >>> provided("half")(1, 2)
    Fraction(1, 2)
    """
    _PROVIDERS.update(providers)


@cache
def provided(name: str) -> Any:
    """What a room above provides under a name; its module is loaded now.

    Raises:
        KeyError: for a name that nobody provides.

    Cost: one import the first time, a look-up after that.
    """
    module, _, attribute = _PROVIDERS[name].partition(":")
    return getattr(import_module(module), attribute) if attribute else import_module(module)
