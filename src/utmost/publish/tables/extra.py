"""Optional packages: imported when they are needed, and named with their extra where they are missing."""

from importlib import import_module
from types import ModuleType

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
