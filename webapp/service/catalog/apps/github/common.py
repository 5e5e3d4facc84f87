"""What GitHub's triggers share: repositories and branches to choose from, addresses, webhooks.

A webhook is registered and told apart as https://docs.github.com/en/webhooks/using-webhooks says.
"""

from typing import Any, ClassVar
from urllib.parse import quote

from webapp.service.catalog.shared import webhooks
from webapp.service.components.authoring import (
    ComponentError,
    Context,
    FindOptions,
    Option,
    Options,
    Trigger,
    app,
    string,
)

PER_PAGE = 100
PAGES_SEARCHED = 5


def _find_repositories(ctx: Context) -> Options:
    """The person's repositories, the last pushed to first. GitHub cannot search in them, so a query looks itself."""
    if not ctx.query:
        return _names(_repositories(ctx, ctx.page + 1), "full_name")
    repositories: list[Any] = []
    for page in range(1, PAGES_SEARCHED + 1) if ctx.page == 0 else ():
        rows = _repositories(ctx, page)
        repositories += [row for row in rows if ctx.query.lower() in row["full_name"].lower()]
        if len(rows) < PER_PAGE:
            break
    return _names(repositories, "full_name")


def _of_the_repository(kind: str) -> FindOptions:
    """Finds what the chosen repository has of a ``kind``, such as its branches, each by its name."""
    return lambda ctx: _names(_page(ctx, _of_repository(ctx, kind)), "name")


repository = string(label="Repository", description="As owner/name.", options=_find_repositories, use_query=True)
branch = string(
    label="Branch",
    description="The default branch unless given.",
    options=_of_the_repository("branches"),
    optional=True,
)


def _of_repository(ctx: Context, *rest: str) -> str:
    """The address of the chosen repository, or of something below it. Raises :class:`ComponentError`."""
    owner, slash, name = (ctx.props.repository or "").strip().partition("/")
    if not (owner and slash and name) or "/" in name:
        raise ComponentError("The repository must be written as owner/name, such as octocat/hello-world.")
    return "/".join(("/repos", quote(owner, safe=""), quote(name, safe=""), *rest))


class WebhookTrigger(Trigger):
    """Emits what a webhook of the chosen repository reports of one ``event``; subclasses add ``http`` and ``db``."""

    dedupe = "unique"
    event: ClassVar[str]

    account = app("github")
    repository = repository

    def activate(self, ctx: Context) -> None:
        secret = webhooks.new_secret()
        config = {"url": ctx.endpoint, "content_type": "json", "secret": secret, "insecure_ssl": "0"}
        webhook = {"name": "web", "active": True, "events": [self.event], "config": config}
        place = _of_repository(ctx, "hooks")
        created = ctx.http.post(place, json=webhook).json()
        webhooks.remember(ctx, f"{place}/{created['id']}", secret)

    def deactivate(self, ctx: Context) -> bool:
        known = webhooks.registered_id(ctx)
        for place in [known] if known else self._existing(ctx):
            webhooks.remove(ctx, place)
        return True

    def _existing(self, ctx: Context) -> list[str]:
        """The webhooks of the repository with our URL. GitHub allows 20 for each event, so one page has them."""
        place = _of_repository(ctx, "hooks")
        hooks = ctx.http.get(place, params={"per_page": PER_PAGE}).json()
        return [f"{place}/{hook['id']}" for hook in hooks if hook["config"].get("url") == ctx.endpoint]

    def signed_event(self, ctx: Context) -> dict[str, Any] | None:
        """The body that GitHub signed; None for a ping, another event, or a wrong signature."""
        expected = "sha256=" + webhooks.hmac_sha256(webhooks.shared_secret(ctx), ctx.event["bodyRaw"])
        if not webhooks.equal(webhooks.header(ctx, "X-Hub-Signature-256"), expected):
            webhooks.log_forged(ctx, "GitHub")
            return None
        payload: dict[str, Any] = ctx.event["body"]
        return payload if webhooks.header(ctx, "X-GitHub-Event") == self.event else None


def delivery(ctx: Context) -> str:
    """The id of a delivery: a redelivery bears that of the first."""
    return webhooks.header(ctx, "X-GitHub-Delivery")


def _repositories(ctx: Context, page: int) -> list[Any]:
    params = {"sort": "pushed", "per_page": PER_PAGE, "page": page}
    rows: list[Any] = ctx.http.get("/user/repos", params=params).json()
    return rows


def _page(ctx: Context, address: str) -> list[Any]:
    rows: list[Any] = ctx.http.get(address, params={"per_page": PER_PAGE, "page": ctx.page + 1}).json()
    return rows


def _names(rows: list[Any], key: str) -> Options:
    return Options([Option(row[key], row[key]) for row in rows])
