"""Make, check, list and revoke the tokens of a service."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from utmost.core.exact.numbers import Number, exact
from utmost.errors import NotAllowed, NotAuthenticated, OutOfRange, UnknownRecord, UtmostError
from utmost.interfaces.service.access.tokens import (
    EVERY,
    Grant,
    Token,
    bearer,
    check_role,
    check_subject,
    checked_token,
    claim_of,
    fresh_secret,
    is_in_group,
    read_bearer,
)
from utmost.interfaces.service.records import RecordTransaction
from utmost.interfaces.service.service_context import ServiceContext, tokens_of
from utmost.publish.ledger.names import SAME_IN_NAMES, check_name, lookalike_of, mixes_alphabets

SOON = 14 * 86_400
"""A notice is sent when a token ends within two weeks, in seconds."""

EXPIRES = "expires"


class Bearers:
    """Makes, checks, lists and revokes the tokens of a service."""

    __slots__ = ("_context",)

    def __init__(self, context: ServiceContext) -> None:
        self._context = context

    def authenticated(self, presented: object) -> Token:
        """Return the valid token for a presented text; refuse unknown, expired and revoked tokens with one message."""
        name, digest = read_bearer(presented)
        record = self._context.records.read(lambda store: store.get("token", name))
        return checked_token(None if record is None else Token.of_kept(name, record), digest, self._context.clock())

    def of_claims(self, issuer: str, claims: Mapping[str, Any]) -> Token:
        """Return the newest valid token for the person whom an OpenID provider identifies by signed claims."""
        # Tokens for one person take precedence over tokens for a group, so that revoking them keeps the person out. A
        # group's token is returned with the provider's name of the person as owner: two members are two persons.
        now, person, all_tokens = self._context.clock(), f"{issuer} {claims['sub']}", self._tokens()
        own = [token for token in all_tokens if token.subject == person]
        shared = [token for token in all_tokens if token.is_shared and is_in_group(token.subject or "", issuer, claims)]
        # If a person has a personal token, only that token counts, even after it was revoked: this keeps somebody out
        # of a group.
        valid = [token for token in own or shared if token.is_valid(now)]
        if not valid:
            raise NotAuthenticated(
                "you need a valid token here",
                came="none for your account",
                remedy="Ask an administrator of this service for a token.",
            )
        token = max(valid, key=lambda token: (token.made, token.name))
        if not token.is_shared:
            return token
        try:
            return replace(token, owner=check_name(person, "owner"))
        except UtmostError:  # the message must not repeat the provider's name of a person
            raise NotAuthenticated("a subject must have a name of at most 200 printable characters") from None

    def needed_claims(self) -> frozenset[str]:
        """Return the names of the OpenID claims that decide who is a member of a token's group."""
        return frozenset(claim_of(token.subject or "")[0] for token in self._tokens() if token.is_shared)

    def make(
        self,
        token: Token | None,
        key: str,
        owner: str,
        role: str,
        grants: tuple[Grant, ...],
        *,
        days: Number = 90,
        subject: str | None = None,
    ) -> tuple[Token, str | None]:
        """Make a token; return it and the text to present (None for an OpenID subject or a repeated request)."""
        # `token` belongs to the person who makes the new token; it is None for the service's operator. `key` identifies
        # the request. `subject` is a person or a group of an OpenID provider, who needs no secret.
        if token is not None:
            token.check("tokens")
        check_name(owner, "owner")
        check_role(role)
        if subject is not None:
            check_subject(subject)
        seconds = int(exact(days, "days") * 86400)
        # A token ends after at most 366 days, so that an admin decides again who may do what.
        if not 0 < seconds <= 366 * 86400:
            raise OutOfRange(
                "days must be above 0 and at most 366", came="another number", remedy="Pass, for example, days=90."
            )
        if not grants:
            remedy = 'Pass "*" for every release, or the names of some releases.'
            raise OutOfRange("grants must name at least one release", came="none", remedy=remedy)
        for grant in grants:
            if grant.release != EVERY:
                check_name(grant.release, "release")
        maker = token if token is not None else Token("0" * 24, "service", "admin", (Grant(EVERY),), 0, 1 << 40)
        name, now = self._context.record_name("token", maker, key), int(self._context.clock())
        secret, digest = fresh_secret() if subject is None else (None, None)
        fresh = Token(name, owner, role, grants, now, now + seconds, digest, subject)
        about = [owner, role, [grant.kept() for grant in grants], str(seconds), subject]

        def work(store: RecordTransaction) -> tuple[Token, str | None]:
            record = self._context.earlier_record(store, "token", name, about)
            if record is not None:
                # The secret is stored nowhere, so it cannot be shown again.
                return Token.of_kept(name, record), None
            _check_owner(store, fresh)
            store.put("token", name, fresh.kept())
            self._context.trail(store, maker, "make token", made=name, bearer=owner, role=role)
            return fresh, None if secret is None else bearer(name, secret)

        return self._context.records.write(work)

    def all(self, token: Token) -> list[Token]:
        """Return all tokens, oldest first."""
        token.check("tokens")
        return sorted(self._tokens(), key=lambda bearer: (bearer.made, bearer.name))

    def first_spelling(self, owner: str) -> str:
        """Return an owner's name as the first token with a lookalike name spells it, or unchanged if there is none."""
        return self._context.records.read(lambda store: _twin(store, owner)) or owner

    def any(self) -> bool:
        """Check whether any token was ever made."""
        return bool(self._context.records.read(lambda store: store.all("token", most=1)))

    def revoke(self, token: Token, name: str) -> Token:
        """Revoke a token by name; anybody may revoke their own token, unless a group shares it."""
        if name != token.name or token.is_shared:
            token.check("tokens")

        def work(store: RecordTransaction) -> Token:
            record = store.get("token", name)
            if record is None:
                raise UnknownRecord(
                    "name must be the name of a token", came=name, remedy="Choose a name from the list of tokens."
                )
            revoked = Token.of_kept(name, record).revoked_at(self._context.clock())
            if revoked.kept() != record:
                # The last admin's token cannot be revoked, since nobody could then make tokens. A token for an OpenID
                # person counts only if it sends this request: another such person can perhaps no longer sign in.
                now, all_tokens = self._context.clock(), tokens_of(store)
                usable_admins = {
                    admin.name
                    for admin in all_tokens
                    if admin.may("tokens") and admin.is_valid(now) and (admin.digest or admin.name == token.name)
                }
                if usable_admins and usable_admins <= {revoked.name}:
                    remedy = (
                        "Make another admin's token for all releases first, or let another admin revoke this token."
                    )
                    raise NotAllowed(
                        "the last valid token of an admin must not be revoked", came="this token", remedy=remedy
                    )
                store.put("token", name, revoked.kept())
                self._context.trail(store, token, "revoke", revoked=name)
            return revoked

        return self._context.records.write(work)

    def note_expiring(self) -> None:
        """Send one notice for each token that expires soon."""
        now = self._context.clock()

        def work(store: RecordTransaction) -> None:
            for token in tokens_of(store):
                if token.is_valid(now) and token.expires - now < SOON and store.get(EXPIRES, token.name) is None:
                    store.put(EXPIRES, token.name, {})
                    store.notices.append(EXPIRES)

        self._context.records.write(work)

    def last_admin_until(self) -> int | None:
        """Return the time when the last token that can make tokens expires, in seconds since 1970; None without one."""
        # Tokens for an OpenID person count only if no token has a secret: the person can perhaps no longer sign in.
        now = self._context.clock()
        admins = [token for token in self._tokens() if token.may("tokens") and token.is_valid(now)]
        own = [token for token in admins if token.digest is not None]
        return max((token.expires for token in own or admins), default=None)

    def _tokens(self) -> list[Token]:
        return self._context.records.read(tokens_of)


