"""Projects over the API, as the project: what is asked, and a service that lists none."""

from typing import Any

import pytest

from tests.dashboard.client.recorder import Recorder
from webapp.dashboard.client.build.projects import MOST_PAGES, ProjectProgress, Projects, progress
from webapp.errors import Forbidden, NotFound

PATH = "/v1/connect/projects"
ACME = {"id": "proj_1", "name": "Acme", "app_name": "Acme Desk", "support_email": "help@acme.example"}
EXTENDED = {"extensions": True}


@pytest.mark.parametrize(
    ("ask", "method", "path", "call"),
    [
        (lambda projects: projects.list(), "GET", PATH, {"params": {"limit": 100, **EXTENDED}}),
        (lambda projects: projects.get("proj_1"), "GET", f"{PATH}/proj_1", {"params": EXTENDED}),
        (lambda projects: projects.get("../x"), "GET", f"{PATH}/..%2Fx", {"params": EXTENDED}),
        (lambda projects: projects.create(ACME), "POST", PATH, {"params": EXTENDED, "body": ACME}),
        (
            lambda projects: projects.update("proj_1", {"brand_hue": 3}),
            "PATCH",
            f"{PATH}/proj_1",
            {"params": EXTENDED, "body": {"brand_hue": 3}},
        ),
        (
            lambda projects: projects.set_logo("proj_1", b"abc", "image/png"),
            "POST",
            f"{PATH}/proj_1/logo",
            {"body": {"logo": "data:image/png;base64,YWJj"}},
        ),
        (lambda projects: projects.delete("proj_1"), "DELETE", f"{PATH}/proj_1", {}),
    ],
)
def test_what_is_asked(ask: Any, method: str, path: str, call: Any) -> None:
    recorder = Recorder({"data": [ACME]} if path == PATH and method == "GET" else ACME)
    ask(Projects(recorder))
    assert recorder.calls == [("the project", method, path, call)]


def test_a_service_without_the_extension_tells_of_no_colour() -> None:
    project = Projects(Recorder(ACME)).get("proj_1")
    assert (project.app_name, project.brand_hue, project.logo_url) == ("Acme Desk", None, "")


@pytest.mark.parametrize("error", [NotFound(), Forbidden()])
def test_a_service_that_lists_no_projects_has_none(error: Exception) -> None:
    assert Projects(Recorder(error)).list().items == ()


def test_all_pages_of_projects_are_read_up_to_a_bound() -> None:
    pages = [
        {"data": [{"id": f"proj_{number}"}], "page_info": {"end_cursor": f"after-{number}"}}
        for number in range(MOST_PAGES + 1)
    ]
    recorder = Recorder(*pages)
    assert [project.id for project in Projects(recorder).list().items] == [f"proj_{each}" for each in range(MOST_PAGES)]
    afters = [call["params"].get("after") for *_rest, call in recorder.calls]
    assert afters == [None, *(f"after-{number}" for number in range(MOST_PAGES - 1))]
    last = Recorder(pages[0], {"data": [{"id": "proj_new"}], "page_info": {"end_cursor": ""}})
    assert [project.id for project in Projects(last).list().items] == ["proj_0", "proj_new"]


def test_progress_is_read_by_the_steps_that_it_shows() -> None:
    recorder = Recorder({"data": {"account": True, "run": True, "call": None, "trigger": "x"}})
    assert progress(recorder) == ProjectProgress(account=True, run=True)
    assert recorder.calls == [("the project", "GET", "P/progress", {})]


@pytest.mark.parametrize("refusal", [NotFound(), Forbidden()])
def test_nothing_was_done_where_the_service_does_not_say(refusal: Exception) -> None:
    assert progress(Recorder(refusal)) == ProjectProgress()
