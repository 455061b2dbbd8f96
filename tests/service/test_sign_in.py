"""Sign-in by redirection, against a provider on this machine: who is let in, and every way in that must not be one.

The file of a client's secret is read as the command reads it.
"""

import re
import time
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest

from service.conftest import ALL, TERMS
from service.provider import CLIENT, KEY, OTHER_KEY, SECRET, local_provider
from service.publications import propose_by
from service.test_http import Caller
from service.visiting import Visitor
from utmost.errors import KeyRefused, NotAllowed, OutOfRange
from utmost.exact import level
from utmost.service import Grant, Settings, application

ONE_STORE = True

BACK = "/login/openid/back"


@pytest.fixture
def provider():
    with local_provider() as found:
        yield found


@pytest.fixture
def settings(provider, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n")
    about = {"oidc_issuer": provider.issuer, "oidc_client": CLIENT, "oidc_secret_file": str(secret)}
    return Settings(rate=1e6, burst=10**6, address="https://service", oidc_scopes="openid groups", **about)


@pytest.fixture
def app(service, settings, published):
    """A service in which Bo is a recipient by name, and statisticians are curators and managers approvers by group."""
    issuer = settings.oidc_issuer
    for key, owner, role, grants, subject in (
        ("b", "Bo", "recipient", (Grant("admissions", level("1/4")),), f"{issuer} bo"),
        ("s", "statisticians", "curator", ALL, f"claim groups=statisticians {issuer}"),
        ("m", "managers", "approver", ALL, f"claim groups=the managers {issuer}"),
    ):
        service.bearers.make(None, key, owner, role, grants, subject=subject)
    return application(service, settings)


@pytest.fixture
def visitor(app):
    return Visitor(app, scheme="https")


def there(visitor, following=""):
    """Set out for the provider, which sends back at once: to where."""
    query = {"next": following} if following else {}
    answer = visitor.get("/login/openid", params=query, follow=False)
    assert answer.status_code == 303
    return httpx.get(answer.headers["location"], verify=False).headers["location"]  # http: no certificates to read


def back(visitor, address):
    """Come back from the provider, as its redirection says."""
    parts = urlsplit(address)
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "service", BACK)
    return visitor.get(f"{parts.path}?{parts.query}")


def signed_in(visitor, following=""):
    answer = back(visitor, there(visitor, following))
    assert answer.status_code == 200, answer.text
    return answer


def refused(visitor, answer, why=""):
    """Nobody was signed in: the sign-in page says so in one sentence, and the cookie opens nothing."""
    assert answer.status_code == 401, why
    assert "You are not signed in" in answer.text
    assert "location" not in answer.headers
    assert visitor.get("/releases", follow=False).headers["location"].startswith("/login")


def test_somebody_vouched_for_is_signed_in_and_out(app, visitor, service, provider):
    """The page asks for what was wanted; the cookie is a random number that only the service can read more of; after
    the sign-out it opens nothing, wherever it was copied to."""
    page = visitor.get("/login", params={"next": "/release?name=admissions"})
    assert "/login/openid?next=%2Frelease%3Fname%3Dadmissions" in page.text
    done = signed_in(visitor, "/release?name=admissions")
    assert 'content="0;url=/release?name=admissions"' in done.text
    cookies = {name: value for name, value in visitor.jar.items() if name.startswith("__Host-")}
    assert set(cookies) == {"__Host-utmost"}
    assert re.fullmatch(r"session\.[\w-]{43}", cookies["__Host-utmost"])  # 32 bytes, and no room for a statement
    assert "<b>Bo</b>" in visitor.get("/releases").text
    copy = dict(visitor.jar.items())
    assert visitor.fill(visitor.get("/releases"), "/logout", follow=False).status_code == 303
    visitor.jar = httpx.Cookies(copy)
    assert visitor.get("/releases", follow=False).headers["location"].startswith("/login")


def test_cookies_are_for_this_site_alone(visitor):
    """Both are kept from scripts and from the clear; that of the way is sent when another site leads back, for ten
    minutes; that of the session never."""
    out = visitor.get("/login/openid", follow=False)
    cookie = out.headers["set-cookie"]
    assert all(word in cookie for word in ("__Host-utmost-way=", "HttpOnly", "Secure", "SameSite=lax", "Max-Age=600"))
    answer = back(visitor, httpx.get(out.headers["location"], verify=False).headers["location"])
    (kept,) = (one for one in answer.headers.get_list("set-cookie") if one.startswith("__Host-utmost=session."))
    assert all(word in kept for word in ("HttpOnly", "Secure", "SameSite=strict", "Path=/"))
    assert "Max-Age" not in kept


