"""The first start of a service: a demo release where the ledger is new, and the first tokens, said once."""

from utmost.doors.service.service import Service
from utmost.doors.service.tokens import EVERY, Grant
from utmost.publish.ledger import Ledger
from utmost.publish.tables.admissions import ADMISSIONS

DEMO = "admissions-1973"


def publish_demo(ledger: Ledger) -> None:
    """Publish a public table as an example: at epsilon 1/4, relaxed to 1, so that there is something to look at."""
    table = {name: ADMISSIONS[name] for name in ("department", "sex", "admitted")}
    promise = {"columns": "admitted", "public": ["department", "sex"], "sensitivity": 1, "cells": 1}
    ledger.publish(DEMO, table, **promise, epsilon="1/4")  # type: ignore[arg-type]
    ledger.relax(DEMO, table, epsilon=1)


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
