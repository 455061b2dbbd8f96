"""The built site in Chromium: the trade's words are found by typing them, and a newcomer's three questions are answered
within two clicks and 400 words.

They need Chromium, Playwright and zensical: ``pytest -m browser tests/docs``; the site is built where it is not there.
"""

import fcntl
import functools
import http.server
import shutil
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build/site"
CHROMIUM = shutil.which("chromium")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.skipif(find_spec("zensical") is None, reason="zensical is not installed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

STATISTICIAN, OFFICER = "For the busy statistician", "For the privacy officer"
WORDS = {
    "Excel": {"Excel, spreadsheet", "Files and frames"},
    "open-ended": {"Age group, open-ended group"},
    "age group": {"Age group, open-ended group", STATISTICIAN, "Declare the domain"},
    "birth date": {"Ages from birth dates"},
    "missing values": {"Missing values"},
    "leading zeros": {"Leading zeros"},
    "mean by region": {"Mean by region", "Sums, means and medians"},
    "standard error": {"Standard error", "Margins of error"},
    "histogram": {"Histogram"},
    "composition": {"Composition", "The definition"},
    "budget": {"Composition, privacy loss budget"},
    "post-processing": {"Post-processing", "The definition"},
    "sensitivity": {"Sensitivity, clipping"},
    "clipping": {"Sensitivity, clipping", "What each word does"},
    "confidence interval": {"Standard error, margin of error"},
    "reproducible": {"Reproducible"},
    "geo-indistinguishability": {"Hide a location or an answer", "Geo-indistinguishability"},
    "local differential privacy": {"Local differential privacy"},
    "randomized response": {"Local differential privacy", "A short list: randomised response"},
    "synthetic data": {"Synthetic data", "Which library for what"},
    "javascript": {"JavaScript", "Ship it to phones"},
    "rounding": {"Rounding, whole numbers", "Clean tables"},
    "suppression": {"Publish less than you released", "Suppression"},
    "weights": {"Weights"},
    "mean of a column": {"Mean by region", "Sums, means and medians"},
    "median": {"Median", "Medians and quantiles"},
    "small cells": {"Publish less than you released", "Suppression"},
    "k-anonymity": {"k-anonymity", "What may not be said"},
    "GDPR": {"GDPR", "What may not be said"},
}
QUESTIONS = {
    "declare my columns": (STATISTICIAN, "1 Declare the groups"),
    "choose epsilon": ("Choose a level from the accuracy you need", None),
    "write the footnote": (STATISTICIAN, "4 Publish"),
}
MOST_WORDS, FIRST = 400, 8
WORDS_OF = """(heading) => {
  const words = (text) => (text.match(/\\S+/g) || []).length;
  let count = words(heading.innerText);
  for (let next = heading.nextElementSibling; next && next.tagName !== "H2"; next = next.nextElementSibling)
    count += words(next.innerText);
  return count;
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    """The site, built where it is not there, from a server of this process."""
    with (ROOT / ".ci/build_site.py").open() as script:
        fcntl.flock(script, fcntl.LOCK_EX)  # another worker may be building it
        if not (SITE / "index.html").exists():
            subprocess.run([sys.executable, script.name], check=True, capture_output=True)
    handler = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def test_the_words_of_the_trade_are_found(chromium, address):
    """Typed into the search of the first page: among the first eight results is a page that answers."""
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/index.html")
    page.wait_for_load_state("networkidle")
    missed = []
    page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Search")
    for words, wanted in WORDS.items():
        field.fill(words)
        page.wait_for_timeout(1000)
        page.locator("[id$=results] a").first.wait_for(timeout=30_000)  # a busy machine reads the index for seconds
        shown = page.locator("[id$=results] a").all_inner_texts()[:FIRST]
        if not any(title in text for title in wanted for text in shown):
            missed.append((words, [text.split("\n")[:2] for text in shown]))
    page.close()
    assert missed == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_newcomer_is_answered_in_two_clicks_and_400_words(chromium, address, question):
    """From the first page, by links that are there; the words are those of one section; the first needs no heading."""
    title, section = QUESTIONS[question]
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/index.html")
    page.locator("article").get_by_role("link", name=title).first.click()
    page.locator("h1", has_text=title).wait_for()
    if section is not None:
        page.locator("nav a, .md-nav a").filter(has_text=section).filter(visible=True).first.click()
    heading = page.locator("h1" if section is None else "h2", has_text=section or title)
    heading.wait_for()
    assert heading.evaluate(WORDS_OF) <= MOST_WORDS
    page.close()