def test_the_code_is_asked_for_as_the_standard_says(visitor, provider):
    """PKCE with SHA-256, a state and a nonce of 256 bits that are fresh each time, and a client that shows itself by
    a secret which the browser never sees."""
    addresses = [visitor.get("/login/openid", follow=False).headers["location"] for _ in range(2)]
    asked = [parse_qs(urlsplit(address).query) for address in addresses]
    for name in ("state", "nonce", "code_challenge"):
        assert len({one[name][0] for one in asked}) == 2
        assert all(len(one[name][0]) == 43 for one in asked)
    assert asked[0]["scope"] == ["openid groups"]
    assert asked[0]["redirect_uri"] == [f"https://service{BACK}"]
    assert "tenant" in asked[0]
    assert SECRET not in "".join(addresses)
    signed_in(visitor)
    form, header = provider.exchanged[-1]
    assert header.startswith("Basic ")
    assert "client_secret" not in form
    assert len(form["code_verifier"]) == 43


@pytest.mark.parametrize("how", ["client_secret_post", "none"])
def test_other_kinds_of_clients(visitor, provider, service, settings, how):
    """One that says its secret in the form, where the provider wants it so; and one without a secret."""
    if how == "none":
        provider.has_secret = False
        visitor.app = application(service, replace(settings, oidc_secret_file=""))
    provider.about = {"token_endpoint_auth_methods_supported": [how]}
    signed_in(visitor)
    form, header = provider.exchanged[-1]
    assert (header, form["client_id"], form.get("client_secret")) == ("", CLIENT, None if how == "none" else SECRET)


# What any statement of a provider is refused for stands in test_openid.py.
WRONG = {
    "another nonce": {"nonce": "x" * 43},
    "no nonce": {"nonce": None},
    "a nonce that is no text": {"nonce": 7},
    "another audience in a list": {"aud": ["payroll"]},
    "several audiences, for nobody in particular": {"aud": [CLIENT, "payroll"]},
    "several audiences, for another": {"aud": [CLIENT, "payroll"], "azp": "payroll"},
    "one audience, for another": {"azp": "payroll"},
    "it has no beginning": {"iat": None},
    "it was made tomorrow": {"iat": int(time.time()) + 86_400},
    "somebody who may do nothing": {"sub": "eve"},
    "somebody who says to be a group": {"sub": "claim groups=statisticians"},
    "somebody of another group": {"sub": "eve", "groups": ["statistician", "managers", "the", ""]},
    "groups that are none": {"sub": "eve", "groups": {"statisticians": True}},
    "a group by part of its name": {"sub": "eve", "groups": "the statisticians"},
}


def test_a_statement_that_says_something_else(app, provider):
    for why, claims in WRONG.items():
        provider.changed, visitor = claims, Visitor(app, scheme="https")
        refused(visitor, back(visitor, there(visitor)), why)


FORGERS = {
    "another key": lambda claims: jwt.encode(claims, OTHER_KEY, "RS256", headers={"kid": "k"}),
    "its own key in the header": lambda claims: jwt.encode(
        claims, OTHER_KEY, "RS256", headers={"kid": "k", "jwk": {"kty": "RSA"}, "jku": "https://evil.example"}
    ),
    "no text": lambda claims: 7,
}


def test_a_statement_that_somebody_else_made(app, provider):
    for how, forged in FORGERS.items():
        provider.signs, visitor = forged, Visitor(app, scheme="https")
        refused(visitor, back(visitor, there(visitor)), how)


def test_a_code_is_carried_out_once(app, visitor, provider):
    """The same way back a second time, here and in another browser, even where the provider would give again."""
    address = there(visitor)
    way = dict(visitor.jar.items())
    code = parse_qs(urlsplit(address).query)["code"][0]
    known = dict(provider.codes[code])
    assert back(visitor, address).status_code == 200
    for cookies in (way, {}):
        provider.codes[code] = dict(known)
        other = Visitor(app, scheme="https")
        other.jar = httpx.Cookies(cookies)
        refused(other, back(other, address))


