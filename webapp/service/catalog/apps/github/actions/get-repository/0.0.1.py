"""Read a repository's own facts."""

from typing import Any

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, Context, app

from .. import common


class GetRepository(Action):
    name = "Get repository"
    description = (
        "Read a repository: its description, default branch, visibility and counts. "
        "[See the documentation](https://docs.github.com/en/rest/repos/repos#get-a-repository)"
    )
    annotations = READS

    account = app("github")
    repository = common.repository

    def run(self, ctx: Context) -> Any:
        repository = ctx.http.get(common.of_repository(ctx)).json()
        ctx.export("$summary", f"Read the repository {repository['full_name']}")
        return repository
