"""Search issues or pull requests, in one repository or in all that the account sees."""

from typing import Any

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, Context, Option, app, integer, string

from .. import common

KINDS = [Option("Issues", "issue"), Option("Pull requests", "pull-request")]
STATES = [Option("Open", "open"), Option("Closed", "closed")]
SORTS = [
    Option("When they were created", "created"),
    Option("When they were last updated", "updated"),
    Option("Number of comments", "comments"),
]


class SearchIssues(Action):
    name = "Search issues and pull requests"
    description = (
        "Find issues or pull requests by words and by GitHub's search qualifiers, such as label:bug. "
        "[See the documentation](https://docs.github.com/en/rest/search/search#search-issues-and-pull-requests)"
    )
    annotations = READS

    account = app("github")
    repository = common.repository.but(optional=True, description="Leave it empty to search everywhere.")
    kind = string(label="What to find", options=KINDS, default="issue")
    text = string(label="Search for", description="Words and qualifiers.", optional=True)
    state = string(label="State", options=STATES, optional=True)
    sort = string(label="Sort by", description="By best match unless given.", options=SORTS, optional=True)
    limit = integer(label="At most", description="How many to return.", min=1, max=100, default=30)

    def run(self, ctx: Context) -> Any:
        props = ctx.props
        terms = [props.text, f"is:{props.kind}", f"state:{props.state}" if props.state else None]
        terms.append(f"repo:{props.repository}" if props.repository else None)
        params = {"q": " ".join(filter(None, terms)), "sort": props.sort, "per_page": props.limit}
        results = ctx.http.get("/search/issues", params=params).json()
        ctx.export("$summary", f"Found {results['total_count']}, returned {len(results['items'])}")
        return results
