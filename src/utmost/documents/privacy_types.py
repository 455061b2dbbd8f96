"""Privacy types as the geometry commands ask for them: a space, and a level that is the papers' ln 2 if left out."""

from collections.abc import Mapping

from utmost.documents.space_names import one_space
from utmost.errors import BadTable
from utmost.exact import Level, level
from utmost.privacy import PrivacyType
from utmost.spaces import Space

PAPERS_ALPHA = "1/2"


def type_asked(spaces: Mapping[str, str | None], epsilon: str | None, alpha: str | None) -> tuple[str, PrivacyType]:
    """The space as text, and the type.

    Args:
        spaces: what came with each option for a space; exactly one must be there.
        epsilon, alpha: the level, at most one of them; alpha = 1/2 if left out.

    >>> type_asked({"line": "3", "discrete": None}, None, None)
    ('line:3', PrivacyType(Space(LineMetric(n=2)), alpha=1/2))
    """
    spelled, space = one_space(spaces)
    return spelled, PrivacyType(space, _level(epsilon, alpha))


def secret_names(space: Space) -> list[str]:
    """The names of the secrets as text, all different.

    >>> from utmost.spaces import grid
    >>> secret_names(grid(1, 2))
    ['(0, 0)', '(0, 1)']
    """
    names = [str(label) for label in space.labels]
    if len(set(names)) != len(names):
        raise BadTable("secrets must have different names as text", came=", ".join(names))
    return names


def _level(epsilon: str | None, alpha: str | None) -> Level:
    return level(epsilon, alpha) if epsilon is not None or alpha is not None else level(alpha=PAPERS_ALPHA)
