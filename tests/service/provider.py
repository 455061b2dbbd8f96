"""A small OpenID provider over HTTP, with RSA keys of its own, codes that are good once, and PKCE; and its misdeeds."""

import json
import threading
import time
from base64 import b64decode, urlsafe_b64encode
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

KEY, OTHER_KEY = (rsa.generate_private_key(65537, 2048) for _ in range(2))
CLIENT, SECRET = "pages of utmost", "a secret: with a colon"


def in_jwks(key, name):
    return json.loads(RSAAlgorithm.to_jwk(key.public_key())) | {"kid": name, "use": "sig", "alg": "RS256"}


class LocalProvider:
    """What the provider knows, and what it was asked.

    Attributes:
        person: who is at the browser: the claims of the next sign-in.
        changed: claims that the provider gets wrong; None for one that it leaves out.
        signs: makes a statement of claims.
        about: what its discovery document says beside, or instead.
        exchanged: the forms that came to the token endpoint, with the header by which the client showed itself.
        status: of the token endpoint, where it fails.
    """

    def __init__(self):
        self.person, self.changed, self.about, self.codes, self.exchanged = {"sub": "bo"}, {}, {}, {}, []
        self.signs = lambda claims: jwt.encode(claims, KEY, "RS256", headers={"kid": "k"})
        self.status, self.issuer, self.has_secret = 200, "", True

    def documents(self):
        return {
            "/.well-known/openid-configuration": {
                "issuer": self.issuer,
                "jwks_uri": f"{self.issuer}/keys",
                "authorization_endpoint": f"{self.issuer}/authorize?tenant=1",
                "token_endpoint": f"{self.issuer}/token",
                **self.about,
            },
            "/keys": {"keys": [in_jwks(KEY, "k")]},
        }

    def authorized(self, query):
        """Where the browser is sent: it is signed in at once."""
        asked = {name: values[0] for name, values in query.items()}
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert asked["tenant"] == "1"
        code = f"code {len(self.codes)}"
        self.codes[code] = asked | {"person": dict(self.person)}
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state'], 'iss': self.issuer})}"

    def token(self, form, header):
        """The answer of the token endpoint: status and JSON; each code is good once, for who set out with it."""
        self.exchanged.append((form, header))
        found = self.codes.pop(form.get("code", ""), None)
        challenge = urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).rstrip(b"=").decode()
        if self.status != 200:
            return self.status, {}
        if found is None or found["code_challenge"] != challenge or found["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        if self.has_secret and not self._knows(form, header):
            return 401, {"error": "invalid_client"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": found["client_id"], "iat": now, "exp": now + 300, "nonce": found["nonce"]}
        claims |= found["person"] | self.changed
        statement = self.signs({name: value for name, value in claims.items() if value is not None})
        return 200, {"id_token": statement, "access_token": "x", "token_type": "Bearer"}

    def _knows(self, form, header):
        if header.startswith("Basic "):
            name, _, secret = b64decode(header[6:]).decode().partition(":")
            return (unquote(name), unquote(secret)) == (CLIENT, SECRET)
        return (form.get("client_id"), form.get("client_secret")) == (CLIENT, SECRET)


@contextmanager
def local_provider():
    """A provider on this machine while the block runs."""
    provider = LocalProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                self.send_response(303)
                self.send_header("Location", provider.authorized(parse_qs(parts.query)))
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                found = provider.documents().get(parts.path)
                self.say(200 if found else 404, found or {})

        def do_POST(self):
            content = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(content).items()}
            self.say(*provider.token(form, self.headers.get("Authorization", "")))

        def say(self, status, found):
            content = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
