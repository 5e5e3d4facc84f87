"""What is over of people's agents (``/mcp/oauth``): the worker forgets it."""

from webapp.people.agents import clients, grants, tokens
from webapp.service.domain.base.service import Service


def purge(service: Service) -> int:
    """Forget tokens and grants that are over, and agents that nobody let in; how many there were."""
    now = service.clock()
    over = tokens.purge(service.store, now) + grants.purge(service.store, now)
    return over + clients.purge(service.store, service.clock)
