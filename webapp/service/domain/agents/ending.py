"""Ending an agent's access, and with it the calls that it still waits for."""

from webapp.service.domain.agents import approvals, sessions
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.external_users import ExternalUser


def end(service: Service, user: ExternalUser, session_id: str) -> None:
    """Let an agent in no more, and let nothing run that it asked for. Raises :class:`webapp.errors.NotFound`."""
    sessions.end(service, user, session_id)
    approvals.withdraw(service, session_id)
