"""Departures from New York, from events to tables and back a year later: python publish_departures.py FOLDER."""

import sys
from pathlib import Path

import utmost as ut

events, folder = Path(__file__).with_name("departures.csv.gz"), Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
age = ut.workloads.edges([0, 5, 10, 15, 20, None], missing="not stated")
delay = ut.workloads.edges([None, 0, 15, 60, None], missing="cancelled")
domain = ut.Domain(date=ut.workloads.periods("2013", "2014", every="quarter"), age=age, delay=delay)
aircraft = ut.Counting("aircraft", key=bytes(32))  # each aircraft is protected, with all its flights
once = ut.Counting("aircraft", at_most=1, key=bytes(32))
distance = ut.sum("distance", each=(0, 3000), most_events=100)
spent = {"dataset": "aircraft"}

with ut.Ledger.open(folder / "departures.db", create=True) as ledger:
    often = ut.count_contributions(events, domain, ut.Counting("aircraft"), "in_total", [50, 100, 200, 300, 500])
    plan = ut.workloads.Plan(often.domain, often.unit, {"in_total": 1})
    needed = ledger.publish("often", often, plan, epsilon="1/5", **spent)
    costs = ut.statements.bound_costs(needed, domain, epsilon=2)
    flights = ut.count_table(events, domain, aircraft, measure=ut.count(in_total=costs.best))
    miles = ut.count_table(events, {"age": age}, once, measure=distance)
    print(costs, flights.report, sep="\n")  # the report is for the curator's eyes alone

    wanted = ut.Workload(domain, {"date age": 1, "age delay": 2, "delay": 1, "": 1})
    plan = ut.choose_plan(wanted, flights.unit, epsilon="1/2", up_to=2)
    sums = ut.choose_plan(ut.Workload(miles.domain, {"age": 1}), miles.unit, epsilon="4/5")
    first = ledger.publish("flights", flights, plan, epsilon="1/2", **spent).table
    both = ledger.publish("miles", miles, sums, epsilon="4/5", **spent).table
    print(plan, both["age"], both.mean(where={"age": "20+"}), sep="\n")
    later = ledger.relax("flights", flights, epsilon=2).table  # a year later: 2 in all, not 1/2 + 2
    for year, release in {2014: first, 2015: later}.items():
        table = release.withhold("age delay", relative_margin="1/2")["age delay"]
        table.save(folder / f"flights-{year}.csv")  # and its statement beside it
        print(year, table.shown, "of", table.cells, "cells;", release.median("delay", where={"age": "20+"}))
    print(later.statement["guarantee"], ledger.status().datasets[0].spent, sep="\n")
