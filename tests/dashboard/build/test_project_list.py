"""What is known of projects: for those who build alone, read once a minute, and an owner hears of a missing address."""

from tests.dashboard.embedded import Embedded
from webapp.dashboard.dashboard import ALL_PROJECTS, KEY
from webapp.kit.cursors import Window
from webapp.service.domain.projects import projects

BANNER = "Tell your users where to ask for help."


def test_owners_hear_of_an_address_that_nobody_gave(studio: Embedded) -> None:
    assert BANNER not in studio.browser().get("/apps")
    projects.update(studio.service, studio.project, support_email="support@localhost")
    studio.app.extensions[KEY].projects.clear()
    assert BANNER in studio.browser().get("/apps")
    assert BANNER not in studio.browser("developer").get("/apps")
    assert BANNER not in studio.browser("member").get("/apps")
    studio.browser().send("/build/project", {"name": "A", "app_name": "A", "support_email": "help@acme.example"})
    assert BANNER not in studio.browser().get("/apps")


def test_members_ask_for_no_projects(studio: Embedded) -> None:
    known = studio.app.extensions[KEY].projects
    known.clear()
    studio.browser("member").get("/apps")
    assert known.get(ALL_PROJECTS) is None
    studio.browser("developer").get("/apps")
    every = projects.page(studio.service.store, Window()).items
    assert {project.id for project in known.get(ALL_PROJECTS)} == {project.id for project in every}


def test_a_project_that_one_process_makes_is_known_to_another(studio: Embedded) -> None:
    first, second = studio.processes()
    assert "Shopping" not in second.get("/apps")
    first.send("/build/project/new", {"app_name": "Shopping", "support_email": "help@shop.example"})
    assert "Shopping" in second.get("/settings")
