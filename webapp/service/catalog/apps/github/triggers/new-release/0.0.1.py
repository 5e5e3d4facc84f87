"""Look for releases that were published since the last time."""

from collections.abc import Iterator, Mapping
from typing import Any

from webapp.service.catalog.shared.hints import epoch_ms
from webapp.service.catalog.shared.polling import EXAMPLES, unseen
from webapp.service.components.authoring import Context, Trigger, app, boolean, service_db, timer

from .. import common


class NewRelease(Trigger):
    name = "New release"
    description = (
        "Each release that is published in a repository; drafts are left out. "
        "[See the documentation](https://docs.github.com/en/rest/releases/releases#list-releases)"
    )
    dedupe = "unique"

    account = app("github")
    repository = common.repository
    prereleases = boolean(label="Prereleases too", optional=True, default=False)
    timer = timer(default={"intervalSeconds": 900})
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        for release in list(self._new(ctx))[-EXAMPLES:]:
            _emit(ctx, release)

    def run(self, ctx: Context) -> None:
        for release in self._new(ctx):
            _emit(ctx, release)

    def _new(self, ctx: Context) -> Iterator[Mapping[str, Any]]:
        releases = ctx.http.get(common.of_repository(ctx, "releases"), params={"per_page": common.PER_PAGE}).json()
        published = [
            release
            for release in releases
            if not release["draft"] and (ctx.props.prereleases or not release["prerelease"])
        ]
        return unseen(ctx, published, at=lambda release: release["published_at"])


def _emit(ctx: Context, release: Mapping[str, Any]) -> None:
    name = release["name"] or release["tag_name"]
    ctx.emit(release, id=release["id"], summary=name, ts=epoch_ms(release["published_at"]))
