"""OpenID Connect: a provider made here, with keys of both kinds; everything but its own sound statements is refused."""

import json
import time

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from service.provider import KEY as RSA
from service.provider import OTHER_KEY as OTHER
from service.test_http import Caller
from utmost.errors import LedgerUnavailable, NotAuthenticated, OutOfRange
from utmost.exact import level

# The provider is one of the test, and so is its clock.
from utmost.interfaces.service.access.openid import OpenId
from utmost.service import Grant, Settings, application

ONE_STORE = True

ISSUER, AUDIENCE, KEYS_AT = "https://id.example", "utmost", "https://keys.example/elsewhere"
ED, EC = ed25519.Ed25519PrivateKey.generate(), ec.generate_private_key(ec.SECP256R1())


def public(key, name, kind):
    return json.loads(kind.to_jwk(key.public_key())) | {"kid": name, "use": "sig"}


PUBLISHED = {"keys": [public(RSA, "r", RSAAlgorithm), public(ED, "e", OKPAlgorithm), public(EC, "c", ECAlgorithm)]}
SIGNERS = {"r": (RSA, "RS256"), "e": (ED, "EdDSA"), "c": (EC, "ES256")}


class Provider:
    """The documents of a provider, and which of them were asked for."""

    def __init__(self, **changed):
        self.pages = {f"{ISSUER}/.well-known/openid-configuration": {"issuer": ISSUER, "jwks_uri": KEYS_AT} | changed}
        self.pages[KEYS_AT] = PUBLISHED
        self.asked = []

    def __call__(self, address):
        self.asked.append(address)
        if address not in self.pages:
            raise httpx.ConnectError("nobody there")
        return self.pages[address]


def signed(by="r", key=None, algorithm=None, **changed):
    own, usual = SIGNERS.get(by, (RSA, "RS256"))
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "bo", "exp": time.time() + 3600} | changed
    claims = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(claims, own if key is None else key, algorithm or usual, headers={"kid": by})


def raw(header, claims="e30", signature="AA"):
    return f"{jwt.utils.base64url_encode(header.encode()).decode()}.{claims}.{signature}"


FORGED = {
    "another key": lambda: signed("r", OTHER),
    "another key's name": lambda: signed("e", RSA, "RS256"),
    "a key that is not there": lambda: signed("x"),
    "no signature": lambda: jwt.encode({"iss": ISSUER, "aud": AUDIENCE, "sub": "bo", "exp": 1e11}, None, "none"),
    "no signature, with a key": lambda: raw('{"alg":"none","kid":"r"}'),
    "the public key as a password": lambda: signed("r", json.dumps(PUBLISHED["keys"][0]) * 2, "HS256"),
    "another issuer": lambda: signed(iss="https://id.example.evil"),
    "no issuer": lambda: signed(iss=None),
    "another audience": lambda: signed(aud="payroll"),
    "no audience": lambda: signed(aud=None),
    "it is over": lambda: signed(exp=time.time() - 1),
    "it has no end": lambda: signed(exp=None),
    "it has not begun": lambda: signed(nbf=time.time() + 600),
    "nobody": lambda: signed(sub=None),
    "a subject that is no text": lambda: signed(sub=7),
    "changed": lambda: (lambda parts: f"{parts[0]}.{parts[1][:-2]}AA.{parts[2]}")(signed().split(".")),
    "cut": lambda: signed()[:-8],
    "empty": lambda: "..",
    "no JSON": lambda: raw("{"),
    "a list": lambda: raw("[]"),
    "a nest": lambda: raw("[" * 9000),
    "numbers for names": lambda: raw('{"alg":7,"kid":7}'),
    "a name that is a list": lambda: raw('{"alg":"RS256","kid":[]}'),
    "long": lambda: signed(more="x" * 20000),
    "critical": lambda: jwt.encode({"sub": "bo"}, RSA, "RS256", headers={"kid": "r", "crit": ["x"], "x": 1}),
}


@pytest.mark.parametrize("by", SIGNERS)
def test_the_providers_statement_names_the_subject(by):
    """For RSA, Ed25519 and elliptic keys, found where the discovery document says, and asked for once."""
    provider = Provider()
    openid = OpenId(ISSUER, AUDIENCE, provider)
    assert [openid.signed_claims(signed(by))["sub"] for _ in range(3)] == ["bo"] * 3
    assert provider.asked == [f"{ISSUER}/.well-known/openid-configuration", KEYS_AT]


@pytest.mark.parametrize("why", FORGED)
def test_whatever_else_is_refused_in_the_same_words(why):
    openid = OpenId(ISSUER, AUDIENCE, Provider())
    with pytest.raises(NotAuthenticated, match="OpenID"):
        openid.signed_claims(FORGED[why]())


