"""One person under several names is one person: who proposes decides nothing.

The admin of a first start is made as the command makes it.
"""

from dataclasses import replace

import pytest

from service.conftest import ALL, TERMS
from service.publications import propose_by
from utmost.errors import NotAllowed, OutOfRange
from utmost.exact import level

ONE_STORE = True

ISSUER = "https://id.example"
SUBJECT = f"{ISSUER} s1"
ONE = level(1)


@pytest.fixture
def made(service):
    """Makes a token."""

    def token(owner, role, grants=ALL, subject=None):
        about = (None, f"{owner} {role} {subject}", owner, role, grants)
        try:
            return service.bearers.make(*about, subject=subject)[0]
        except OutOfRange:  # which no owner is given
            one = replace(service.bearers.make(*about)[0], subject=subject)
            service.context.records.write(lambda store: store.put("token", one.name, one.kept()))
            return one

    return token


@pytest.mark.parametrize("order", ["linked before", "linked after"])
def test_names_that_tokens_join_are_one_person(service, made, order):
    """Ada has a token of her own and one by a provider; the provider's name has another owner's name, too."""
    mine = made("Ada", "curator")
    links = [("Ada", "curator"), ("A. Lovelace", "approver")]
    if order == "linked before":
        for owner, role in links:
            made(owner, role, subject=SUBJECT)
    proposal = propose_by(service, mine, "p", "publish", "x", ONE, terms=TERMS)
    if order == "linked after":
        for owner, role in links:
            made(owner, role, subject=SUBJECT)
    decider = service.bearers.of_claims(ISSUER, {"sub": "s1"})
    for token in (decider, made("A. Lovelace", "approver"), made("Ada", "approver")):
        with pytest.raises(NotAllowed, match="second person"):
            service.proposals.decide(token, proposal.name, "approved")
    assert service.proposals.decide(made("Grace", "approver"), proposal.name, "approved").state == "approved"


def test_an_admin_whom_nobody_can_be_is_not_the_last(service, made):
    """A provider's subject may be misspelt; the one who comes is there, and so is whoever has a secret."""
    admin = made("root", "admin")
    ghost = made("ghost", "admin", subject=f"{ISSUER} typo")
    with pytest.raises(NotAllowed, match="last valid"):
        service.bearers.revoke(admin, admin.name)
    own = made("Ada", "admin", subject=SUBJECT)
    assert service.bearers.revoke(own, admin.name).revoked
    with pytest.raises(NotAllowed, match="last valid"):
        service.bearers.revoke(own, own.name)
    assert service.bearers.revoke(own, ghost.name).revoked


@pytest.mark.parametrize("subject", ["", " ", "ada", "https://id.example", "https://id.example ", "a\nb c", "claim x"])
def test_what_is_no_subject_is_refused(service, subject):
    with pytest.raises(OutOfRange, match="subject"):
        service.bearers.make(None, "k", "Ada", "curator", ALL, subject=subject)


@pytest.mark.parametrize("owner", ["Pi\u0430", "\u0420\u0456\u0430", "\u03a1ia", "PI\u0410"])
def test_a_name_of_look_alike_letters_is_no_other_person(service, owner):
    """Cyrillic or Greek letters, in one word with Latin ones or alone: the second Pia would decide Pia's proposals."""
    make = lambda name: service.bearers.make(None, name, name, "approver", ALL)[0]  # noqa: E731
    make("Pia")
    with pytest.raises(OutOfRange, match=r"look-alike letters|one alphabet"):
        make(owner)
    for other in ("Анна", "Άννα", "Пётр Ильич", "Anna Петрова"):
        assert make(other).owner == other
    with pytest.raises(OutOfRange, match="look-alike letters"):
        make("анна")
