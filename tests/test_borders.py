"""Design and publishing do not know each other: each does its work while the other's package cannot be imported."""

from running import SOURCES, python

BLOCKED = """
import sys

class Border:
    def find_spec(self, name, path=None, target=None):
        if name == {blocked!r} or name.startswith({blocked!r} + "."):
            raise AssertionError(name + " was imported across the border")

sys.meta_path.insert(0, Border())
import utmost as ut
"""

DESIGN = {
    "a mechanism and a draw": """
from utmost.spaces import grid
place = grid(2, 2)
consumer = ut.Consumer(ut.priors.uniform(4), ut.losses.distance(place))
found = ut.optimal_mechanism(ut.PrivacyType(place, epsilon=1), consumer)
assert found.certificate.verify()
assert found.draw((0, 1)) in place.labels
""",
    "a capacity": """
found = ut.capacity(ut.PrivacyType(ut.spaces.counts(5), alpha="1/2"))
assert found.certificate.verify()
""",
    "a universal mechanism": """
ut.universal_mechanism(ut.PrivacyType(ut.spaces.discrete(3), alpha="1/2"), ut.losses.binary)
ut.refines(better=[[1, 0], [0, 1]], worse=[["3/4", "1/4"], ["1/4", "3/4"]])
""",
    "a local report": """
how = ut.local.best_report(5, alpha="1/2")
reports = ut.local.report_categories([3, 3, 0], how)
assert ut.local.CategoryCounts.of(reports, how).clients == 3
""",
    "a mechanism for persons": """
coin = ut.channels.Channel([["2/3", "1/3"], ["1/3", "2/3"]])
assert ut.local.read_mechanism(coin, ut.spaces.discrete(2)).level == ut.level(alpha="1/2")
""",
    "places from files": """
from pathlib import Path
from tempfile import mkdtemp
folder = Path(mkdtemp())
(folder / "towns.csv").write_text("name,latitude,longitude\\nOslo,59.91,10.75\\nBergen,60.39,5.32\\n")
feature = {"type": "Feature", "properties": {"name": "Oslo"}, "geometry": {"type": "Point", "coordinates": [10, 59]}}
(folder / "towns.geojson").write_text(__import__("json").dumps({"type": "FeatureCollection", "features": [feature]}))
assert ut.spaces.places(folder / "towns.csv").size == 2
assert ut.spaces.places(str(folder / "towns.geojson")).size == 1
assert ut.spaces.places({"name": ["a"], "latitude": [0], "longitude": [0]}).size == 1
""",
}

TABLE = 'table = {"ward": ["a", "b"], "n": [5, 6]}\n'
PUBLISH = {
    "a table and more of it": TABLE
    + """
promise = ut.Promise("n", public="ward", unit=ut.Unit(1, 1))
ut.release(table, promise, epsilon=1, once=True)
answer = ut.release(table, promise, epsilon="1/2")
answer.release.at(1)
""",
    "a ledger": TABLE
    + """
from tempfile import mkdtemp
with ut.Ledger.open(mkdtemp() + "/l.db", create=True) as ledger:
    ledger.publish("t", table, ut.Promise("n", public="ward", unit=ut.Unit(1, 1)), epsilon="1/4", independent=True)
    ledger.relax("t", table, epsilon=1)
    ledger.view("t", epsilon="1/4")
    ledger.verify()
""",
    "counted events and a plan": """
events = {"who": ["x", "y", "y"], "ward": ["a", "b", "a"]}
domain = ut.Domain(ward=["a", "b"])
counted = ut.count_table(events, domain, ut.Counting("who", at_most=2))
plan = ut.choose_plan(ut.Workload(domain, {"ward": 1}), counted.unit, epsilon=1)
released = ut.release(counted, plan, epsilon=1, once=True).table
released.clean()
""",
    "cards of a notebook": TABLE
    + """
promise = ut.Promise("n", public="ward", unit=ut.Unit(1, 1))
for shown in (promise, ut.release(table, promise, epsilon=1), ut.noise.Laplace(1)):
    assert shown._repr_html_()
""",
    "a file and its statement": TABLE
    + """
from tempfile import mkdtemp
folder = mkdtemp()
released = ut.release(table, ut.Promise("n", public="ward", unit=ut.Unit(1, 1)), epsilon=1, once=True)
released.save(folder + "/n.csv")
ut.read_release(folder + "/n.csv")
""",
}


def failing(blocked, jobs):
    """Names and errors of the jobs that fail in a process where a package cannot be imported."""
    done = f"""
import traceback
for name, job in {jobs!r}.items():
    try:
        exec(job, {{"ut": ut}})
    except BaseException:
        print(name, traceback.format_exc())
"""
    return python("-c", BLOCKED.format(blocked=blocked) + done, check=False)


def test_design_works_where_nothing_can_be_published():
    found = failing("utmost.publish", DESIGN)
    assert (found.stdout, found.stderr) == ("", "")


def test_tables_are_published_where_nothing_can_be_designed():
    found = failing("utmost.design", PUBLISH)
    assert (found.stdout, found.stderr) == ("", "")


def test_the_border_is_seen():
    """What crosses it fails, by its name."""
    found = failing("utmost.design", {"a design": "ut.spaces.counts(3)"})
    assert "a design" in found.stdout
    assert "was imported across the border" in found.stdout


def test_the_library_does_not_know_the_package_of_the_papers():
    assert not [path for path in SOURCES.joinpath("utmost").rglob("*.py") if "utmost_papers" in path.read_text("utf-8")]
