"""The failures of a connection: the named endings of the Connect Link (embed "How a connection ends").

The developer gets the code (``error=<code>`` on the error redirect), the person the sentence.
"""

from typing import ClassVar

from webapp.errors import PatchbayError


class ConnectFailed(PatchbayError):
    """The account could not be connected."""

    status = 400
    code: ClassVar[str] = "connect_failed"


class Cancelled(ConnectFailed):
    """You chose not to give access. Nothing was connected."""

    code = "access_denied"


class RejectedByProvider(ConnectFailed):
    """The provider refused the connection."""

    code = "provider_rejected"


class WrongAccount(ConnectFailed):
    """This is not the account that is being reconnected."""

    code = "wrong_account"


class CredentialsRefused(ConnectFailed):
    """The provider did not accept these credentials."""

    code = "invalid_credentials"


class ScopesMissing(ConnectFailed):
    """Access that this connection needs was not granted."""

    code = "missing_scopes"


class ProviderDown(ConnectFailed):
    """The provider does not answer now. Try again in a few minutes."""

    status = 502
    code = "provider_unavailable"


class NoClient(ConnectFailed):
    """No OAuth client is set up for this app yet."""

    code = "no_oauth_client"


class LinkExpired(ConnectFailed):
    """This link has expired. Ask the product that sent you here for a new one."""

    status = 401
    code = "link_expired"


class LinkUsed(ConnectFailed):
    """An account was connected with this link already. Each link connects one account."""

    status = 409
    code = "link_used"


class AttemptUnknown(ConnectFailed):
    """This sign-in was already used, or was started in another browser. Start again from the connect page."""

    code = "invalid_state"
