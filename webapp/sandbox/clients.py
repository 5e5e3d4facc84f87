"""The sandbox's only OAuth client, with the methods that Authlib requires (RFC 6749 section 2), and the scopes.

The grants that people give it are left to :mod:`webapp.sandbox.grants`.
"""

from dataclasses import dataclass

from webapp.kit import crypto

SCOPES = {
    "profile": "Read your name and e-mail address",
    "tasks:read": "See projects, their fields and tasks",
    "tasks:write": "Create, change and delete tasks",
    "webhooks": "Be notified at once when tasks are created or changed",
}
DEFAULT_SCOPE = "profile"
AUTH_METHODS = ("client_secret_basic", "client_secret_post")
GRANT_TYPES = ("authorization_code", "refresh_token")


@dataclass(frozen=True, slots=True)
class Client:
    """A confidential client. Its redirect URIs are compared as whole strings (RFC 9700 section 2.1)."""

    client_id: str
    client_secret: str
    redirect_uris: tuple[str, ...]
    name: str

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> str | None:
        """The only registered URI; with several, a request must name one (RFC 6749 section 3.1.2.3)."""
        return self.redirect_uris[0] if len(self.redirect_uris) == 1 else None

    def get_allowed_scope(self, scope: str | None) -> str:
        """The requested scopes that exist, without repetition, or the default scope if none was requested."""
        return " ".join(dict.fromkeys(name for name in (scope or DEFAULT_SCOPE).split() if name in SCOPES))

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri in self.redirect_uris

    def check_client_secret(self, client_secret: str) -> bool:
        return crypto.same(self.client_secret, client_secret)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method in AUTH_METHODS

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in GRANT_TYPES


def in_words(scope: str) -> list[str]:
    """The descriptions of a space-separated scope, in its order."""
    return [SCOPES[name] for name in scope.split() if name in SCOPES]
