"""The viewer of a portal's page: the user of its Connect token, with the rights of that token."""

from dataclasses import dataclass, field

from webapp.dashboard.client.connect import TokenClient
from webapp.dashboard.dashboard import Viewer, dashboard
from webapp.dashboard.portal.sessions import PortalSession
from webapp.kit.crypto import hash_token

ROLE = "portal"  # no role of a login: nothing of Build, no settings, no audit


@dataclass(frozen=True, slots=True)
class PortalViewer(Viewer):
    """An external user to whom a product shows their own pages."""

    session: PortalSession = field(kw_only=True)

    @property
    def key(self) -> str:
        """Tokens of one user that may do different things see different things."""
        return f"{self.session.facts.scope}|{self.session.viewer}"

    def here(self, name: str) -> str:
        """The portal's scene, which is its token's."""
        facts = self.session.facts
        return f"portal {facts.project_id} {facts.project_environment} {name}"

    @property
    def owner(self) -> str:
        """Drafts outlive a token."""
        return self.session.viewer

    def may(self, scope: str) -> bool:
        """Whether the token has ``scope``, if any is needed."""
        return not scope or self.session.facts.admits(scope)


@dataclass(frozen=True, slots=True)
class DemoViewer(PortalViewer):
    """Somebody who opened a demo link. All of them act for one user, and see nothing of each other."""

    @property
    def owner(self) -> str:
        """Drafts are those of one opening."""
        return f"demo {hash_token(self.session.handle)[:32]}"

    @property
    def has_history(self) -> bool:
        """The runs of its user are those of all visitors."""
        return False


def of(session: PortalSession) -> PortalViewer:
    """The viewer of ``session``, whose calls are made with its very token."""
    board = dashboard()
    look = {"theme": session.look.theme, "language": session.look.language}
    client = TokenClient(board.client.transport, board.clock, session.token, session.facts, look)
    kind = DemoViewer if session.demo_link else PortalViewer
    return kind(session.facts.external_user_id, ROLE, client, session=session)
