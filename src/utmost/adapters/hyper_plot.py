"""Hypers of channels on three secrets, each in a triangle of its own, with the private posteriors around them."""

from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from utmost.adapters.simplex_plot import COLOURS, Cut, Panel, Points, Region, simplex_figure
from utmost.channels import Channel
from utmost.exact import Array, to_floats
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
        cloud = Points(found.posteriors, "posteriors", found.weights, COLOURS[1 + k % (len(COLOURS) - 1)], joined=True)
        panels.append(Panel(title, _region(C, prior, space), [cloud], prior))
    simplex_figure(panels, file, path, labels)


def promise_figure(ptypes: Mapping[str, PrivacyType], file: BinaryIO, path: Path) -> None:
    """Draw what privacy types on three secrets promise: the line of each constraint, and the region between the lines.

    Args:
        ptypes: by title; each on three secrets.
        file: open for writing.
        path: ends in .svg, .png or .pdf.

    Source: [fernandes2022], figure 2.
    """
    panels = []
    for title, ptype in ptypes.items():
        corners = to_floats(vertices(ptype).columns)
        marks = Points(corners, "vertices", colour="#333333")
        panels.append(Panel(title, [Region(corners, "private")], [marks], [1 / 3] * 3, _cuts(ptype)))
    simplex_figure(panels, file, path)


def _cuts(ptype: PrivacyType) -> list[Cut]:
    """For each essential edge {x, z}, the lines p_x = e^d p_z and p_z = e^d p_x; both end at the third secret."""
    cuts = []
    for k, (x, z) in enumerate(ptype.space.edges.tolist()):
        a = float(np.exp(-ptype.level.epsilon_float * float(ptype.space.length(x, z))))
        for likely, unlikely in ((x, z), (z, x)):
            ends = np.zeros((3, 2))
            ends[3 - x - z, 0] = 1
            ends[likely, 1], ends[unlikely, 1] = 1 / (1 + a), a / (1 + a)
            cuts.append(Cut(ends, f"secrets {x} and {z}" if likely == x else "", COLOURS[1 + k]))
    return cuts


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
