"""The first start of a service: a demo release where the ledger is new, and the first tokens, said once."""

from typing import Any

from utmost.ledger import Ledger
from utmost.service.service import Service
from utmost.service.tokens import EVERY, Grant

ADMISSIONS: dict[str, list[Any]] = {
    "department": [letter for letter in "ABCDEF" for _ in range(2)],
    "sex": ["men", "women"] * 6,
    "admitted": [512, 89, 353, 17, 120, 202, 138, 131, 53, 94, 22, 24],
}
"""Those admitted to six departments of the University of California, Berkeley, in 1973.

Source: Bickel, Hammel and O'Connell (1975), as in R's UCBAdmissions.
"""

DEMO = "admissions-1973"


def publish_demo(ledger: Ledger) -> None:
    """Publish a public table as an example: at epsilon 1/4, relaxed to 1, so that there is something to look at."""
    promise = {"columns": "admitted", "public": ["department", "sex"], "sensitivity": 1, "cells": 1}
    ledger.publish(DEMO, ADMISSIONS, **promise, epsilon="1/4")  # type: ignore[arg-type]
    ledger.relax(DEMO, ADMISSIONS, epsilon=1)


def first_tokens(service: Service) -> dict[str, str]:
    """A token of an admin and one of a curator, for ninety days, where there is no token yet.

    Returns:
        What the bearer of each role presents; empty where there are tokens.
    """
    if service.bearers.any():
        return {}
    every = (Grant(EVERY),)
    made = {role: service.bearers.make(None, f"first {role}", role, role, every)[1] for role in ("admin", "curator")}
    return {role: presented for role, presented in made.items() if presented is not None}
