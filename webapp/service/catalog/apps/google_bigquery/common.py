"""What BigQuery's components in Python share: the account, and choosing a project."""

from webapp.service.components.authoring import Context, Option, Options, app, string


def find_projects(ctx: Context) -> Options:
    """The projects whose data the person may see."""
    token = ctx.previous.get("token")
    if ctx.page and not token:
        return Options([])
    answer = ctx.http.get("/projects", params={"pageToken": token}).json()
    options = [Option(item.get("friendlyName") or item["id"], item["id"]) for item in answer.get("projects", [])]
    following = answer.get("nextPageToken")
    return Options(options, {"token": following} if following else None)


account = app("google_bigquery")
project_prop = string(label="Project", options=find_projects, use_query=True)
