"""Optional packages: imported when needed; an error for a missing one names the extra that installs it."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from utmost.errors import Unsupported


def extra(module: str, name: str) -> ModuleType:
    """The module, which the extra ``name`` of this package installs.

    >>> extra("json", "tables").__name__
    'json'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise Unsupported(
            f"this needs the package {package}",
            came=f"no module {error.name}",
            remedy=f'Install it with: pip install "utmost[{name}]".',
        ) from None


def absent(name: str, missing: str | None, extra_name: str) -> Callable[..., Any]:
    """A function in place of one whose packages are not installed; a call raises an error with the remedy."""

    def refused(*arguments: Any, **options: Any) -> Any:
        remedy = f'Install it with: pip install "utmost[{extra_name}]".'
        raise Unsupported(f"{name} needs the package {missing}", came="none", remedy=remedy)

    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = f'Not installed: pip install "utmost[{extra_name}]".'
    return refused
