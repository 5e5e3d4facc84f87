"""GitLab's actions at GitLab.com and at an address of one's own, against a fake written from
https://docs.gitlab.com/api/rest/."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked, FakeAnswer


@pytest.fixture(params=["gitlab", "gitlab_self_managed"])
def gitlab(request: pytest.FixtureRequest, desk_of: Callable[..., AppHarness]) -> AppHarness:
    if request.param == "gitlab":
        return desk_of("gitlab", oauth_access_token="glpat-1")
    return desk_of("gitlab_self_managed", base_url="https://gitlab.example.com", access_token="glpat-1")


def numbered(count: int) -> Callable[[Asked], Any]:
    """A list of ``count``, paged by page and per_page."""

    def answer(asked: Asked) -> Any:
        page, size = int(asked.query["page"]), int(asked.query["per_page"])
        return [{"iid": n, "title": f"No. {n}"} for n in range(count)][(page - 1) * size : page * size]

    return answer


def test_projects_are_searched_for_at_gitlab(gitlab: AppHarness) -> None:
    gitlab.on("GET /projects", [{"id": 5, "path_with_namespace": "group/site"}])
    assert gitlab.options("create-issue", "project_id", query="site", page=1)["found"] == {"group/site": "5"}
    assert gitlab.last.query == {
        "membership": "true", "simple": "true", "order_by": "last_activity_at", "search": "site",
        "search_namespaces": "true", "per_page": "100", "page": "2",
    }  # fmt: skip


def test_an_issue_is_created_by_the_path_of_a_project(gitlab: AppHarness) -> None:
    gitlab.on("POST /projects/group%2Fsite/issues", {"iid": 3, "title": "Broken"})
    reply = gitlab.run("create-issue", project_id="group/site", title="Broken", labels=["bug", "now"])
    assert gitlab.last.json == {"title": "Broken", "labels": "bug,now"}
    assert reply.exports["$summary"] == "Created issue #3 Broken"


def test_issues_are_listed_page_by_page(gitlab: AppHarness) -> None:
    gitlab.on("GET /projects/5/issues", numbered(230))
    assert len(gitlab.run("list-issues", project_id="5", most=150).value) == 150
    assert [one.query["page"] for one in gitlab.provider.asked] == ["1", "2"]
    assert gitlab.last.query["state"] == "opened"
    assert "search" not in gitlab.last.query


def test_merge_requests_are_listed(gitlab: AppHarness) -> None:
    gitlab.on("GET /projects/5/merge_requests", numbered(1))
    reply = gitlab.run("list-merge-requests", project_id="5", state="merged")
    assert (len(reply.value), reply.exports["$summary"]) == (1, "Listed 1 merge request")
    assert gitlab.last.query["state"] == "merged"


def test_what_gitlab_says_is_passed_on(gitlab: AppHarness) -> None:
    gitlab.on("POST /projects/5/issues", FakeAnswer(404, {"message": "404 Project Not Found"}))
    assert gitlab.refuses("create-issue", project_id="5", title="x") == (
        "The app answered with status 404: 404 Project Not Found"
    )
