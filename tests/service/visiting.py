"""A browser without a screen or a script: cookies, forms as they stand on the page, and redirects that are followed."""

import asyncio
import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

import httpx

PAGE = {"Accept": "text/html,application/xhtml+xml"}


class Forms(HTMLParser):
    """The forms of a page: action, and the fields that are filled in."""

    def __init__(self, text):
        super().__init__()
        self.found, self._select, self._area = [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        about = dict(attributes)
        if tag == "form":
            self.found.append((about["action"], {}))
        elif not self.found:
            return
        fields = self.found[-1][1]
        if tag == "input" and "name" in about and about.get("type") not in ("file", "checkbox"):
            fields[about["name"]] = about.get("value", "")
        elif tag == "select":
            self._select = about["name"]
        elif tag == "option" and self._select and (self._select not in fields or "selected" in about):
            fields[self._select] = about.get("value", "")
        elif tag == "textarea":
            self._area = about["name"]
            fields[self._area] = ""

    def handle_endtag(self, tag):
        if tag == "select":
            self._select = None
        elif tag == "textarea":
            self._area = None

    def handle_data(self, data):
        if self._area:
            self.found[-1][1][self._area] += data


class Visitor:
    """Whoever looks at the pages of an application in this process."""

    def __init__(self, app, presented=None, scheme="http"):
        self.app, self.jar, self.base, self.presented = app, httpx.Cookies(), f"{scheme}://service", presented
        if presented is not None:
            page = self.get("/login")
            assert self.fill(page, "/login", token=presented).status_code == 200

    def send(self, method, path, follow=True, headers=None, **more):
        async def asked():
            transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=self.base, cookies=self.jar) as client:
                answer = await client.request(method, path, headers=PAGE | (headers or {}), **more)
                self.jar = client.cookies
                return answer

        answer = asyncio.run(asked())
        if follow and answer.status_code == 303:
            return self.get(answer.headers["location"])
        return answer

    def get(self, path, **more):
        return self.send("GET", path, **more)

    def proposal(self, **more):
        """The page of the first proposal that is listed."""
        (path, *_) = re.findall(r'"(/proposal\?name=[0-9a-f]{24})"', self.get("/proposals").text)
        return self.get(path, **more)

    def fill(self, page, action, where=None, files=None, follow=True, headers=None, **fields):
        """Send a form of the page, filled in: the first one of the action, or of those that have some fields."""
        forms = [fields for address, fields in Forms(page.text).found if urlsplit(address).path == action]
        chosen = [found for found in forms if found | (where or {}) == found]
        assert chosen, f"no form {action} on the page"
        return self.send("POST", action, data=chosen[0] | fields, files=files, follow=follow, headers=headers)
