"""Hypers of channels on three secrets, each in a triangle of its own, with the private posteriors around them."""

from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from utmost.channels import Channel
from utmost.exact import Array, to_floats
from utmost.figures.simplex import COLOURS, Panel, PosteriorPoints, Region, simplex_figure
from utmost.geometry import vertices
from utmost.leakage import hyper
from utmost.privacy import PrivacyType, smallest_epsilon
from utmost.spaces import Space


def hyper_figure(
    channels: Mapping[str, Channel], prior: Array, space: Space | None, file: BinaryIO, path: Path
) -> None:
    """Draw the hyper of each channel; with a space, inside the posteriors that its own smallest epsilon allows.

    The region is that of the prior: a vertex v of the type, as a posterior of the uniform prior, becomes p v / sum p v.

    Args:
        channels: by title; each with three secrets.
        prior: (3,).
        space: three secrets, or None for no region.
        file: open for writing.
        path: ends in .svg, .png or .pdf.
    """
    labels = [str(name) for name in _labels(channels, space, len(prior))]
    panels = []
    for k, (title, C) in enumerate(channels.items()):
        found = hyper(C, prior)
        cloud = PosteriorPoints(
            found.posteriors, "posteriors", found.weights, COLOURS[1 + k % (len(COLOURS) - 1)], joined=True
        )
        panels.append(Panel(title, _region(C, prior, space), [cloud], prior))
    simplex_figure(panels, file, path, labels)


def _region(C: Channel, prior: Array, space: Space | None) -> list[Region]:
    if space is None or space.size != 3:
        return []
    kept = smallest_epsilon(C, space)
    if kept.pair is None or kept.value == float("inf"):
        return []
    ptype = PrivacyType(space, kept.level if kept.level is not None else kept.value)
    weighed = to_floats(vertices(ptype).columns) * to_floats(prior)[:, None]
    return [Region(weighed / weighed.sum(axis=0), f"private at {ptype.level}")]


def _labels(channels: Mapping[str, Channel], space: Space | None, secrets: int) -> list[object]:
    named = next((C.secrets for C in channels.values() if C.secrets is not None), None)
    if named is not None:
        return list(named)
    return list(range(secrets)) if space is None else list(space.labels)
