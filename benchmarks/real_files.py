"""Real files of three packages, counted, summed, published and verified without editing; every cell against the truth.

pip download --no-deps vega-datasets palmerpenguins causaldata, unpack them into one folder, and:
python benchmarks/real_files.py FOLDER
"""

import json
import sys
import tempfile
from decimal import Decimal
from math import isnan
from pathlib import Path

import pandas as pd

from utmost.interfaces.cli.main import main

STATES = "AK AL AR AZ CA CO CT DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ NM NV NY OH OK "
STATES += "OR PA RI SC SD TN TX UT VA VT WA WI WV WY DC PR GU AS MP VI CQ"


def months(first, last, column, pattern=None):
    return {"periods": [first, last], "every": "month", "column": column} | ({"pattern": pattern} if pattern else {})


def month_of(column, **how):
    return lambda table: pd.to_datetime(table[column], **how).dt.strftime("%Y-%m")


JOBS = {
    "la-riots.csv": (
        {"gender": ["Male", "Female"], "month": months("1992-04", "1992-07", "death_date")},
        {"gender": lambda t: t.gender, "month": month_of("death_date")},
        ("age", 0, 100, "1"),
    ),
    "airports.csv": ({"state": STATES.split()}, {"state": lambda t: t.state}, ("latitude", -90, 90, "0.01")),
    "seattle-weather.csv": (
        {"month": months("2012", "2016", "date"), "weather": ["drizzle", "rain", "sun", "snow", "fog"]},
        {"month": month_of("date"), "weather": lambda t: t.weather},
        ("precipitation", 0, 100, "0.1"),
    ),
    "seattle-temps.csv": (
        {"month": months("2010", "2011", "date")},
        {"month": month_of("date")},
        ("temp", 0, 150, "0.1"),
    ),
    "sf-temps.csv": ({"month": months("2010", "2011", "date")}, {"month": month_of("date")}, ("temp", 0, 150, "0.1")),
    "stocks.csv": (
        {"symbol": ["MSFT", "AMZN", "IBM", "GOOG", "AAPL"], "month": months("2000", "2011", "date", "%b %d %Y")},
        {"symbol": lambda t: t.symbol, "month": month_of("date", format="%b %d %Y")},
        ("price", 0, 1000, "0.01"),
    ),
    "iowa-electricity.csv": (
        {
            "source": ["Fossil Fuels", "Nuclear Energy", "Renewables"],
            "in": {"periods": ["2001", "2018"], "every": "year", "column": "year"},
        },
        {"source": lambda t: t.source, "in": lambda t: t.year.str[:4]},
        ("net_generation", 0, 100000, "1"),
    ),
    "us-employment.csv": (
        {"in": {"periods": ["2006", "2016"], "every": "year", "column": "month"}},
        {"in": lambda t: t.month.str[:4]},
        ("nonfarm", 0, 200000, "1"),
    ),
    "barley.json": (
        {
            "site": ["University Farm", "Waseca", "Morris", "Crookston", "Grand Rapids", "Duluth"],
            "year": {"periods": ["1931", "1933"], "every": "year"},
        },
        {"site": lambda t: t.site, "year": lambda t: t.year.astype(str)},
        ("yield", 0, 100, "0.00001"),
    ),
    "cars.json": (
        {"Origin": ["USA", "Europe", "Japan"], "Cylinders": [3, 4, 5, 6, 8]},
        {"Origin": lambda t: t.Origin, "Cylinders": lambda t: t.Cylinders.astype(str)},
        ("Horsepower", 0, 300, "1"),
    ),
    "gapminder.csv": (
        {
            "continent": ["Africa", "Americas", "Asia", "Europe", "Oceania"],
            "year": {"periods": ["1952", "2008"], "every": "year"},
        },
        {"continent": lambda t: t.continent, "year": lambda t: t.year.astype(str)},
        ("lifeExp", 0, 100, "0.00001"),
    ),
    "Mroz.csv": (
        {"lfp": ["yes", "no"], "age": {"edges": [30, 40, 50, 61]}},
        {
            "lfp": lambda t: t.lfp,
            "age": lambda t: pd.cut(t.age, [29, 39, 49, 60], labels=["30 to 39", "40 to 49", "50 to 60"]).astype(str),
        },
        ("k618", 0, 10, "1"),
    ),
    "restaurant_data.csv": (
        {"Year": {"periods": ["2000", "2020"], "every": "year"}, "Weekend": ["TRUE", "FALSE"]},
        {"Year": lambda t: t.Year.astype(str), "Weekend": lambda t: t.Weekend.astype(str).str.upper()},
        ("inspection_score", 0, 100, "1"),
    ),
    "Cai_2015.csv": (
        {"male": [0, 1], "age": {"edges": [0, 30, 50, 70, None]}},
        {
            "male": lambda t: t.male.map(lambda x: str(int(x)), na_action="ignore"),
            "age": lambda t: pd.cut(
                t.age, [-1, 29, 49, 69, 200], labels=["0 to 29", "30 to 49", "50 to 69", "70+"]
            ).astype(str),
        },
        ("agpop", 0, 20, "1"),
    ),
    "penguins.csv": (
        {"species": ["Adelie", "Chinstrap", "Gentoo"], "sex": {"values": ["male", "female"], "missing": "not known"}},
        {"species": lambda t: t.species, "sex": lambda t: t.sex.fillna("not known")},
        ("body_mass_g", 0, 10000, "1"),
    ),
}
"""For each file the domain, the same columns by pandas, and the amount with its ends and step."""


