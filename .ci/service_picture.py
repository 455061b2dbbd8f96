"""Draw the picture of the service in the docs: a page of a real run, in light and dark, as Chromium shows it.

The noise is seeded and the clock stands still, so the page is the same each time; a picture carries the digest of the
page and of the style sheet that it shows, by which a test knows when it must be drawn again.

Run:  python .ci/service_picture.py        (needs Playwright, Pillow and Chromium)
"""

import re
import shutil
import struct
import zlib
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from utmost.exact import level
from utmost.interfaces.service.access.first_start import DEMO, publish_demo
from utmost.interfaces.service.pages.page_rendering import static_files
from utmost.interfaces.service.settings import Settings
from utmost.service import Grant, Service, served
from utmost.testing import seeded_ledger

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
SCHEMES = ("light", "dark")
PAGE = f"/release?name={DEMO}&at=1/4"
_SIZE = {"width": 1120, "height": 880}
_FLAGS = ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb", "--font-render-hinting=none"]
_FRESH = re.compile(r'value="[0-9a-f]{32,}"')
_NOW = 1_800_000_000.0
SETTINGS = Settings(address="https://releases.example")


@contextmanager
def shown_service():
    """A service with the example of a first start, and what a recipient at level 1 presents."""
    with TemporaryDirectory() as folder, seeded_ledger(Path(folder) / "releases.db", "the picture") as ledger:
        publish_demo(ledger)
        service = Service(ledger, clock=lambda: _NOW)
        _, presented = service.bearers.make(None, "b", "Bo", "recipient", (Grant(DEMO, level(1)),))
        yield service, presented


def digest_of(page: str) -> str:
    """The digest of what a picture shows: the page without what is fresh each time, and the style sheet."""
    style = static_files()["pages.css"][0]
    return sha256(_FRESH.sub("", page).encode() + style).hexdigest()


def digest_in(picture: bytes) -> str:
    """The digest that a picture carries."""
    found = re.search(rb"tEXtpage\0([0-9a-f]{64})", picture)
    return "" if found is None else found[1].decode()


def draw() -> None:
    """Draw both pictures."""
    from playwright.sync_api import sync_playwright

    with shown_service() as (service, presented), served(service, SETTINGS) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=_FLAGS)
        for scheme in SCHEMES:
            context = browser.new_context(viewport=_SIZE, color_scheme=scheme, reduced_motion="reduce")
            page = context.new_page()
            page.goto(f"{address}/login")
            page.get_by_label("Token").fill(presented)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url("**/releases")
            answer = page.goto(address + PAGE)
            page.wait_for_load_state("networkidle")
            picture = _labelled(_small(page.screenshot()), digest_of(answer.text()))
            (FIGURES / f"service-{scheme}.png").write_bytes(picture)
        browser.close()


def _small(picture: bytes) -> bytes:
    """The picture in 64 colours, a third of its size."""
    from PIL import Image

    file = BytesIO()
    Image.open(BytesIO(picture)).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


def _labelled(picture: bytes, digest: str) -> bytes:
    """A PNG with a text chunk before its end."""
    body = b"tEXtpage\0" + digest.encode()
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return picture[:-12] + chunk + picture[-12:]


if __name__ == "__main__":
    draw()
