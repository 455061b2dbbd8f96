"""Read or count the table for `utmost release --plan`."""

from dataclasses import replace
from pathlib import Path

from utmost.errors import OutOfRange
from utmost.interfaces.cli.options.people_options import CountingOptions
from utmost.interfaces.cli.options.shared_options import refuse
from utmost.publish.counting.counted import CountedTable
from utmost.publish.statements.counted_files import COUNTED_FORM, read_domain
from utmost.publish.workloads.planning.plan import Plan
from utmost.tables.axes.domain import Domain
from utmost.tables.cells.spelling import Spelling


def planned_table(
    table: Path, people: CountingOptions, spelling: Spelling, plan: Plan, key: bytes | None
) -> CountedTable:
    """Read a counted table, or count events over the plan's domain, by default with the bounds of the plan."""
    if people.are_events and plan.unit.is_distinct:
        remedy = "Count first, with utmost count TABLE --measures FILE --out counted.json; then release this file."
        raise OutOfRange("a plan for distinct values needs a counted table", came="events", remedy=remedy)
    if people.are_events:
        declared = plan.domain if people.domain is None else read_domain(people.domain)
        if people.at_most is None:
            unit = plan.unit
            in_total = None if unit.in_total is None else unit.text(unit.in_total)
            if unit.amount is None or unit.amount.between is None:
                people = replace(people, per_cell=people.per_cell or unit.text(unit.sensitivity))
            else:
                axes = zip(declared.columns, declared.axes, strict=True)
                declared = Domain({name: axis for name, axis in axes if name != unit.amount.name})
                low, high = unit.amount.ends
                ends, most = f"{unit.text(low)},{unit.text(high)}", unit.sensitivity / (high - low)
                people = replace(people, each=people.each or ends, most_events=people.most_events or int(most))
                if unit.in_total is not None:  # with sums and counts, the bound over all cells is in events
                    in_total = str(unit.in_total // (high - low))
            if not people.each_row:
                people = replace(people, at_most=unit.cells, in_total=people.in_total or in_total)
            if unit.amount is not None and people.values is None:
                people = replace(people, values=unit.amount.name, step=unit.text(1))
            if unit.amount is not None and unit.amount.missing:
                strict = ["nothing but amounts"] if people.is_strict else [*(people.leave_out or []), "amounts"]
                people = replace(people, leave_out=strict)
        if people.neighbours not in (None, plan.unit.neighbours):
            remedy = f"Leave out --neighbours: the plan has {plan.unit.neighbours}."
            raise OutOfRange("--neighbours must be the relation of the plan", came=people.neighbours, remedy=remedy)
        people = replace(people, neighbours=plan.unit.neighbours)
        counted: CountedTable = people.counted(table, declared, spelling, together=plan.together, key=key)
        return counted
    of_events = replace(people, mean=None, neighbours=None)
    refuse("is only for events: a counted table already has its domain and bounds", of_events)
    if table.suffix.lower() != ".json":
        remedy = (
            "Name the .json file that utmost count wrote; or count events by this command: --person COLUMN, or "
            "--each-row."
        )
        raise OutOfRange("--plan needs a counted table", came=table.name, remedy=remedy)
    return COUNTED_FORM.read(table)
