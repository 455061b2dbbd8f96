"""R12 on the pages: whatever is sent in a form, or as a file, is refused in words that quote nothing, or done."""

import random
import time
from urllib.parse import quote

import pytest

from service.conftest import ALL, publish, relax
from service.publications import Terms
from service.test_description import OPEN
from service.test_http import Caller
from service.test_no_request_breaks_it import CELLS, NAMES, NUMBERS, PLANS, SECRET, TEXTS
from service.test_pages import FORMS, plan_and_table
from service.visiting import Forms, Visitor
from utmost.errors import NotANumber, OutOfRange
from utmost.exact import level
from utmost.service import application

ONE_STORE = True

CSV = b"department,admitted\nA,601\nB,370\nC,322\n"
PLAN, COUNTED = (content for _, content, _ in plan_and_table())
FILES = [
    b"", b"\xff\xfe", b"\x00" * 99, b"admitted\n", b"admitted,admitted\n1,2\n", b'admitted\n"', b"admitted\n1,2\n",
    b"department,admitted\nA,%d\nB,x\nC,1\n" % SECRET, b"department,admitted\r\rA,1", b"\xef\xbb\xbf" + CSV,
    CSV.replace(b"601", b"%d" % SECRET), CSV.replace(b"601", b"1e999"), CSV.replace(b"601", b"9" * 5000),
    CSV.replace(b"601", "٣".encode()), CSV.replace(b"A", b"\x00"), CSV * 2, PLAN, COUNTED,
    COUNTED.replace(b"40", b"%d" % SECRET), COUNTED.replace(b"40", b"1e400"), COUNTED.replace(b"40", b"9" * 4000),
    COUNTED.replace(b"men", b"\\ud800"), COUNTED.replace(b'"cells"', b'"none"'), COUNTED.replace(b"counted", b"plan"),
    PLAN.replace(b'"shares"', b'"none"'), PLAN.replace(b"1/2", b"1/0"), PLAN.replace(b"sex", b"outcome"),
    PLAN.replace(b'"cells": 1', b'"cells": 1e300'), PLAN[:-5], *(text.encode("utf-8", "replace") for text in TEXTS),
]  # fmt: skip
WORDS = [
    *NAMES, *(str(one) for one in NUMBERS), *(str(one) for one in CELLS), *PLANS, "1/4 = x", "= 1", "1 = 1 = 1",
    "* <= ", "<= 1", "a <= -1", "<script>", "{{7*7}}", "claim groups=x", "claim ", "1\n2\n3", "a,,b", ",", "utmost_",
    "session.", "utmost-receipt:a:1:b:c", "0" * 24, "approved", "publish", "relax", "plan",
]  # fmt: skip
TABLE = {
    "name": "fresh", "columns": "admitted", "public": "department", "epsilon": "1", "rows": "declared",
    "verb": "publish", "version": "", "dataset": "", "drop": "", "id_column": "", "kind": "", "reason": "",
    "independent": "on", "sensitivity": "1", "cells": "1", "neighbours": "add-remove", "numbers": "integers",
    "grid": "", "largest": "", "half_step": "on",
}  # fmt: skip
BODIES = {
    "/publish": ("curator", TABLE, {"table": CSV, "plan": PLAN}),
    "/publish/preview": ("curator", TABLE, {"plan": PLAN}),
    "/proposals": ("curator", TABLE, {"plan": PLAN}),
    "/proposals/decision": ("approver", {"proposal": "", "state": "approved"}, {}),
    "/proposals/withdrawal": ("curator", {"proposal": ""}, {}),
    "/proposals/table": ("curator", {"proposal": ""}, {"table": CSV}),
    "/proposals/tables": ("curator", {}, {f"table-{'0' * 24}": CSV}),
    "/publish/measures": (
        "curator",
        {"dataset": "both", "release-1": "one", "epsilon-1": "1", "release-2": "two", "epsilon-2": ""},
        {"plan-1": PLAN, "table-1": COUNTED, "plan-2": PLAN, "table-2": COUNTED},
    ),
    "/publish/means": (
        "curator",
        {"name": "means", "dataset": "both", "epsilon": "1"},
        {"table-1": COUNTED, "table-2": COUNTED},
    ),
    "/relax/measures": ("curator", {"release-1": "admissions", "epsilon-1": "3", "release-2": ""}, {"table-1": CSV}),
    "/relax": ("curator", {"release": "admissions", "version": "1", "epsilon": "3"}, {"table": CSV}),
    "/view": ("recipient", {"release": "admissions", "version": "1", "epsilon": "1/8"}, {}),
    "/tokens": ("admin", {"owner": "Cy", "role": "admin", "grants": "*", "days": "1", "subject": ""}, {}),
    "/tokens/revocation": ("admin", {"token": ""}, {}),
    "/budgets": ("admin", {"dataset": "other", "epsilon": "2"}, {}),
    "/verify/ledger": ("auditor", {}, {}),
    "/verify/receipt": ("auditor", {"receipt": ""}, {}),
    "/verify/table": ("auditor", {}, {"table": CSV, "statement": b"{}"}),
    "/login": ("recipient", {"token": "", "next": ""}, {}),
}


