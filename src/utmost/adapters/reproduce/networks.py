"""Two social networks: Zachary's karate club, and who appears with whom in Les Miserables.

`karate_club.csv`: the 78 friendships of 34 members, from W. W. Zachary, *An Information Flow Model for Conflict and
Fission in Small Groups*, Journal of Anthropological Research 33 (1977), 452-473; member 1 is the instructor, 34 the
president. `les_miserables.csv`: the 254 pairs of 77 characters that share a chapter of Victor Hugo's novel, as compiled
by D. E. Knuth, *The Stanford GraphBase* (1993). Both are lists of published facts, written from networkx 3.6 (BSD
licence), which ships the same edges.
"""

import csv
from importlib.resources import files

Edges = list[tuple[str, str]]


def karate_club() -> Edges:
    """78 friendships between the members "1" to "34".

    >>> len(karate_club()), karate_club()[0]
    (78, ('1', '2'))
    """
    return _edges("karate_club.csv")


def les_miserables() -> Edges:
    """254 pairs of characters.

    >>> len(les_miserables()), les_miserables()[0]
    (254, ('Anzelma', 'Eponine'))
    """
    return _edges("les_miserables.csv")


def _edges(name: str) -> Edges:
    text = (files("utmost.adapters.reproduce") / name).read_text(encoding="utf-8")
    return [(one, other) for one, other in list(csv.reader(text.splitlines()))[1:]]