def test_names_of_keys_that_are_not_there_do_not_flood_the_provider():
    """Its keys are asked for once a minute at most; a key that it has since made is found then."""
    provider, now = Provider(), [0.0]
    openid = OpenId(ISSUER, AUDIENCE, provider, clock=lambda: now[0])
    openid.signed_claims(signed())
    for name in range(50):
        with pytest.raises(NotAuthenticated):
            openid.signed_claims(signed(f"x{name}", OTHER))
    assert len(provider.asked) == 2
    provider.pages[KEYS_AT] = {"keys": [public(OTHER, "new", RSAAlgorithm)]}
    now[0] = 61.0
    assert openid.signed_claims(signed("new", OTHER))["sub"] == "bo"
    with pytest.raises(NotAuthenticated):
        openid.signed_claims(signed("r"))


def test_a_provider_that_is_silent_is_left_alone_for_a_moment():
    """While it does not answer, strangers with tokens of unknown keys wait for it once in five seconds, not each in
    turn; all of them are told that it is no fault of theirs, and it is found again when it is back."""
    provider, now, tried = Provider(), [0.0], []

    def silent(address):
        tried.append(address)
        now[0] += 10.0
        raise httpx.ConnectTimeout("none")

    answers = [silent]
    openid = OpenId(ISSUER, AUDIENCE, lambda address: answers[0](address), clock=lambda: now[0])
    for name in range(50):
        with pytest.raises(LedgerUnavailable):
            openid.signed_claims(signed(f"x{name}", OTHER))
        now[0] += 0.02
    assert len(tried) == 1
    now[0] += 4.5
    with pytest.raises(LedgerUnavailable):
        openid.signed_claims(signed())
    assert len(tried) == 2
    answers[0], now[0] = provider, now[0] + 5.0
    assert openid.signed_claims(signed())["sub"] == "bo"


@pytest.mark.parametrize(
    "changed", [{"issuer": "https://other.example"}, {"jwks_uri": "http://keys.example"}, {"jwks_uri": 7}]
)
def test_a_provider_that_says_something_else_is_not_believed(changed):
    with pytest.raises(LedgerUnavailable):
        OpenId(ISSUER, AUDIENCE, Provider(**changed)).signed_claims(signed())


def test_a_provider_out_of_reach_is_no_fault_of_the_token():
    with pytest.raises(LedgerUnavailable):
        OpenId(ISSUER, AUDIENCE, lambda address: Provider()("https://nowhere.example")).signed_claims(signed())


@pytest.mark.parametrize("issuer", ["http://id.example", "file:///etc/passwd", "id.example", "ftp://localhost"])
def test_a_provider_is_not_asked_in_the_clear(issuer):
    with pytest.raises(OutOfRange):
        OpenId(issuer, AUDIENCE)


def test_what_a_subject_may_is_what_its_token_says(service, published):
    """Through HTTP: a vouched subject views its level and no other; an unknown one, and a revoked one, nothing."""
    app = application(service, Settings(rate=1e6, burst=10**6, oidc_issuer=ISSUER, oidc_audience=AUDIENCE))
    app.inside.state.openid = OpenId(ISSUER, AUDIENCE, Provider())
    grant = (Grant("admissions", level("1/4")),)
    made, presented = service.bearers.make(None, "k", "Bo", "recipient", grant, subject=f"{ISSUER} bo")
    assert presented is None
    bo = Caller(app, signed("e"))
    assert bo("GET", "/v1/me").json()["owner"] == "Bo"
    assert bo("GET", "/v1/releases/admissions/view?epsilon=1/4").status_code == 200
    assert bo("GET", "/v1/releases/admissions/view?epsilon=1/2").status_code == 403
    for other in (signed(sub="eve"), signed(sub="bo "), signed("r", OTHER), f"utmost_{made.name}_{'A' * 43}"):
        assert Caller(app, other)("GET", "/v1/me").status_code == 401
    service.bearers.revoke(made, made.name)
    assert bo("GET", "/v1/me").status_code == 401


def test_the_issuer_is_compared_by_equality_here_too(monkeypatch):
    """A reader that takes a part of the issuer's address for the issuer, as one release of PyJWT does, lets none in."""
    monkeypatch.setattr(jwt.PyJWT, "_validate_iss", lambda *_, **__: None)
    openid = OpenId(ISSUER, AUDIENCE, Provider())
    assert openid.signed_claims(signed())["sub"] == "bo"
    for issuer in (ISSUER[:-1], ISSUER + "/", ""):
        with pytest.raises(NotAuthenticated):
            openid.signed_claims(signed(iss=issuer))