@pytest.fixture
def approvals():
    return True


@pytest.fixture
def visitors(approvals, opened, clock):
    """One of each role, where a second person is asked for or not; something is on each page."""
    service = opened(approvals=approvals)
    who = lambda owner, role: service.bearers.make(None, f"{owner} {role}", owner, role, ALL)[0]  # noqa: E731
    publish(service, who, level("1/4"))
    relax(service, who, level(1))
    app = application(service, OPEN)
    roles = {role for role, _, _ in BODIES.values()}
    return {role: Visitor(app, service.bearers.make(None, f"v {role}", role, role, ALL)[1]) for role in roles}


def test_every_form_is_here():
    assert BODIES.keys() == FORMS - {"/logout"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("approvals", [True, False])
@pytest.mark.parametrize("doses", [3, pytest.param(300, marks=pytest.mark.slow)])
def test_bad_forms(visitors, doses):
    """Each form so often, right but for a field or a file: never a status of 500 or more, no cell in what is said, and
    an error page that is a page."""
    draw, seen = random.Random(doses), set()
    proofs = {role: Forms(one.get("/releases").text).found[0][1]["proof"] for role, one in visitors.items()}
    for turn in range(doses):
        for action, (role, usual, files) in BODIES.items():
            fields = usual | {"proof": proofs[role], "key": f"{turn} {action}"}
            brought = {name: (f"{name}.x", content, "x/y") for name, content in files.items()}
            if usual and (not files or draw.random() < 0.5):
                fields[draw.choice([*usual, "key"])] = draw.choice(WORDS).encode("utf-8", "replace").decode()
            elif brought:
                name = draw.choice(list(brought))
                brought[name] = (draw.choice(["a.csv", "", "\n", "x" * 300]), draw.choice(FILES), "text/csv")
                fields |= {"kind": draw.choice(["plan", ""])} if "kind" in usual else {}
            answer = visitors[role].send("POST", action, data=fields, files=brought or None, follow=False)
            where = (action, fields, {name: one[1][:60] for name, one in brought.items()}, answer.text[-600:])
            assert answer.status_code in (200, 303, 400, 401, 403, 404, 409, 413, 415, 422), where
            assert str(SECRET) not in answer.text or action == "/verify/table", where
            seen.add((action, answer.status_code // 100))
    assert {action for action, _ in seen} == set(BODIES)
    for role, one in visitors.items():
        for page in ("/releases", "/release?name=admissions", "/proposals", "/tokens", "/trail", "/history"):
            assert one.get(page).status_code in (200, 403), (role, page)


TOO_LONG = (
    "1e-3999", "1e-4000", "1e-1000", "1e-201", "1/" + "9" * 3999, "1." + "0" * 3998 + "1", "-1e-201 log(1/2)", "1e-60",
)  # fmt: skip


def test_a_version_that_is_none(visitors):
    """It is refused: not read as the newest, and no fault of the service."""
    bo = visitors["recipient"]
    page = bo.get("/release?name=admissions&at=1/4")
    for version in ("9" * 5000, "x", "1.5", "-", "²"):
        assert bo.fill(page, "/view", version=version, epsilon="1/8").status_code == 422


def test_a_level_that_takes_hours_to_draw_is_refused_at_once(visitors):
    """A level of thousands of digits takes the cube of them to draw, while no other writer is let in; one below
    1e-50 has no error bar, and could be drawn and stored and then not be shown. Both doors refuse; nothing is drawn."""
    bo, began = visitors["recipient"], time.process_time()
    ledger, caller = bo.app.inside.state.service.ledger, Caller(bo.app, bo.presented)
    before = ledger.levels("admissions")
    asked = {"release": "admissions", "version": "1"} | Forms(bo.get("/releases").text).found[0][1]
    for at in TOO_LONG:
        assert bo.send("POST", "/view", data=asked | {"epsilon": at}, follow=False).status_code == 422, at
        assert bo.get(f"/release?name=admissions&at={quote(at)}").status_code == 422, at
        assert caller("GET", f"/v1/releases/admissions/view?epsilon={quote(at)}").status_code == 422, at
    assert ledger.levels("admissions") == before
    assert time.process_time() - began < 10


@pytest.mark.parametrize("name", ["sensitivity", "cells", "grid", "largest"])
@pytest.mark.parametrize("number", ["9" * 4201, "1e5000", "1e-4250", "1/" + "9" * 4201])
def test_a_number_too_long_to_be_written_is_refused(name, number):
    """Python writes integers of 4 300 digits: a longer one is refused by name."""
    noise = {"kind": "cells", "sensitivity": 1, "cells": 1, "numbers": "reals", name: number}
    with pytest.raises((OutOfRange, NotANumber)):
        Terms.read({"columns": "n", "noise": noise})
