"""The pages in a real browser: each page for each role, by script and without, on a phone, in the dark, and read aloud.

They need Chromium (``/usr/bin/chromium``) and Playwright; the rules of axe-core are checked where it is installed by
``npm install --no-save axe-core``. Run them with ``pytest -m browser``.
"""

import os
import re
import shutil
from pathlib import Path

import pytest

from service.conftest import publish, relax
from service.provider import CLIENT, local_provider
from service.publications import Terms, counted_in, planned, propose_by, publish_by
from service.test_pages import plan_and_table
from service.test_serve import free_port
from utmost.exact import level
from utmost.service import Grant, Settings, served

ONE_STORE = True

CHROMIUM = shutil.which("chromium")
AXE = Path(os.environ.get("AXE_CORE", Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"))
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

RELEASE, SUMS = "/release?name=admissions", "/release?name=applicants"
RELEASES = ("/releases", RELEASE, f"{RELEASE}&at=1/4", SUMS)
TOOLS = ("/read", "/explore", "/channel", "/map", "/trust")
SEEN = {
    "recipient": (*RELEASES, "/verify", *TOOLS),
    "curator": (*RELEASES, "/waiting", "/publish", "/proposals", "/verify", "/history", *TOOLS),
    "approver": (*RELEASES, "/waiting", "/proposals", "/verify", "/history", *TOOLS),
    "auditor": (*RELEASES, "/proposals", "/verify", "/history", "/trail", *TOOLS),
    "admin": (*RELEASES, "/verify", "/budgets", "/tokens", "/trail", *TOOLS),
}
WIDER = """new Promise((found) => requestAnimationFrame(() => setTimeout(found))).then(() => Math.max(
  document.documentElement.scrollWidth - window.innerWidth,
  ...[...document.querySelectorAll('.scroll, nav')].map((place) => place.scrollWidth - place.clientWidth)))"""
SPILLED = """[...document.querySelectorAll('.card svg.chart text')].filter((text) => {
  const [word, card] = [text, text.closest('.card')].map((one) => one.getBoundingClientRect());
  return word.width > 0 && (word.left < card.left || word.right > card.right);
}).map((text) => text.textContent)"""
SCREENS = {
    "desk": {"width": 1280, "height": 900},
    "tablet": {"width": 800, "height": 1100},
    "phone": {"width": 360, "height": 760},
}


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def address(service, who):
    """A service with something on each page."""
    curator = publish(service, who, level("1/4"))
    relax(service, who, level(1))
    propose_by(service, curator, "q", "relax", "admissions", level(2), reason="shorter bars")
    publish_sums(service, curator)
    with served(service, Settings(rate=1e6, burst=10**6)) as found:
        yield found


def publish_sums(service, curator):
    """Sums of two people by two, proposed, approved and published, as the forms do it."""
    plan, counted = plan_and_table()
    promise, at = planned(plan[1])
    asked = {"at": at, "terms": Terms(promise)}
    proposal = propose_by(service, curator, "s", "publish", "applicants", **asked).name
    propose_by(service, curator, "w", "publish", "more applicants", **asked)
    approver = service.bearers.make(None, "approver of sums", "Grace", "approver", (Grant("*"),))[0]
    service.proposals.decide(approver, proposal, "approved")
    table = counted_in(counted[1])
    publish_by(service, curator, "s", "applicants", table, **asked, proposal=proposal)


class Screen:
    """A page in a browser, signed in; what its console says and which requests it sends are kept."""

    def __init__(self, browser, address, presented, **options):
        self.context = browser.new_context(reduced_motion="reduce", **options)
        self.page, self.address, self.said, self.asked = self.context.new_page(), address, [], []
        self.page.on("console", lambda message: self.said.append((message.type, message.text)))
        self.page.on("pageerror", lambda error: self.said.append(("error", str(error))))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(f"{address}/login")
        assert self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0, "/login"
        self.page.get_by_label("Token").fill(presented)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url("**/releases")

    def see(self, path):
        answer = self.page.goto(self.address + path)
        self.page.wait_for_load_state("networkidle")
        return answer.status

    def paths(self, role):
        """The pages of a role, those of single proposals among them."""
        if "/proposals" not in SEEN[role]:
            return SEEN[role]
        self.see("/proposals")
        links = self.page.locator("a[href^='/proposal?']").all()
        return *SEEN[role], *dict.fromkeys(link.get_attribute("href") for link in links)

    def wider(self):
        """By how many points the page is wider than the screen, or a table or the menu than its place."""
        return self.page.evaluate(WIDER)

    def spilled(self):
        """The words of charts that run out of their card."""
        return self.page.evaluate(SPILLED)

    def has_stayed_home(self):
        return all(url.startswith((self.address, "data:")) for url in self.asked)

    def complaints(self):
        return [text for kind, text in self.said if kind in ("error", "warning")]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()


@pytest.fixture
def screen(chromium, service, address):
    def made(role, *grants, **options):
        given = tuple(Grant(*grant) for grant in grants) or (Grant("*"),)
        presented = service.bearers.make(None, f"{role} {len(options)} screen", f"a {role}", role, given)[1]
        return Screen(chromium, address, presented, **options)

    return made


@pytest.mark.parametrize("role", SEEN)
def test_every_page_of_a_role(screen, role):
    """200, one heading, no complaint, no request off the host; and on desk, tablet and phone, light and dark, no wider
    than the screen, folded and unfolded."""
    with screen(role, viewport=SCREENS["desk"]) as seen:
        for path in seen.paths(role):
            assert seen.see(path) == 200, path
            assert seen.page.locator("h1").count() == 1
            for unfolded in ("false", "true"):
                seen.page.evaluate(
                    f"document.querySelectorAll('details').forEach((one) => {{ one.open = {unfolded}; }})"
                )
                for name, size in SCREENS.items():
                    seen.page.set_viewport_size(size)
                    assert seen.spilled() == [], (path, name)
                    for scheme in ("light", "dark"):
                        seen.page.emulate_media(color_scheme=scheme)
                        assert seen.wider() <= 0, (path, name, scheme, unfolded)
        assert seen.complaints() == []
        assert seen.has_stayed_home()


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("role", SEEN)
def test_every_page_can_be_used_by_everybody(screen, role, scheme):
    """No rule of axe is broken on any page of a role, with everything unfolded, on a desk and on a phone, where broad
    tables are read downwards; contrast in both schemes."""
    with screen(role, color_scheme=scheme, bypass_csp=True) as seen:
        for path in seen.paths(role):
            for size in ("desk", "phone"):
                seen.page.set_viewport_size(SCREENS[size])
                seen.see(path)
                assert broken_rules(seen.page) == [], (path, size)


def broken_rules(page):
    """The rules of axe that a page breaks, with everything on it unfolded."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.add_script_tag(path=str(AXE))
    return page.evaluate("axe.run().then((found) => found.violations.map((one) => one.id))")


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_forms_lead_to_can_be_used_by_everybody(screen, tmp_path, scheme):
    """The pages that no link leads to: a new token, a ledger found sound, a receipt that holds and one that does not,
    a table checked against its statement, a refusal in a form, an address where nothing is."""
    with screen("admin", color_scheme=scheme, bypass_csp=True) as seen:
        seen.see("/tokens")
        seen.page.get_by_label("Owner").fill("Cy")
        seen.page.get_by_role("button", name="Make it").click()
        seen.page.get_by_role("heading", name="A token for Cy").wait_for()
        assert broken_rules(seen.page) == []
        seen.see("/verify")
        for receipt, answer in ((seen.page.locator("#receipt-line").inner_text(), "status"), ("none", "alert")):
            seen.page.get_by_label("Receipt", exact=True).fill(receipt)
            seen.page.locator("section", has_text="An earlier receipt").get_by_role("button").last.click()
            seen.page.get_by_role(answer).wait_for()
            assert broken_rules(seen.page) == [], answer
        seen.page.get_by_role("button", name="Recompute everything").click()
        seen.page.get_by_role("heading", name="The ledger is sound").wait_for()
        assert broken_rules(seen.page) == []
        assert seen.see("/release?name=nothing") == 404
        assert broken_rules(seen.page) == []
    files = {}
    with screen("recipient", color_scheme=scheme, bypass_csp=True) as seen:
        of_csv = "CSV file of admissions"
        for name, link in (("table", of_csv), ("statement", f"its statement of the {of_csv}")):
            seen.see(f"{RELEASE}&at=1/4")
            with seen.page.expect_download() as brought:
                seen.page.get_by_role("link", name=link, exact=True).click()
            files[name] = tmp_path / brought.value.suggested_filename
            brought.value.save_as(files[name])
        seen.see("/verify")
        seen.page.get_by_label("Released file").set_input_files(files["table"])
        seen.page.get_by_label("Statement, as JSON").set_input_files(files["statement"])
        seen.page.get_by_role("button", name="Check").first.click()
        seen.page.get_by_role("heading", name="It agrees with its statement").wait_for()
        assert broken_rules(seen.page) == []


def test_the_sign_in_can_be_used_by_everybody(chromium, address):
    """Before a token is there."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed")
    context = chromium.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(f"{address}/login")
    assert broken_rules(page) == []
    page.get_by_label("Token").fill("none")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()
    assert broken_rules(page) == []
    context.close()


def test_no_script_reads_the_cookie(screen):
    """It is sent, and the page's scripts see nothing of it."""
    with screen("recipient") as seen:
        assert seen.page.evaluate("document.cookie") == ""
        (cookie,) = seen.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")


def test_a_slider_changes_what_is_shown(screen):
    """By key: the field and the answer follow, without a new page, and the policy has nothing to say."""
    with screen("recipient") as seen:
        seen.see("/explore")
        before = seen.page.locator("#result h2").inner_text()
        slider = seen.page.get_by_role("slider", name="Level ε, by slider")
        slider.focus()
        with seen.page.expect_response("**/explore?*"):
            slider.press("ArrowRight")
        seen.page.wait_for_function("(was) => document.querySelector('#result h2').innerText !== was", arg=before)
        assert seen.page.get_by_label("Level ε", exact=True).input_value() == "2/3"
        assert "2/3" in seen.page.locator("#result h2").inner_text()
        seen.page.get_by_label("Level ε", exact=True).fill("nothing")
        seen.page.locator("#result [role=alert]").wait_for()
        assert [text for text in seen.complaints() if "422" not in text] == []


def test_a_reader_chooses_prior_and_loss(screen):
    """The answers are those of the guide: 21 for an error's size, 24 where too few cost three times as much."""
    with screen("recipient") as seen:
        seen.see("/read")
        assert seen.page.locator("#result dd").first.inner_text() == "21"
        seen.page.get_by_label("An error costs").select_option("asymmetric:1,3")
        seen.page.locator("#result dd").first.filter(has_text="24").wait_for()


def test_a_relaxation_from_proposal_to_table(screen, service, tmp_path):
    """Two persons in two browsers; a refusal stands in the form and loses nothing of what was filled in."""
    table = tmp_path / "table.csv"
    table.write_text("department,admitted\nA,601\nB,370\nC,322\n")
    with screen("curator") as ada, screen("approver") as grace:
        ada.see(RELEASE)
        ada.page.get_by_text("Propose to relax it").click()
        ada.page.get_by_label("New level ε").fill("no level")
        ada.page.get_by_role("button", name="Propose", exact=True).click()
        ada.page.locator("form .answer [role=alert]").wait_for()
        assert ada.page.get_by_label("New level ε").input_value() == "no level"
        ada.page.get_by_label("New level ε").fill("3")
        ada.page.get_by_role("button", name="Propose", exact=True).click()
        ada.page.get_by_text("The proposal waits for a second person.").wait_for()
        grace.see("/proposals")
        grace.page.get_by_role("link", name="Relax admissions at ε = 3").click()
        grace.page.get_by_role("button", name=re.compile("Approve admissions at 3")).click()
        grace.page.get_by_text("Approved.").wait_for()
        ada.see("/proposals")
        ada.page.get_by_role("link", name="Relax admissions at ε = 3").click()
        card = ada.page.locator("section", has=ada.page.get_by_role("heading", name="Upload the table"))
        card.get_by_label("CSV file").set_input_files(table)
        card.get_by_role("button", name="Relax").click()
        ada.page.get_by_text("Relaxed.").wait_for()
        assert level(3) in service.ledger.levels("admissions")


def test_pages_work_without_script(screen):
    """Forms and links are enough: a noisier copy is made and a page is asked anew."""
    with screen("recipient", ("admissions", level("1/4")), java_script_enabled=False) as seen:
        seen.see("/release?name=admissions")
        seen.page.get_by_text("A noisier copy, at another level").click()
        seen.page.get_by_label("Level ε").fill("1/8")
        seen.page.get_by_role("button", name="Make it").click()
        seen.page.get_by_role("heading", name="Values at ε = 0.125").wait_for()
        seen.see("/explore")
        seen.page.locator("#sensitivity").fill("5")
        seen.page.get_by_role("button", name="Show").click()
        seen.page.get_by_role("heading", name=re.compile("DiscreteStaircase")).wait_for()


def test_by_key_alone(screen):
    """The first stop is the way past the menu, every stop can be seen, and the sign-out is reached."""
    with screen("recipient") as seen:
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate("document.activeElement.innerText") == "To the content"
        for _ in range(40):
            seen.page.keyboard.press("Tab")
            style = seen.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert style != "none"
            if seen.page.evaluate("document.activeElement.innerText") == "Sign out":
                break
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_url("**/login")


WATCHED = """() => {
  window.sent = [];
  const send = XMLHttpRequest.prototype.send;
  XMLHttpRequest.prototype.send = function (body) {
    const form = body instanceof FormData ? body : new URLSearchParams(body || "");
    window.sent.push(Object.fromEntries([...form].map(([name, value]) => [name, String(value.name || value)])));
    return send.call(this, body);
  };
}"""
"""Keeps the fields of every form that the page's script sends."""

HEADER = 'department;admitted;"notes; old"\nA;601;x\n'


def test_columns_are_chosen_from_a_header_that_is_never_sent(screen, tmp_path):
    """The first line is read in the browser; the fields follow; the margins appear, and no byte of the file is sent."""
    (tmp_path / "table.csv").write_text(HEADER)
    with screen("curator") as ada:
        ada.see("/publish")
        ada.page.evaluate(WATCHED)
        ada.page.get_by_label("Name of the release").first.fill("fresh")
        ada.page.get_by_label("Take the columns from a CSV file").set_input_files(tmp_path / "table.csv")
        ada.page.get_by_label("department", exact=True).select_option("public")
        ada.page.get_by_label("admitted", exact=True).select_option("columns")
        assert ada.page.get_by_label("Columns to leave out").input_value() == "notes; old"
        assert ada.page.get_by_label("Public columns").input_value() == "department"
        ada.page.get_by_label("Level ε").first.fill("1/2")
        ada.page.get_by_label("Level ε").first.press("Tab")
        ada.page.locator("#preview td", has_text="± 6").wait_for()
        sent = ada.page.evaluate("window.sent")
        assert sent
        assert "601" not in str(sent)
        assert not {"header", "table"} & {name for form in sent for name in form}
        ada.page.get_by_role("button", name="Propose", exact=True).click()
        ada.page.get_by_text("The proposal waits for a second person.").wait_for()
        assert ada.complaints() == []


def test_a_table_is_not_sent_to_look_at_margins(chromium, opened, tmp_path):
    """Where one person suffices the form has the table in it: the preview leaves it out, the publication brings it."""
    (tmp_path / "table.csv").write_text("department,admitted\nA,601\nB,370\n")
    service = opened(approvals=False)
    presented = service.bearers.make(None, "a", "Ada", "curator", (Grant("*"),))[1]
    with served(service, Settings(rate=1e6, burst=10**6)) as address, Screen(chromium, address, presented) as ada:
        ada.see("/publish")
        ada.page.evaluate(WATCHED)
        ada.page.get_by_label("CSV file", exact=True).set_input_files(tmp_path / "table.csv")
        for label, text in (("Name of the release", "fresh"), ("Columns to release", "admitted"), ("Level ε", "1")):
            ada.page.get_by_label(label).first.fill(text)
        ada.page.get_by_label("Public columns").fill("department")
        ada.page.get_by_role("button", name="Preview the margins").first.click()
        ada.page.locator("#preview td", has_text="± 3").wait_for()
        looked = ada.page.evaluate("window.sent")
        assert looked
        assert not any("table" in form for form in looked)
        ada.page.get_by_role("button", name="Publish", exact=True).click()
        ada.page.get_by_text("Published.").wait_for()


def test_a_table_is_sorted_and_searched(screen, service):
    """By key: a head sorts by number, up and down, and says so; what is written leaves the rows that hold it."""
    for owner in ("Di", "Eva", "Finn", "Gus", "Hal", "Ida", "Jo"):
        service.bearers.make(None, f"sorted {owner}", owner, "recipient", (Grant("*"),))
    with screen("admin") as seen:
        seen.see("/tokens")
        table = seen.page.locator("section", has_text="All tokens").locator("table")
        owners = table.locator("tbody tr:visible th").all_inner_texts
        button = table.get_by_role("button", name="Owner")
        button.focus()
        button.press("Enter")
        assert owners() == sorted(owners(), key=str.lower)
        assert table.locator("th[aria-sort=ascending]").inner_text().startswith("Owner")
        button.press("Enter")
        assert owners() == sorted(owners(), key=str.lower, reverse=True)
        seen.page.get_by_label("Find in Table of all tokens").fill("finn")
        assert owners() == ["Finn"]
        seen.page.get_by_role("status").filter(has_text="1 of").wait_for()
    with screen("recipient") as seen:
        seen.see(f"{RELEASE}&at=1")
        seen.page.get_by_text("All values as a table").click()
        values = seen.page.get_by_role("region", name="Values", exact=True).locator("table")
        values.get_by_role("button", name="admitted").click()
        numbers = [int(text) for text in values.locator("tbody td.number:nth-of-type(2)").all_inner_texts()]
        assert numbers == sorted(numbers)


def test_every_format_is_taken_from_the_page(screen, tmp_path):
    """CSV, Parquet and Excel, each a link of its own."""
    with screen("recipient") as seen:
        for word, ending in (("CSV", "csv"), ("Parquet", "parquet"), ("Excel", "xlsx")):
            seen.see(f"{RELEASE}&at=1/4")
            with seen.page.expect_download() as brought:
                seen.page.get_by_role("link", name=f"{word} file of admissions", exact=True).click()
            assert brought.value.suggested_filename == f"released.{ending}"


def test_sums_from_plan_to_page(screen, service, tmp_path):
    """Two persons in two browsers; a plan that is none is refused in the form, and nothing of it is lost."""
    files = {}
    for name, (_, content, _) in zip(("plan", "counted"), plan_and_table(cells=((11, 21), (31, 41))), strict=True):
        files[name] = tmp_path / f"{name}.json"
        files[name].write_bytes(content)
    with screen("curator") as ada, screen("approver") as grace:
        ada.see("/publish")
        form = ada.page.locator("form", has=ada.page.get_by_role("button", name="Propose it"))
        form.get_by_label("Name of the release").fill("sums")
        form.get_by_label("Promise or plan").set_input_files(files["counted"])
        form.get_by_role("button", name="Propose it").click()
        form.locator(".answer [role=alert]").wait_for()
        assert form.get_by_label("Name of the release").input_value() == "sums"
        form.get_by_label("Promise or plan").set_input_files(files["plan"])
        form.get_by_role("button", name="Propose it").click()
        ada.page.get_by_text("The proposal waits for a second person.").wait_for()
        grace.see("/proposals")
        grace.page.get_by_role("link", name="Publish sums at ε = 0.5").click()
        grace.page.get_by_role("button", name=re.compile("Approve sums at")).click()
        grace.page.get_by_text("Approved.").wait_for()
        ada.see("/proposals")
        ada.page.get_by_role("link", name="Publish sums at ε = 0.5").click()
        card = ada.page.locator("section", has=ada.page.get_by_role("heading", name="Upload the table"))
        card.get_by_label("Counted table").set_input_files(files["counted"])
        card.get_by_role("button", name="Publish").click()
        ada.page.get_by_text("Published.").wait_for()
        ada.page.get_by_role("alert").get_by_text("are charged as different people").wait_for()
        ada.page.get_by_role("link", name="To the release", exact=True).click()
        ada.page.locator("svg.chart").nth(1).wait_for()
        assert [text for text in ada.complaints() if "422" not in text] == []


def test_the_way_through_a_provider_and_back(chromium, service, tmp_path):
    """In a real browser, whose rules for cookies count: out by a link, back by the provider's redirection, on to the
    page that was wanted, signed in; and out again. Axe has nothing to say of the two pages on the way."""
    port = free_port()
    with local_provider() as provider:
        provider.has_secret = False
        asked = {"oidc_issuer": provider.issuer, "oidc_client": CLIENT, "address": f"http://localhost:{port}"}
        service.bearers.make(None, "bo", "Bo", "recipient", (Grant("*"),), subject=f"{provider.issuer} bo")
        context = chromium.new_context(bypass_csp=True)
        with served(service, Settings(rate=1e6, burst=10**6, **asked), port):
            page = context.new_page()
            page.goto(f"http://localhost:{port}/explore")
            page.wait_for_url("**/login?next=*")
            if AXE.exists():
                assert broken_rules(page) == []
            page.get_by_role("link", name="Sign in with").click()
            page.wait_for_url("**/explore")
            assert page.locator(".who b").inner_text() == "Bo"
            (cookie,) = context.cookies()
            assert (cookie["httpOnly"], cookie["sameSite"], cookie["value"][:8]) == (True, "Strict", "session.")
            page.get_by_role("button", name="Sign out").click()
            page.wait_for_url("**/login")
        context.close()
