"""The page that `utmost export` writes, and its module, in a real browser. Run them with ``pytest -m browser``."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

import utmost as ut
from documents.test_samplers import LEVEL, fits, paris
from running import called
from service.test_pages_in_browser import AXE, CHROMIUM, broken_rules, chromium
from utmost.local import CategoryCounts, SubsetSelection

__all__ = ["chromium", "paris"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def folder(paris, tmp_path_factory):
    """The files for phones, of the rounded districts."""
    made = tmp_path_factory.mktemp("phone") / "files"
    assert called("export", paris[2] / "rounded.json", "--to", "js", "--out", made).returncode == 0
    return made


class Listening(SimpleHTTPRequestHandler):
    """Serves a folder, and keeps what it was asked for."""

    def log_message(self, form, *words):
        self.server.heard.append(words[0])

    def do_POST(self):
        self.send_error(405)


@pytest.fixture
def host(folder):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Listening, directory=str(folder)))
    server.heard = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def address(host):
    return f"http://127.0.0.1:{host.server_port}"


@pytest.fixture
def opened(chromium):
    """Open a page; what its console says and what it asks for are kept."""
    contexts = []

    def made(url, **options):
        contexts.append(chromium.new_context(**options))
        page = contexts[-1].new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(url)
        return page

    yield made
    for context in contexts:
        context.close()


STORED = """new Promise((resolve) => {
    const opening = indexedDB.open("utmost answers", 1);
    opening.onsuccess = () => {
        const all = opening.result.transaction("answers").objectStore("answers").getAll();
        all.onsuccess = () => { opening.result.close(); resolve(all.result); };
    };
})"""
"""All that the page stores: neither the secret nor when it was asked."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 800, 1280])
def test_a_person_draws_once_and_the_page_asks_nobody(opened, folder, paris, width, scheme):
    """From the file itself: one answer, the same after a reload, another one only where it is asked for."""
    url = (folder / "index.html").as_uri()
    page = opened(url, viewport={"width": width, "height": 700}, color_scheme=scheme)
    sampler = paris[1][1]
    assert page.get_by_label("What is true").locator("option").count() == len(sampler.secrets) + 1
    page.get_by_role("button", name="Draw my answer").click()
    assert page.locator("#told").is_hidden()
    page.get_by_label("What is true").select_option("Louvre")
    page.get_by_role("button", name="Draw my answer").click()
    page.locator("#answer").wait_for()
    answer = page.locator("#answer").inner_text()
    assert answer in sampler.answers
    assert page.get_by_label("What is true").is_hidden()
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert page.evaluate(STORED) == [answer]
    page.reload()
    page.locator("#answer").wait_for()
    assert page.locator("#answer").inner_text() == answer
    assert "Drawn before" in page.locator("#kept").inner_text()
    page.get_by_role("button", name="Forget it").click()
    page.get_by_label("What is true").wait_for()
    assert page.get_by_label("What is true").input_value() == ""
    assert page.evaluate(STORED) == []
    assert set(page.asked) <= {url, "data:,"}
    assert page.said == []


def test_a_survey_has_a_page_too(opened, tmp_path):
    """A report is drawn, kept and shown again, and is the number of a block; the page asks nobody."""
    words = ("--labels", "bus,car,cycle,foot,tram", "--epsilon", "ln2", "--short", "--save", tmp_path / "survey.json")
    assert called("categories", *words).returncode == 0
    assert called("export", tmp_path / "survey.json", "--out", tmp_path / "phone").returncode == 0
    url = (tmp_path / "phone" / "index.html").as_uri()
    page = opened(url)
    assert "at most 2 (" in page.locator("#guarantee").inner_text()
    page.get_by_label("What is true").select_option("tram")
    page.get_by_role("button", name="Draw my answer").click()
    page.locator("#answer").wait_for()
    report = page.locator("#answer").inner_text()
    page.reload()
    page.locator("#answer").wait_for()
    assert page.locator("#answer").inner_text() == report
    (tmp_path / "reports.csv").write_text(f"report\n{report}\n")
    words = ("--survey", tmp_path / "survey.json", "--reports", tmp_path / "reports.csv")
    assert called("categories", *words).returncode == 0
    assert set(page.asked) <= {url, "data:,"}
    assert page.said == []


