"""R17 on the pages: what a recipient sees over neighbouring data differs by released numbers and by nothing else."""

import re

from service.conftest import ALL
from service.publications import Terms, counted_in, planned, publish_by, relax_by
from service.test_description import OPEN
from service.test_pages import plan_and_table
from service.visiting import Visitor
from utmost.exact import level
from utmost.service import Grant, Service, application
from utmost.testing import seeded_ledger

TERMS = Terms.read(
    {"columns": "n", "public": "p", "noise": {"kind": "cells", "sensitivity": 1, "cells": 1, "largest": 10**40}}
)
NUMBER = re.compile(r"[-\u2212]?\d[\d\u202f.,]*(e[+-]?\d+)?")
FRESH = ("x-request-id", "content-length", "date", "set-cookie")
GRANTS = tuple(Grant(name, level("1/2")) for name in ("people", "applicants", "none"))
SEEN = (
    *("/releases", "/verify", "/read", "/publish", "/proposals", "/history", "/trail", "/budgets"),
    *(
        f"/release?name={name}{at}"
        for name in ("people", "applicants", "none", "other")
        for at in ("", "&at=1/4", "&at=2")
    ),
    *(
        f"/release/{file}?name=people&at={at}"
        for file in ("table.csv", "statement.json")
        for at in ("1/4", "1/2", "2", "x")
    ),
    "/release/table.csv?name=applicants&at=1/4",
)


def seen_of(folder, clock, cells, numbers):
    """All that a recipient's browser is answered about two releases, with one and the same noise."""
    folder.mkdir()
    with seeded_ledger(folder / "l.db", "one noise") as ledger:
        service = Service(ledger, approvals=False, clock=clock)
        curator = service.bearers.make(None, "a", "Ada", "curator", ALL)[0]
        table = {"p": list("ABC"), "n": cells}
        publish_by(service, curator, "p", "people", table, level("1/4"), TERMS)
        relax_by(service, curator, "r", "people", table, level(2))
        (_, plan, _), (_, counted, _) = plan_and_table(cells=numbers)
        terms = Terms(planned(plan)[0])
        publish_by(service, curator, "s", "applicants", counted_in(counted), level("1/4"), terms)
        presented = service.bearers.make(None, "b", "Bo", "recipient", GRANTS)[1]
        bo = Visitor(application(service, OPEN), presented)
        answers = [bo.get(path, follow=False) for path in SEEN]
        page = bo.get("/release?name=people")
        answers += [bo.fill(page, "/view", epsilon=at, follow=False) for at in ("1/8", "1/2", "1", "2", "3", "x")]
        return [look(answer) for answer in answers]


def look(answer):
    """Status, headers, and the text with a mark for each number; digests of released values and keys are marks, too,
    and so are charts, whose axes have as many ticks as the released numbers need."""
    text = re.sub(r"[0-9a-f]{12,}", "digest", answer.text)
    text = re.sub(r'<svg [^>]*class="chart.*?</svg>', "chart of released numbers", text, flags=re.DOTALL)
    headers = [pair for pair in answer.headers.items() if pair[0] not in FRESH]
    return answer.status_code, headers, NUMBER.sub("number", text)


def test_pages_over_neighbouring_data(tmp_path, clock):
    """One individual more or fewer: the same pages, links, headers, refusals and files, up to released numbers."""
    usual = seen_of(tmp_path / "usual", clock, [50, 60, 69], ((10, 20), (30, 39)))
    other = seen_of(tmp_path / "other", clock, [50, 61, 69], ((11, 20), (30, 39)))
    assert {status for status, _, _ in usual} >= {200, 303, 403, 404, 422}
    for path, one, two in zip([*SEEN, *("form",) * 6], usual, other, strict=True):
        assert one == two, path
