"""What GitHub's actions do beyond ``calls/github.toml``, against a fake written from https://docs.github.com/en/rest."""

from collections.abc import Callable

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked

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


@pytest.mark.parametrize("name", ["hello-world", "a/b/c", "/b", "a/", ""])
def test_a_repository_is_owner_and_name(github: AppHarness, name: str) -> None:
    said = github.refuses("get-repository", repository=name)
    assert said == "The repository must be written as owner/name, such as octocat/hello-world."
    assert github.provider.asked == []
