"""List the names that a public module defines, without the names that it imports."""

import sys
from collections.abc import Callable


def own_names(module: str) -> Callable[[], list[str]]:
    """Return a ``__dir__`` for a public module that also contains code."""

    def listed() -> list[str]:
        values = vars(sys.modules[module])
        public = (name for name in values if not name.startswith("_"))
        return sorted(name for name in public if getattr(values[name], "__module__", None) == module)

    return listed
