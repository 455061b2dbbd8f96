"""The walk of a team in a real browser, from an empty machine to a recipient's values: admin, curator, approver,
recipient, auditor, each in a browser of their own. ``pytest -m browser``; UTMOST_WALK=FOLDER keeps pictures.
"""

import itertools
import os
from pathlib import Path

import pytest

from service.test_pages_in_browser import CHROMIUM, SCREENS, Screen, chromium  # noqa: F401
from service.test_serve import served

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

TABLE = "department,admitted,notes\nA,601,x\nB,370,y\nC,322,z\n"


class Walk:
    """What was done so far: each step on three screens, light and dark; pictures where a folder is named."""

    def __init__(self):
        self.folder, self.steps = os.environ.get("UTMOST_WALK"), 0

    def step(self, screen, what):
        self.steps += 1
        for (name, size), scheme in itertools.product(SCREENS.items(), ("dark", "light")):
            screen.page.set_viewport_size(size)
            screen.page.emulate_media(color_scheme=scheme)
            assert (screen.wider() <= 0, screen.spilled()) == (True, []), (what, name, scheme)
            if self.folder:
                Path(self.folder).mkdir(parents=True, exist_ok=True)
                picture = f"{self.folder}/{self.steps:02} {what}, {name}, {scheme}.png"
                screen.page.screenshot(path=picture, full_page=True)
        screen.page.set_viewport_size(SCREENS["desk"])


def token_for(admin, owner, role, release="*", up_to=""):
    """The admin makes a token, which is said once."""
    admin.see("/tokens")
    admin.page.get_by_label("Owner").fill(owner)
    admin.page.get_by_label("Role").select_option(role)
    if release == "*":
        admin.page.get_by_label("Release", exact=True).select_option("*")
    else:
        admin.page.get_by_text("Further releases, including future ones").click()
        admin.page.get_by_label("In lines").fill(f"{release} <= {up_to}" if up_to else release)
    admin.page.get_by_role("button", name="Make it").click()
    return admin.page.locator("#bearer").inner_text()


def test_from_an_empty_machine_to_a_recipients_values(chromium, tmp_path):  # noqa: F811
    """Each does with a browser what the role is for; nothing goes to another host, and no console complains."""
    (tmp_path / "table.csv").write_text(TABLE)
    walk, people = Walk(), []
    with served(tmp_path, "--no-demo", "--rate", "100000") as (_, address, tokens):

        def enter(presented):
            people.append(Screen(chromium, address, presented, viewport={"width": 1280, "height": 900}))
            return people[-1]

        admin, curator = enter(tokens["admin"]), enter(tokens["curator"])
        walk.step(admin, "admin signs in")
        approver = enter(token_for(admin, "Grace", "approver"))
        recipient = enter(token_for(admin, "Bo", "recipient", "admissions", "1/4"))
        auditor = enter(token_for(admin, "Ida", "auditor"))
        walk.step(admin, "admin makes tokens")
        admin.see("/budgets")
        admin.page.locator("#dataset").fill("admissions")
        admin.page.locator("#epsilon").fill("2")
        admin.page.get_by_role("button", name="Set").click()
        admin.page.get_by_role("status").first.wait_for()
        walk.step(admin, "admin sets a limit")

        curator.see("/publish")
        curator.page.get_by_label("Take the columns from a CSV file").set_input_files(tmp_path / "table.csv")
        curator.page.get_by_label("department", exact=True).select_option("public")
        curator.page.get_by_label("admitted", exact=True).select_option("columns")
        curator.page.get_by_label("Name of the release").first.fill("admissions")
        curator.page.get_by_label("Level ε").first.fill("1/4")
        curator.page.get_by_label("Level ε").first.press("Tab")
        curator.page.locator("#preview td", has_text="± 12").wait_for()
        walk.step(curator, "curator sees the margins")
        curator.page.get_by_role("button", name="Propose", exact=True).click()
        curator.page.get_by_text("The proposal waits for a second person.").wait_for()

        def approved(button):
            approver.see("/waiting")
            walk.step(approver, "approver sees what waits")
            approver.page.get_by_role("link", name="A proposal to decide").first.click()
            approver.page.get_by_role("button", name=button).click()
            approver.page.get_by_text("Approved.").wait_for()

        def brought(heading, button, done):
            curator.see("/proposals")
            curator.page.get_by_role("link", name=heading).click()
            card = curator.page.locator("section", has=curator.page.get_by_role("heading", name="Upload the table"))
            card.get_by_label("CSV file").set_input_files(tmp_path / "table.csv")
            card.get_by_role("button", name=button).click()
            curator.page.get_by_text(done).wait_for()
            walk.step(curator, f"curator brings the table to {button.lower()}")

        approved("Approve admissions at 0.25")
        brought("Publish admissions at ε = 0.25", "Publish", "Published.")

        recipient.see("/releases")
        recipient.page.get_by_role("link", name="admissions").click()
        recipient.page.get_by_role("heading", name="Values at ε = 0.25").wait_for()
        walk.step(recipient, "recipient reads")
        with recipient.page.expect_download() as workbook:
            recipient.page.get_by_role("link", name="Excel file of admissions", exact=True).click()
        workbook.value.save_as(tmp_path / "released.xlsx")

        curator.see("/release?name=admissions")
        curator.page.get_by_text("Propose to relax it").click()
        curator.page.get_by_label("New level ε").fill("1")
        curator.page.get_by_role("button", name="Propose", exact=True).click()
        curator.page.get_by_text("The proposal waits for a second person.").wait_for()
        approved("Approve admissions at 1")
        brought("Relax admissions at ε = 1", "Relax", "Relaxed.")
        assert recipient.see("/release?name=admissions&at=1") == 200
        assert recipient.page.get_by_role("heading", name="Values at ε = 1", exact=True).count() == 0

        auditor.see("/verify")
        auditor.page.get_by_role("button", name="Recompute everything").click()
        auditor.page.get_by_role("heading", name="The ledger is sound").wait_for()
        walk.step(auditor, "auditor verifies")
        auditor.see("/trail")
        assert "Grace" in auditor.page.locator("table").inner_text()
        walk.step(auditor, "auditor reads the trail")
        for person in people:
            assert person.complaints() == []
            assert person.has_stayed_home()
            person.context.close()
    assert (tmp_path / "released.xlsx").read_bytes()[:2] == b"PK"