def test_two_windows_have_one_answer(opened, host, address):
    """Both were opened before either drew; and who stores nothing is told so."""
    first = opened(f"{address}/index.html")
    second = first.context.new_page()
    second.goto(f"{address}/index.html")
    for page in (first, second):
        page.get_by_label("What is true").select_option("Louvre")
    for page in (first, second):
        page.get_by_role("button", name="Draw my answer").click()
        page.locator("#answer").wait_for()
    assert first.locator("#answer").inner_text() == second.locator("#answer").inner_text()
    third = opened("about:blank")
    third.add_init_script("Object.defineProperty(window, 'indexedDB', { value: undefined })")
    third.goto(f"{address}/index.html")
    third.get_by_label("What is true").select_option("Louvre")
    third.get_by_role("button", name="Draw my answer").click()
    third.locator("#answer").wait_for()
    assert "write the answer down" in third.locator("#kept").inner_text()


def test_the_page_may_open_no_connection(opened, host, address):
    """Neither to its own host: the browser refuses, and the host hears of nothing but the page."""
    page = opened(f"{address}/index.html")
    for attempt in (
        "fetch('/sampler.json')",
        "new Promise((yes, no) => { const i = new Image(); i.onload = yes; i.onerror = no; i.src = '/sampler.json'; })",
        "import('/sampler.mjs')",
    ):
        assert page.evaluate(f"{attempt}.then(() => 'done', () => 'refused')") == "refused", attempt
    page.evaluate("navigator.sendBeacon('/told', 'Louvre')")  # says true whether it is refused or not
    page.wait_for_timeout(300)
    assert host.heard == ["GET /index.html HTTP/1.1"]


def test_the_module_draws_the_distribution_in_the_browser(opened, address, paris):
    """From the browser's own randomness, by chi-square; and the place nearest to a position."""
    page, (places, (_, sampler), _) = opened(f"{address}/sampler.json"), paris
    counts = page.evaluate(
        """async () => {
            const { default: sampler } = await import("/sampler.mjs"), counts = {};
            for (let k = 0; k < 20000; k++) { const a = sampler.draw("Louvre"); counts[a] = (counts[a] ?? 0) + 1; }
            return counts;
        }"""
    )
    assert sum(counts.values()) == 20_000
    assert fits(sampler, "Louvre", counts) > LEVEL
    near = page.evaluate("import('/sampler.mjs').then(({ default: sampler }) => sampler.nearest(48.8606, 2.3376))")
    assert near == places.nearest(48.8606, 2.3376)


def test_answers_of_browsers_are_estimated_in_python(opened, tmp_path):
    """The phone's walk: a report designed here, 6000 of them drawn in a browser, and counted here, with error bars."""
    report, truth = SubsetSelection(4, 1, ut.level(alpha="1/3")), [1200, 3000, 300, 1500]
    ut.save_design(report.channel, tmp_path / "channel.json")
    words = ("--space", "discrete:4", "--to", "js", "--out", tmp_path / "phone")
    assert called("export", tmp_path / "channel.json", *words).returncode == 0
    module = (tmp_path / "phone" / "sampler.mjs").read_text(encoding="utf-8")
    drawn = opened("about:blank").evaluate(
        """async ([module, truth]) => {
            const url = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
            const { default: sampler } = await import(url);
            const drawn = (way) => Number(sampler.draw(way).match(/[0-9]+/)[0]);  // "(2,)", a set of one category
            return truth.flatMap((phones, way) => Array.from({ length: phones }, () => drawn(way)));
        }""",
        [module, truth],
    )
    counts = CategoryCounts.of([[way] for way in drawn], report)
    assert (abs(counts.estimates(report) - truth) < 6 * counts.errors(report)).all()


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_can_be_used_by_everybody(opened, folder, scheme):
    page = opened((folder / "index.html").as_uri(), color_scheme=scheme, bypass_csp=True)
    assert broken_rules(page) == []
    page.get_by_label("What is true").select_option("Louvre")
    page.get_by_label("What is true").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#answer").wait_for()
    assert broken_rules(page) == []