def test_a_way_back_that_somebody_else_took(app, visitor, provider):
    """A stranger's code does not sign this browser in: with his state, with this one's, without a cookie, without a
    state, from another issuer, with an error beside, or when it took too long."""
    stranger = Visitor(app, scheme="https")
    his = there(stranger)
    refused(visitor, back(visitor, his))
    mine = there(visitor)
    query = {name: values[0] for name, values in parse_qs(urlsplit(mine).query).items()}
    his_code = parse_qs(urlsplit(his).query)["code"][0]
    wrong = [
        {"state": "x" * 43},
        {"state": ""},
        {"state": "\udcff\u0663"},
        {"iss": "https://id.example"},
        {"iss": ""},
        {"error": "access_denied", "error_description": "<script>"},
        {"code": ""},
        {"code": "x" * 5000},
        {"code": "\x00"},
        {"code": his_code},  # bound to his browser by PKCE: the provider refuses
    ]
    for changed in wrong:
        other = Visitor(app, scheme="https")
        other.jar = httpx.Cookies(dict(visitor.jar.items()))
        answer = other.get(
            BACK, params={name: value.encode("utf-8", "replace") for name, value in (query | changed).items()}
        )
        refused(other, answer)
        assert "script&gt;" not in answer.text
    assert back(visitor, mine).status_code == 200  # none of it used up the right way


def test_a_way_that_was_changed_or_took_too_long(app, visitor, provider, monkeypatch):
    """The cookie of the way is known again by its MAC, and for ten minutes."""
    address = there(visitor)
    kept = dict(visitor.jar.items())
    way = kept["__Host-utmost-way"]
    for changed in ("", "x", way[:-1], "A" + way[1:], way.replace(".", "..", 1), way.split(".")[0]):
        other = Visitor(app, scheme="https")
        other.jar = httpx.Cookies(kept | {"__Host-utmost-way": changed})
        refused(other, back(other, address))
    late = time.time() + 601
    monkeypatch.setattr(app.inside.state, "sign_in", replace(app.inside.state.sign_in, clock=lambda: late))
    refused(visitor, back(visitor, address))


def test_no_sign_in_leads_elsewhere(app):
    """Whatever page was asked for, one of this site follows."""
    wrong = ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"]
    for following in [*wrong, "/\t/evil.example", "evil"]:
        done = signed_in(Visitor(app, scheme="https"), following)
        assert 'content="0;url=/releases"' in done.text, following
        assert "evil" not in done.text


def test_groups_give_roles_and_persons_stay_apart(app, service, provider):
    """A claim of the provider gives the role of its token. Each of a group is a person of its own: what one proposes
    a second one approves, and nobody both; one of the group cannot revoke the token of all."""
    people = {}
    for name, group in (("ada", "statisticians"), ("eva", ["x", "statisticians"]), ("grace", "the managers")):
        provider.person = {"sub": name, "groups": group}
        people[name] = Visitor(app, scheme="https")
        signed_in(people[name])
    ada = people["ada"]
    page = ada.get("/releases")
    assert f"<b>{provider.issuer} ada</b>curator" in page.text
    asked = {"epsilon": "1", "reason": "shorter"}
    page = ada.get("/release?name=admissions")
    made = ada.fill(page, "/proposals", **asked)
    assert "waits for a second person" in made.text
    token = service.bearers.of_claims(provider.issuer, {"sub": "ada", "groups": "statisticians"})
    (proposal,) = (one for one in service.proposals.all(token) if one.state == "proposed")
    assert proposal.proposer == f"{provider.issuer} ada"
    provider.person = {"sub": "ada", "groups": "the managers"}
    both = Visitor(app, scheme="https")
    signed_in(both)
    assert "/proposals/decision" not in both.proposal().text
    token = service.bearers.of_claims(provider.issuer, {"sub": "ada", "groups": ["the managers"]})
    with pytest.raises(NotAllowed, match="second person"):
        service.proposals.decide(token, proposal.name, "approved")
    with pytest.raises(NotAllowed, match="admin"):
        service.bearers.revoke(token, token.name)
    grace = people["grace"]
    assert "Approved." in grace.fill(grace.proposal(), "/proposals/decision", {"state": "approved"}).text


def test_one_key_of_two_people_with_one_token(service, provider):
    """Who shares a token by a group shares no idempotency key: each request under it is its sender's own."""
    issuer = "https://id.example"
    service.bearers.make(None, "s", "statisticians", "curator", ALL, subject=f"claim groups=s {issuer}")
    ada, eva = (service.bearers.of_claims(issuer, {"sub": name, "groups": "s"}) for name in ("ada", "eva"))
    first, second = (propose_by(service, one, "1", "publish", "x", level(1), terms=TERMS) for one in (ada, eva))
    assert first.name != second.name
    assert (first.proposer, second.proposer) == (f"{issuer} ada", f"{issuer} eva")


