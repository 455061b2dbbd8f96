"""Clients that others generate from the description of the API: they publish, relax and view against a real server.

pytest -m oracle tests/service/test_generated_clients.py; the client of TypeScript needs node and npm.
"""

import json
import secrets
import shutil
import subprocess
import sys
import threading
import time

import httpx
import pytest
import uvicorn

from service.conftest import ALL
from service.test_serve import free_port
from utmost.service import Settings, application

ONE_STORE = True

pytestmark = pytest.mark.oracle

TABLE = {"department": ["A", "B"], "admitted": [601, 370]}
PROMISE = {
    "columns": ["admitted"],
    "public": ["department"],
    "noise": {"kind": "cells", "sensitivity": "1", "cells": 1, "neighbours": "add-remove", "numbers": "integers"},
}


@pytest.fixture
def served(opened, tmp_path):
    """The address of a service, the token of a curator, and the description in a file."""
    service = opened(approvals=False)
    app = application(service, Settings(rate=1e6, burst=10**6))
    token = service.bearers.make(None, secrets.token_hex(8), "curator", "curator", ALL)[1]
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{port}"
    last = time.monotonic() + 60
    while not server.started:
        assert time.monotonic() < last, "the server did not start"
        time.sleep(0.05)
    described = httpx.get(f"{address}/v1/openapi.json", headers={"Authorization": f"Bearer {token}"}).json()
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(described), encoding="utf-8")
    yield address, token, path
    server.should_exit = True
    thread.join(30)


def run(*words, cwd):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_a_client_of_python_publishes_relaxes_and_views(served, tmp_path):
    pytest.importorskip("openapi_python_client")
    address, token, described = served
    run(
        sys.executable,
        *("-m", "openapi_python_client", "generate", "--path", described, "--output-path", tmp_path / "generated"),
        *("--meta", "none"),
        cwd=tmp_path,
    )
    script = tmp_path / "use.py"
    script.write_text(
        f"""
from generated import AuthenticatedClient
from generated.api.releases import publish, relax, view
from generated.models import PublishBody, RelaxBody

client = AuthenticatedClient(base_url={address!r}, token={token!r}, raise_on_unexpected_status=True)
body = {{"name": "admissions", "level": "1/4", "promise": {PROMISE!r}, "table": {TABLE!r}}}
first = publish.sync(client=client, body=PublishBody.from_dict(body), idempotency_key="one")
second = relax.sync("admissions", client=client, body=RelaxBody.from_dict({{"level": "1", "table": {TABLE!r}}}),
                    idempotency_key="two")
seen = view.sync("admissions", client=client, epsilon="1/4")
assert first.to_dict()["columns"] == seen.to_dict()["columns"], (first, seen)
print(second.to_dict()["statement"]["epsilon"])
""",
        encoding="utf-8",
    )
    assert run(sys.executable, script, cwd=tmp_path).strip() == "1"


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not here")
def test_a_client_of_typescript_publishes_relaxes_and_views(served, tmp_path):
    address, token, described = served
    (tmp_path / "package.json").write_text("{}", encoding="utf-8")
    run("npm", "install", "--silent", "--no-audit", "--no-fund", "@hey-api/openapi-ts", "typescript@5", cwd=tmp_path)
    run("npx", "openapi-ts", "-i", described.name, "-o", "generated", cwd=tmp_path)
    script = f"""
import {{ client }} from "./generated/client.gen";
import {{ publish, relax, view }} from "./generated/sdk.gen";

async function walk() {{
  client.setConfig({{ baseUrl: {address!r}, auth: {token!r}, throwOnError: true }});
  const table = {json.dumps(TABLE)};
  const first = await publish({{
    headers: {{ "Idempotency-Key": "one" }},
    body: {{ name: "admissions", level: "1/4", promise: {json.dumps(PROMISE)} as any, table }},
  }});
  const second = await relax({{
    path: {{ name: "admissions" }}, headers: {{ "Idempotency-Key": "two" }}, body: {{ level: "1", table }},
  }});
  const seen = await view({{ path: {{ name: "admissions" }}, query: {{ epsilon: "1/4" }} }});
  if (!("columns" in first.data!) || !("columns" in seen.data!)) throw new Error("sums");
  if (JSON.stringify(first.data!.columns) !== JSON.stringify(seen.data!.columns)) throw new Error("two answers");
  console.log("statement" in second.data! && second.data!.statement.epsilon);
}}

walk();
"""
    (tmp_path / "use.ts").write_text(script, encoding="utf-8")
    options = (
        "--target", "es2022", "--module", "commonjs", "--strict", "--skipLibCheck", "--lib", "es2022,dom,dom.iterable",
    )  # fmt: skip
    run("npx", "tsc", *options, "--outDir", "made", "use.ts", cwd=tmp_path)
    assert run("node", "made/use.js", cwd=tmp_path).strip() == "1"