def _check_owner(store: RecordTransaction, new: Token) -> None:
    """Check that no other owner has a similar-looking name, and that an OpenID subject has one owner."""
    # Two owners with lookalike names would count as one person, permanently.
    owner, subject = new.owner, new.subject
    others = [token for token in tokens_of(store) if subject is not None and token.subject == subject]
    if not new.is_shared and any(token.owner != owner for token in others):
        raise OutOfRange(
            f"a subject must belong to only one owner, and this subject belongs to {others[0].owner!a}",
            came=ascii(owner),
            where="subject",
            remedy="Name this owner; for another person, give the subject of that person.",
        )
    if mixes_alphabets(owner) and owner not in {token.owner for token in tokens_of(store)}:
        raise OutOfRange(
            "a word of an owner's name must have letters of one alphabet, Latin, Cyrillic or Greek",
            came=ascii(owner),
            where="owner",
            remedy="Type the name again, in one alphabet.",
        )
    twin = _twin(store, owner)
    if twin is not None:
        raise OutOfRange(
            f"the name of an owner must differ from {twin!a} by more than {SAME_IN_NAMES}",
            came=ascii(owner),
            where="owner",
            remedy="For the same person, use the first spelling; for another person, choose another name.",
        )


def _twin(store: RecordTransaction, owner: str) -> str | None:
    return lookalike_of(owner, (token.owner for token in tokens_of(store)))
