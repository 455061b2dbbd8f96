"""The page that `utmost export` writes, and its module, in a real browser. Run them with ``pytest -m browser``."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from documents.test_samplers import LEVEL, fits, paris
from service.test_pages_in_browser import AXE, CHROMIUM, broken_rules, chromium
from utmost.doors.documents.sampler_files import sampler_files

__all__ = ["chromium", "paris"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def folder(paris, tmp_path_factory):
    """The files for phones, of the rounded districts."""
    made = tmp_path_factory.mktemp("phone")
    for name, content in sampler_files(paris[1][1], "js").items():
        (made / name).write_bytes(content)
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
    answer = page.locator("#answer").inner_text()
    assert answer in sampler.answers
    assert page.get_by_label("What is true").is_hidden()
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    stored = page.evaluate("JSON.stringify(localStorage)")
    assert "Louvre" not in stored or answer == "Louvre"
    page.reload()
    assert page.locator("#answer").inner_text() == answer
    assert "Drawn before" in page.locator("#kept").inner_text()
    page.get_by_role("button", name="Forget it").click()
    assert page.get_by_label("What is true").input_value() == ""
    assert page.evaluate("localStorage.length") == 0
    assert set(page.asked) <= {url, "data:,"}
    assert page.said == []


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


def test_the_module_draws_the_law_in_the_browser(opened, address, paris):
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
