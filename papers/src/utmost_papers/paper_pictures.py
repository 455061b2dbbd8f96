"""List the pictures that are drawn for each paper, by file name."""

from collections.abc import Mapping
from functools import partial

from utmost.interfaces.figures.canvas import Picture
from utmost_papers import fernandes_pictures
from utmost_papers.koufogiannis_applications import karate_club, les_miserables
from utmost_papers.koufogiannis_pictures import noise_paths, relaxing_distribution, social_graph, trust_views
from utmost_papers.mechanism_pictures import (
    chain,
    conflicting,
    derived,
    impossible_mechanism,
    worked_optimum,
    worked_pattern,
)
from utmost_papers.noise_pictures import (
    both_densities,
    gains,
    gammas,
    staircase_density,
    staircase_masses,
    two_notions,
)

_NAMED = [
    "Valjean",
    "Javert",
    "Cosette",
    "Fantine",
    "Marius",
    "Thenardier",
    "Gavroche",
    "Eponine",
    "Napoleon",
    "Mabeuf",
]


def pictures(paper: str) -> Mapping[str, Picture]:
    """Return for each file name, such as "figure_1", the function that draws this picture of the paper."""
    return {"ghosh": _ghosh, "geng": _geng, "koufogiannis": _koufogiannis, "fernandes": fernandes_pictures.pictures}[
        paper
    ]()


def _ghosh() -> Mapping[str, Picture]:
    drawn = (derived, worked_optimum, worked_pattern, conflicting, impossible_mechanism)
    return {f"figure_{k}": draw for k, draw in enumerate(drawn, start=1)}


def _geng() -> Mapping[str, Picture]:
    drawn = (both_densities, gains, staircase_density, gammas, staircase_masses)
    return {f"figure_{k}": draw for k, draw in enumerate(drawn, start=1)}


def _koufogiannis() -> Mapping[str, Picture]:
    club, novel = karate_club(), les_miserables()
    title = "Les Misérables: the Bishop of Digne shares a value"
    return {
        "figure_1": noise_paths,
        "figure_2": two_notions,
        "figure_3": relaxing_distribution,
        "figure_4": chain,
        "figure_5": partial(
            social_graph, edges=club, owner="17", title="Who asks: the friends of member 17, by distance"
        ),
        "figure_6": partial(
            social_graph, edges=club, owner="17", title="Zachary's karate club: member 17 shares a value"
        ),
        "figure_6_les_miserables": partial(social_graph, edges=novel, owner="Myriel", title=title, named=_NAMED),
        "figure_7": partial(trust_views, edges=club, owner="17"),
    }
