"""Where words come in and facts go out: the command line, the service, figures, files, other packages, the papers."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.doors import cli as cli
    from utmost.doors import documents as documents
    from utmost.doors import figures as figures
    from utmost.doors import interop as interop
    from utmost.doors import papers as papers
    from utmost.doors import service as service
    from utmost.doors import testing as testing
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
