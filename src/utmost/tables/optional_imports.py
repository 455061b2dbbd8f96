"""Import optional packages when they are needed. The error for a missing package names the extra of utmost that
installs it.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from utmost.errors import Unsupported


def extra(module: str, name: str) -> ModuleType:
    """Import a module that is installed with the extra ``name`` of utmost."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise Unsupported(
            f"the package {package} must be installed",
            came=f"no module {error.name}",
            remedy=f'Run: pip install "utmost[{name}]".',
        ) from None


def absent(name: str, missing: str | None, extra_name: str) -> Callable[..., Any]:
    """Return a substitute for a function that needs packages which are not installed. A call of the substitute raises
    an error.
    """

    def refused(*arguments: Any, **options: Any) -> Any:
        remedy = f'Run: pip install "utmost[{extra_name}]".'
        raise Unsupported(f"{name} needs the package {missing}", came="none", remedy=remedy)

    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = f'Not installed: pip install "utmost[{extra_name}]".'
    return refused
