"""GitHub's actions, against a fake of its REST API written from https://docs.github.com/en/rest (2022-11-28)."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked, FakeAnswer

REPOSITORY = "octocat/hello-world"
PLACE = f"/repos/{REPOSITORY}"
ISSUE = {"number": 1347, "title": "Found a bug", "state": "open", "html_url": "https://github.com/octocat"}
MINE = [f"octocat/project-{number}" for number in range(230)]


@pytest.fixture
def github(desk_of: Callable[..., AppHarness]) -> AppHarness:
    return desk_of("github", oauth_access_token="gho_1")


def _repositories(asked: Asked) -> list[dict[str, str]]:
    """``GET /user/repos``: pages count from 1, of at most 100."""
    assert asked.query["sort"] == "pushed"
    size, page = int(asked.query["per_page"]), int(asked.query["page"])
    assert size <= 100
    return [{"full_name": name} for name in MINE[(page - 1) * size : page * size]]


def test_every_request_names_the_version_and_the_credential(github: AppHarness) -> None:
    github.on(f"GET {PLACE}", {"full_name": REPOSITORY})
    github.run("get-repository", repository=REPOSITORY)
    assert github.last.headers["x-github-api-version"] == "2022-11-28"
    assert github.last.headers["authorization"] == "Bearer gho_1"


def test_repositories_come_page_by_page(github: AppHarness) -> None:
    github.on("GET /user/repos", _repositories)
    pages = [github.options("create-issue", "repository", page=page)["found"] for page in range(4)]
    assert [len(page) for page in pages] == [100, 100, 30, 0]
    assert pages[0]["octocat/project-0"] == "octocat/project-0"


def test_a_search_looks_through_all_pages_once(github: AppHarness) -> None:
    github.on("GET /user/repos", _repositories)
    found = github.options("create-issue", "repository", query="PROJECT-22")["found"]
    assert list(found) == ["octocat/project-22", *(f"octocat/project-22{digit}" for digit in range(10))]
    assert len(github.provider.asked) == 3
    assert github.options("create-issue", "repository", query="PROJECT-22", page=1)["found"] == {}


@pytest.mark.parametrize(
    ("action", "prop", "place", "row", "option"),
    [
        ("create-issue", "labels", "labels", {"name": "bug"}, ("bug", "bug")),
        ("create-issue", "assignees", "assignees", {"login": "hubot"}, ("hubot", "hubot")),
        ("list-commits", "branch", "branches", {"name": "main"}, ("main", "main")),
        ("create-comment", "issue_number", "issues", ISSUE, ("#1347 Found a bug", 1347)),
    ],
)
def test_choices_of_a_repository(
    github: AppHarness, action: str, prop: str, place: str, row: dict[str, Any], option: tuple[str, Any]
) -> None:
    github.on(f"GET {PLACE}/{place}", [row])
    assert github.options(action, prop, page=2, repository=REPOSITORY)["found"] == dict([option])
    assert github.last.query == {"per_page": "100", "page": "3"}


def test_an_issue_is_created(github: AppHarness) -> None:
    github.on(f"POST {PLACE}/issues", FakeAnswer(201, ISSUE))
    reply = github.call("run", "create-issue", {"repository": REPOSITORY, "title": "Found a bug", "labels": ["bug"]})
    assert github.last.json == {"title": "Found a bug", "labels": ["bug"]}
    assert (reply.value, reply.exports["$summary"]) == (ISSUE, "Created issue #1347: Found a bug")


def test_an_issue_is_changed(github: AppHarness) -> None:
    github.on(f"PATCH {PLACE}/issues/1347", ISSUE | {"state": "closed"})
    change = {"state": "closed", "state_reason": "completed", "assignees": []}
    reply = github.run("update-issue", repository=REPOSITORY, issue_number=1347, **change)
    assert github.last.json == change
    assert reply.exports["$summary"] == "Updated issue #1347, which is closed"


def test_issues_are_searched(github: AppHarness) -> None:
    github.on("GET /search/issues", {"total_count": 280, "incomplete_results": False, "items": [ISSUE]})
    reply = github.run("search-issues", repository=REPOSITORY, text="crash label:bug", state="open", limit=1)
    asked = {"q": f"crash label:bug is:issue state:open repo:{REPOSITORY}", "per_page": "1"}
    assert github.last.query == asked
    assert reply.exports["$summary"] == "Found 280, returned 1"
    github.run("search-issues", kind="pull-request", sort="updated")
    assert github.last.query == {"q": "is:pull-request", "sort": "updated", "per_page": "30"}


def test_a_comment_is_added(github: AppHarness) -> None:
    github.on(f"POST {PLACE}/issues/1347/comments", FakeAnswer(201, {"id": 1, "body": "Me too"}))
    github.run("create-comment", repository=REPOSITORY, issue_number=1347, body="Me too")
    assert github.last.json == {"body": "Me too"}


def test_a_file_is_created_and_then_replaced(github: AppHarness) -> None:
    where = f"{PLACE}/contents/docs/a%20note.md"
    written = {"content": {"path": "docs/a note.md", "sha": "95b966a"}, "commit": {"sha": "7638417"}}
    given = {"repository": REPOSITORY, "path": "/docs/a note.md", "content": "Grüße", "message": "Greet"}
    github.on(f"GET {where}", FakeAnswer(404, {"message": "Not Found"}))
    github.on(f"PUT {where}", FakeAnswer(201, written))
    reply = github.run("create-or-update-file", **given)
    content = base64.b64encode("Grüße".encode()).decode()
    assert github.last.json == {"message": "Greet", "content": content}
    assert reply.exports["$summary"] == "Created docs/a note.md"

    github.on(f"GET {where}", {"type": "file", "sha": "95b966a"})
    github.on(f"PUT {where}", written)
    reply = github.run("create-or-update-file", **given, branch="next")
    assert github.provider.asked[-2].query == {"ref": "next"}
    assert github.last.json == {"message": "Greet", "content": content, "sha": "95b966a", "branch": "next"}
    assert reply.exports["$summary"] == "Updated docs/a note.md"


def test_a_folder_is_no_file(github: AppHarness) -> None:
    github.on(f"GET {PLACE}/contents/docs", [{"type": "file", "sha": "1"}])
    said = github.refuses("create-or-update-file", repository=REPOSITORY, path="docs", content="x", message="x")
    assert said == "docs is a folder. Give the path of a file."


def test_commits_are_listed(github: AppHarness) -> None:
    github.on(f"GET {PLACE}/commits", [{"sha": "6dcb09b"}])
    reply = github.run("list-commits", repository=REPOSITORY, branch="main", path="docs", since="2030-01-31T08:00:00Z")
    asked = {"sha": "main", "path": "docs", "since": "2030-01-31T08:00:00Z", "per_page": "30"}
    assert github.last.query == asked
    assert reply.exports["$summary"] == "Listed 1 commit"


def test_a_pull_request_is_opened(github: AppHarness) -> None:
    github.on(f"POST {PLACE}/pulls", FakeAnswer(201, {"number": 7, "title": "Greet"}))
    reply = github.run("create-pull-request", repository=REPOSITORY, head="next", base="main", title="Greet")
    assert github.last.json == {"head": "next", "base": "main", "title": "Greet", "draft": False}
    assert reply.exports["$summary"] == "Created pull request #7: Greet"


@pytest.mark.parametrize("name", ["hello-world", "a/b/c", "/b", "a/", ""])
def test_a_repository_is_owner_and_name(github: AppHarness, name: str) -> None:
    said = github.refuses("get-repository", repository=name)
    assert said == "The repository must be written as owner/name, such as octocat/hello-world."
    assert github.provider.asked == []


def test_the_words_of_github_reach_the_person(github: AppHarness) -> None:
    github.on(f"POST {PLACE}/issues", FakeAnswer(410, {"message": "Issues are disabled for this repo"}))
    said = github.refuses("create-issue", repository=REPOSITORY, title="x")
    assert said == "The app answered with status 410: Issues are disabled for this repo"
