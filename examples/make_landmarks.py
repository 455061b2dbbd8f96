"""Landmarks of Paris in metres, `examples/paris_landmarks.csv`: the Lambert-93 projection of latitudes and longitudes.

Latitudes and longitudes are common knowledge, to about 10 m; metres are rounded to ten.

    python examples/make_landmarks.py
"""

import csv
import math
from pathlib import Path

LANDMARKS = {
    "Eiffel Tower": (48.8584, 2.2945),
    "Arc de Triomphe": (48.8738, 2.2950),
    "Louvre": (48.8606, 2.3376),
    "Notre-Dame": (48.8530, 2.3499),
    "Sacré-Cœur": (48.8867, 2.3431),
    "Gare du Nord": (48.8809, 2.3553),
    "Bastille": (48.8532, 2.3692),
    "Panthéon": (48.8462, 2.3464),
    "Gare Montparnasse": (48.8412, 2.3206),
    "La Villette": (48.8939, 2.3903),
}

ECCENTRICITY = 0.0818191910428158
EXPONENT, SCALE, NORTH = 0.7256077650532670, 11754255.426096, 12655612.049876


def lambert(latitude, longitude):
    """East and north in metres: the conic projection of RGF93 with standard parallels 44 and 49 degrees."""
    sine = math.sin(math.radians(latitude))
    isometric = math.atanh(sine) - ECCENTRICITY * math.atanh(ECCENTRICITY * sine)
    radius = SCALE * math.exp(-EXPONENT * isometric)
    angle = EXPONENT * math.radians(longitude - 3)
    return 700_000 + radius * math.sin(angle), NORTH - radius * math.cos(angle)


def main():
    """Write the file."""
    path = Path(__file__).with_name("paris_landmarks.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["place", "east", "north"])
        for name, (latitude, longitude) in LANDMARKS.items():
            rows.writerow([name, *(round(metres, -1) for metres in map(round, lambert(latitude, longitude)))])


if __name__ == "__main__":
    main()
