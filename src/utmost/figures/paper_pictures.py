"""Which pictures each paper has, by the name of their file."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import BinaryIO

from utmost.figures import canvas, fernandes_pictures
from utmost.figures.canvas import mechanism
from utmost.figures.koufogiannis_pictures import noise_paths, relaxing_law, social_graph, trust_views
from utmost.papers.koufogiannis_applications import karate_club, les_miserables

Picture = Callable[[BinaryIO, str], None]
"""Draws itself into an open file as "svg", "png" or "pdf"."""

_NAMED = (
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
)


def pictures(paper: str) -> Mapping[str, Picture]:
    """The pictures of a paper: those that it prints, on the networks named, and no other."""
    return {"ghosh": _ghosh, "geng": _geng, "koufogiannis": _koufogiannis, "fernandes": fernandes_pictures.pictures}[
        paper
    ]()


def _ghosh() -> Mapping[str, Picture]:
    from utmost.design import optimal_mechanism
    from utmost.privacy import PrivacyType
    from utmost.spaces import Consumer, counts, losses

    def figure_2(file: BinaryIO, kind: str) -> None:
        consumer = Consumer([0.25, 0, 0.25, 0, 0.25, 0.25], losses.power("3/2"))
        found = optimal_mechanism(PrivacyType(counts(5), alpha="1/2"), consumer)
        mechanism(file, kind, found.channel.matrix, "The optimal mechanism of the consumer of Example 5.2")

    return {"figure_2": figure_2}


def _geng() -> Mapping[str, Picture]:
    from utmost.noise import costs
    from utmost.noise.optimal import gain_curve

    def figure_2(file: BinaryIO, kind: str) -> None:
        epsilons = [Fraction(k, 10) for k in range(101)]
        curves = {"absolute": gain_curve(epsilons, costs.absolute), "squared": gain_curve(epsilons, costs.squared)}
        xs = [float(epsilon) for epsilon in epsilons]
        canvas.figure(xs, curves, file, kind=kind, x="epsilon", y="Laplace cost / optimal cost")

    return {"figure_2": figure_2}


def _koufogiannis() -> Mapping[str, Picture]:
    club, novel = karate_club(), les_miserables()
    title = "Les Misérables: the Bishop of Digne shares a value"
    return {
        "figure_1": noise_paths,
        "figure_3": relaxing_law,
        "figure_6": partial(
            social_graph, edges=club, owner="17", title="Zachary's karate club: member 17 shares a value"
        ),
        "figure_6_les_miserables": partial(social_graph, edges=novel, owner="Myriel", title=title, named=_NAMED),
        "figure_7": partial(trust_views, edges=club, owner="17"),
    }
