"""What the description of the API says once for all operations: statuses, scopes, and how to begin."""

from collections.abc import Mapping
from typing import Any

from webapp.service.domain.base import scopes

VERSION = "2.0.0"
ABOUT = (
    "Connect your users' accounts at other apps, run the apps' actions with them, and deploy triggers that tell you "
    "what happens there.\n\n"
    "Your server gets an access token with its OAuth client's id and secret, and sends it with every call: "
    "`Authorization: Bearer <token>`. A browser gets a Connect token from your server, which stands for one of your "
    "users and sees that user's things alone; with it every project path also works without its project.\n\n"
    "Paths of a project need the header `x-pd-environment`. Lists come in pages: `after` takes the `end_cursor` of the "
    "page before, which is empty on the last one."
)
STATUSES: Mapping[int, str] = {
    400: "Malformed or invalid; `details` name the fields.",
    401: "No, an unknown, an expired or a revoked token.",
    403: "The scope, origin, environment or user is not allowed.",
    404: "Absent, or somebody else's: the two look the same.",
    409: "It collides with something that already stands.",
    413: "The body is larger than 10 MiB.",
    415: "The body is not JSON.",
    429: "A rate limit is exceeded; `Retry-After` tells for how many seconds.",
    500: "Something went wrong on our side; quote the `request_id` to the operator.",
    502: "The app's own provider failed.",
    503: "The store is busy; try again in a moment.",
    504: "The app's own provider took too long.",
}
SCOPES = {
    scopes.ALL: "Everything",
    scopes.CONNECT: "The whole Connect API",
    scopes.ACTIONS: "Actions",
    scopes.TRIGGERS: "Triggers",
    scopes.AGENTS_READ: "See what agents may do, and what waits for a yes",
    scopes.AGENTS_WRITE: "Change what agents may do, and answer for a user",
    scopes.ACCOUNTS_READ: "List and fetch accounts",
    scopes.ACCOUNTS_WRITE: "Create and remove accounts",
    scopes.DEPLOYED_TRIGGERS_READ: "Read deployed triggers and what belongs to them",
    scopes.DEPLOYED_TRIGGERS_WRITE: "Change and delete deployed triggers",
    scopes.USERS_READ: "List external users",
    scopes.USERS_WRITE: "Delete external users",
    scopes.PROJECTS_READ: "List and fetch projects",
    scopes.PROJECTS_WRITE: "Create, change and delete projects",
    scopes.USAGE_READ: "Read usage",
    scopes.TOKENS_CREATE: "Create Connect tokens",
    scopes.PROXY: "Use the proxy",
    scopes.WORKFLOW_INVOKE: "Invoke workflows on behalf of a user",
}
SECURITY_SCHEMES: Mapping[str, Any] = {
    "oauth": {
        "type": "oauth2",
        "flows": {"clientCredentials": {"tokenUrl": "/v1/oauth/token", "scopes": SCOPES}},
        "description": "For servers: an access token lasts one hour.",
    },
    "connectToken": {"type": "http", "scheme": "bearer", "description": "For frontends: one external user's."},
    "userKey": {"type": "http", "scheme": "bearer", "description": "A person's own API key."},
}