def test_what_is_revoked_is_over_at_once(app, visitor, service, provider, who, clock):
    """A token that is revoked, a person who is kept out by a revoked token of its own, and eight hours."""
    signed_in(visitor)
    admin = who("Root", "admin")
    (own,) = (one for one in service.bearers.all(admin) if one.subject == f"{provider.issuer} bo")
    service.bearers.revoke(admin, own.name)
    provider.person = {"sub": "bo", "groups": "statisticians"}
    refused(visitor, back(visitor, there(visitor)))  # his own token counts, and that is revoked
    provider.person = {"sub": "eva", "groups": "statisticians"}
    eva = Visitor(app, scheme="https")
    signed_in(eva)
    assert eva.get("/releases", follow=False).status_code == 200
    service.bearers.make(None, "e", "Eva", "recipient", (Grant("none"),), subject=f"{provider.issuer} eva")
    assert eva.get("/publish").status_code == 403  # from now on she is who she is
    clock.now += 8 * 3600
    assert eva.get("/releases", follow=False).headers["location"].startswith("/login")


def test_sessions_that_are_over_are_swept_out(service, clock):
    """The records do not grow with sign-ins."""
    service.bearers.make(None, "b", "Bo", "recipient", ALL, subject="https://id.example bo")
    for way in range(20):
        service.sessions.begin("https://id.example", {"sub": "bo", "email": "bo@id.example"}, f"way {way}", 60)
        clock.now += 3601
    kept = service.context.records.read(lambda store: [store.all(kind) for kind in ("session", "sign-in")])
    assert [len(found) for found in kept] == [1, 1]
    assert "email" not in str(kept)


def test_the_secret_of_a_session_is_no_bearers(app, visitor):
    """Nor in the form for tokens; and a token of the provider is none for the API, where no audience is named."""
    signed_in(visitor)
    held = dict(visitor.jar.items())["__Host-utmost"]
    assert Caller(app, held)("GET", "/v1/me").status_code == 401
    other = Visitor(app, scheme="https")
    assert other.fill(other.get("/login"), "/login", token=held).status_code == 401
    statement = jwt.encode({"sub": "bo"}, KEY, "RS256", headers={"kid": "k"})
    assert Caller(app, statement)("GET", "/v1/me").status_code == 401


def test_without_a_provider_there_is_no_way(service):
    visitor = Visitor(application(service, Settings(rate=1e6, burst=10**6)))
    assert "Sign in with" not in visitor.get("/login").text
    assert visitor.get("/login/openid").status_code == 404
    assert visitor.get(BACK).status_code == 404
    visitor.jar = httpx.Cookies({"utmost": "session." + "A" * 43})
    assert visitor.get("/releases", follow=False).headers["location"].startswith("/login")


@pytest.mark.parametrize("status", [500, 503])
def test_a_provider_that_is_out_of_order(visitor, provider, status):
    """It is no fault of whoever signs in: ask again."""
    provider.status = status
    assert back(visitor, there(visitor)).status_code == 503


@pytest.mark.parametrize("changed", [{"token_endpoint": "http://id.example/token"}, {"token_endpoint": None}])
def test_a_secret_is_not_sent_in_the_clear(visitor, provider, changed):
    provider.about = changed
    assert back(visitor, there(visitor)).status_code == 503
    assert provider.exchanged == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"oidc_client": "x", "oidc_issuer": "https://id.example"},
        {"oidc_client": "x"},
        {"oidc_issuer": "https://id.example"},
        {"oidc_scopes": "email"},
        {"session_hours": 0.0},
        {"session_hours": float("inf")},
    ],
)
def test_settings_that_cannot_be(wrong):
    with pytest.raises(OutOfRange):
        Settings(**wrong)


def test_a_service_in_the_clear_is_nobodys_way_back(service, settings):
    with pytest.raises(OutOfRange):
        application(service, replace(settings, address="http://ledger.example"))


def test_a_secret_that_is_not_there(service, settings, tmp_path):
    (tmp_path / "empty").write_text("\n")
    for name in ("none", "empty"):
        with pytest.raises(KeyRefused):
            application(service, replace(settings, oidc_secret_file=str(tmp_path / name)))


@pytest.mark.parametrize("subject", ["claim ", "claim groups", "claim groups= x", "claim =v x", "claim groups=v"])
def test_a_claim_that_is_none(service, subject):
    with pytest.raises(OutOfRange):
        service.bearers.make(None, "k", "a group", "recipient", ALL, subject=subject)
