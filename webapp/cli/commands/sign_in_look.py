"""What ``patchbay check`` says of the OpenID provider at which people sign in (PATCHBAY_OIDC_ISSUER)."""

from webapp.cli.commands.database_looks import Looks
from webapp.kit.clock import now
from webapp.people.oidc import id_tokens
from webapp.people.oidc.metadata import Metadata, Source, Unreachable
from webapp.service.components.calls import USER_AGENT
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard
from webapp.settings import Settings


def sign_in(settings: Settings) -> Looks:
    """Whether it answers as the one that the settings name, and can do what signing in here takes."""
    issuer = settings.oidc_issuer
    if not issuer:
        return
    source = Source(OutboundClient(Guard(settings.allow_hosts), user_agent=USER_AGENT), now, issuer)
    try:
        metadata, keys = source.metadata(), source.keys()
    except Unreachable as error:
        yield "problem", f"{issuer} cannot be used: {error}. Check PATCHBAY_OIDC_ISSUER and PATCHBAY_ALLOW_HOSTS."
        return
    if not keys.get("keys") or not _signs_as_we_can_check(metadata):
        yield "problem", f"{issuer} signs in no way that can be checked here; let it sign by RS256 or ES256."
        return
    yield "ok", f"{issuer} answers. It has to know {settings.public_url}/sign-in/oidc/callback as a redirect URI."
    lacking = set(settings.oidc_scopes) - set(metadata.names("scopes_supported", settings.oidc_scopes))
    if lacking:
        yield "note", f"It does not advertise {', '.join(sorted(lacking))}, which PATCHBAY_OIDC_SCOPES asks for."


def _signs_as_we_can_check(metadata: Metadata) -> bool:
    return not set(id_tokens.ALGORITHMS).isdisjoint(metadata.names("id_token_signing_alg_values_supported", ("RS256",)))
