"""What a room asks of one above it, by name: the single place where a call looks upwards.

Rooms import downwards only. A few conveniences belong to a value below and are made above it: a law draws itself, a
release saves itself, every value shows its card. Each has a name here, and ``utmost/__init__.py``, which stands above
all rooms, says which room provides it; that room is loaded when the name is first asked for.
"""

import ast
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
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


def own_names(module: str) -> Callable[[], list[str]]:
    """The ``__dir__`` of a module that is public itself: what it defines, and not what it imports.

    >>> "Any" in own_names("utmost.errors")(), "BadTable" in own_names("utmost.errors")()
    (False, True)
    """

    def listed() -> list[str]:
        values = vars(sys.modules[module])
        public = (name for name in values if not name.startswith("_"))
        return sorted(name for name in public if getattr(values[name], "__module__", None) == module)

    return listed


def _absent(name: str, missing: str | None, extra: str) -> Callable[..., Any]:
    """What stands for a name whose packages are not installed, until it is called."""

    def absent(*arguments: Any, **words: Any) -> Any:
        from utmost.errors import Unsupported

        remedy = f'Install it with: pip install "utmost[{extra}]".'
        raise Unsupported(f"{name} needs the package {missing}", came="none", remedy=remedy)

    absent.__name__ = absent.__qualname__ = name
    absent.__doc__ = f'Not installed: pip install "utmost[{extra}]".'
    return absent


class RoomNames:
    """The ``__getattr__`` of a room, which loads each of its names from its file when it is first asked for.

    What needs one name of a room so loads one file of it, and what that needs: half of a start is making classes.
    The files of a room are there too, by their names.

    Args:
        room: the name of its module.
        listing: the path of the file whose ``from utmost... import`` lines list the names: of a room its
            ``__init__.py``, where they stand under ``if TYPE_CHECKING``, or a stub.
        extra: the extra of this package without which names of the room cannot be loaded; they are there even so, and
            refuse to be called.

    Attributes:
        names: for each public name, the module and what it is called there.

    Cost: reading and parsing the listing, under a millisecond; a name that is nowhere is looked for in every file.
    """

    def __init__(self, room: str, listing: str, extra: str | None = None) -> None:
        tree = ast.parse(Path(listing).read_text(encoding="utf-8"))
        lines = (
            line
            for line in ast.walk(tree)
            if isinstance(line, ast.ImportFrom) and line.module not in ("typing", "utmost.provided")
        )
        self.room, self.extra = room, extra
        self.folder = Path(listing).parent if Path(listing).stem == "__init__" else None
        self.names = {alias.asname or alias.name: (line.module, alias.name) for line in lines for alias in line.names}
        vars(sys.modules[room])["__dir__"] = self.listed

    def listed(self) -> list[str]:
        """What ``dir`` shows of the room: its public names, loaded or not, and no others."""
        return sorted(self.names)

    def __call__(self, name: str) -> Any:
        """What a name of the room stands for.

        Raises:
            AttributeError: for a name that is not there, with the places that have it.
        """
        if name not in self.names:
            if self.folder is not None and (self.folder / f"{name}.py").is_file():
                try:
                    return import_module(f"{self.room}.{name}")
                except ModuleNotFoundError as error:
                    if self.extra is None or (error.name or "").startswith("utmost"):
                        raise
                    remedy = f'it needs the package {error.name}: pip install "utmost[{self.extra}]"'
                    raise AttributeError(f"module {self.room!r} cannot load {name!r}; {remedy}") from None
            places = [] if name.startswith("_") else sorted(self._places(name))
            remedy = f"; it is {' or '.join(places)}" if places else ""
            raise AttributeError(f"module {self.room!r} has no attribute {name!r}{remedy}")
        module, attribute = self.names[name]
        try:
            return self._loaded(name, str(module), attribute)
        except ModuleNotFoundError as error:
            if self.extra is None or (error.name or "").startswith("utmost"):
                raise
            return _absent(name, error.name, self.extra)

    def _loaded(self, name: str, module: str, attribute: str) -> Any:
        """What stands for a name, which the room has from here on."""
        holder = None if module == self.room else import_module(module)
        is_file = not hasattr(holder, attribute)
        value = import_module(f"{module}.{attribute}") if is_file else getattr(holder, attribute)
        setattr(import_module(self.room), name, value)
        return value

    @staticmethod
    @cache  # tools ask every module for the same names that none has
    def _places(name: str) -> set[str]:
        """The rooms and wings that list a name; if there are none, the files that define it."""
        word = re.escape(name)
        is_listed = re.compile(rf"import {word} as ").search
        is_defined = re.compile(rf"^(?:(?:def|class) {word}\b|{word}(?:: .*)? = )", re.MULTILINE).search
        places: dict[bool, set[str]] = {True: set(), False: set()}
        root = Path(__file__).parent
        for path in root.rglob("*.py"):
            is_room, text = path.stem == "__init__", path.read_text(encoding="utf-8")
            if is_listed(text) if is_room else is_defined(text):
                parts = (path.parent if is_room else path.with_suffix("")).relative_to(root).parts
                places[is_room].add(".".join((root.name, *parts, name)))
        return places[True] or places[False]