def run(*words):
    try:
        main([str(word) for word in words])
    except SystemExit as ended:
        return ended.code or 0
    return 0


def check(path, domain, truths, amount, folder):
    """Publish one file with next to no noise; the number of cells that differ from pandas."""
    column, low, high, step = amount
    (folder / "domain.json").write_text(json.dumps(domain), encoding="utf-8")
    words = ["--each-row", "--domain", folder / "domain.json", "--by", ",".join(domain)]
    (folder / "release.toml").write_text('missing-marks = ["NA"]\n', encoding="utf-8")
    words += ["--mean", f"{column}={low},{high},{step}", "--leave-out", "outside,amounts"]
    words += ["--recipe", folder / "release.toml"]
    out = folder / "out.csv"
    if run("release", path, *words, "--epsilon", 10**10, "--yes", "--out", out) or run("verify", out):
        return "refused"
    table = pd.DataFrame(json.loads(path.read_text())) if path.suffix == ".json" else pd.read_csv(path)
    rows = pd.DataFrame({name: truth(table) for name, truth in truths.items()})
    amounts = [None if isnan(cell) else Decimal(str(cell)) for cell in table[column].astype(float)]
    clipped = [None if cell is None else min(max(cell, Decimal(low)), Decimal(high)) for cell in amounts]
    rows["paid"] = [0 if cell is None else round(cell / Decimal(step)) for cell in clipped]
    read, wrong = pd.read_csv(out, dtype=str, keep_default_na=False), 0
    grouped = rows.groupby(list(truths))["paid"].agg(["count", "sum"])
    for at, labels in enumerate(zip(*(read[name] for name in domain), strict=True)):
        key = labels if len(labels) > 1 else labels[0]
        true = grouped.loc[key] if key in grouped.index else {"count": 0, "sum": 0}
        found = Decimal(read["count"][at]), Decimal(read[f"{column}_sum"][at])
        wrong += round(found[0], 6) != int(true["count"]) or round(found[1] / Decimal(step), 3) != int(true["sum"])
    counted = sum(round(Decimal(count)) for count in read["count"])
    return f"{len(read)} cells, {wrong} wrong, {counted} of {len(table)} rows"


if __name__ == "__main__":
    for name, job in JOBS.items():
        (place,) = list(Path(sys.argv[1]).rglob(name))[:1]
        with tempfile.TemporaryDirectory() as folder:
            print(f"{name:24} {check(place, *job, Path(folder))}", file=sys.stderr)
