"""What is said publicly of a release, and its check: built again from its facts and compared."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.publish.statements.comparisons import change as change
    from utmost.publish.statements.comparisons import trend as trend
    from utmost.publish.statements.contribution_costs import bound_costs as bound_costs
    from utmost.publish.statements.places_check import check_places as check_places
    from utmost.publish.statements.printed_statement import statement_page as statement_page
    from utmost.publish.statements.published_files import read_release as read_release
    from utmost.publish.statements.registry_entries import Deployment as Deployment
    from utmost.publish.statements.registry_entries import registry_entry as registry_entry
    from utmost.publish.statements.statement_check import check_statement as check_statement
    from utmost.publish.statements.statement_readers import stated_release as stated_release
    from utmost.publish.statements.withheld_check import check_withheld as check_withheld
    from utmost.publish.statements.workload_files import read_workload as read_workload
    from utmost.publish.statements.yaml_writing import yaml_text as yaml_text
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
