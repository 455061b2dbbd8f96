"""The first start of a service: publish a demo release in a new ledger, and make the first tokens, shown once."""

from utmost.core.privacy.unit import Unit
from utmost.core.sampling.random_bits import entropy
from utmost.interfaces.service.access.tokens import EVERY, Grant
from utmost.interfaces.service.service import Service
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.promises.promise import Promise
from utmost.tables.admissions import ADMISSIONS

DEMO = "admissions-1973"


def publish_demo(ledger: Ledger) -> None:
    """Publish a public table as an example, at epsilon 1/4, and relax it to 1."""
    table = {name: ADMISSIONS[name] for name in ("department", "sex", "admitted")}
    promise = Promise("admitted", public=["department", "sex"], unit=Unit(1, 1))
    ledger.publish(DEMO, table, promise, epsilon="1/4")
    ledger.relax(DEMO, table, epsilon=1)


_EVERY = (Grant(EVERY),)


def new_admin(service: Service) -> str:
    """Make a token for the service's operator, an admin for ninety days; return the text to present."""
    owner = service.bearers.first_spelling("admin")
    presented = service.bearers.make(None, f"admin {entropy(16).hex()}", owner, "admin", _EVERY)[1]
    assert presented is not None
    return presented


def first_tokens(service: Service) -> dict[str, str]:
    """If there are no tokens yet, make an admin's and a curator's for ninety days; return the texts to present."""
    if service.bearers.any():
        return {}
    tokens = {role: service.bearers.make(None, f"first {role}", role, role, _EVERY)[1] for role in ("admin", "curator")}
    return {role: presented for role, presented in tokens.items() if presented is not None}
