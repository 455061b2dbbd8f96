"""Reports of commands and names in documents, by example."""

import pytest

from utmost.channels import Remap
from utmost.design.spaces import losses, priors
from utmost.interfaces.documents.reports import labelled_answers, remap_runs
from utmost.interfaces.documents.sampler_files import typed
from utmost.interfaces.documents.saved_designs import loss_name
from utmost.optima import optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, counts, places


def test_the_answers_for_the_likeliest_place():
    towns = places({"Oslo": (59.91, 10.75), "Bergen": (60.39, 5.32)})
    consumer = Consumer(["2/3", "1/3"], losses.distance(towns))
    report = labelled_answers(optimal_mechanism(PrivacyType(towns, "ln 3", per="303431 m"), consumer))
    assert (report["unit"], report["likeliest_secret"], report["answers_for_it"][0]) == ("m", "Oslo", ["Oslo", 0.75])


def test_the_runs_of_a_remap():
    runs = remap_runs(Remap([0, 2, 2, 3, 4, 4], size=6))
    assert [(run["responses"], run["answer"]) for run in runs] == [
        ("0", "0"),
        ("1", "2"),
        ("2 to 4", "the response"),
        ("5", "4"),
    ]


def test_the_names_of_a_typescript_declaration():
    lines = typed("survey.d.mts", Answer=["tea", "milk"]).splitlines()
    assert lines[-1] == 'export type Answer = "tea" | "milk";'


@pytest.mark.parametrize("name", ["absolute", "asymmetric:1,3"])
def test_the_name_of_a_loss(name):
    loss = losses.absolute if name == "absolute" else losses.asymmetric(1, 3)
    assert loss_name(Consumer(priors.uniform(3), loss), counts(2)) == name
