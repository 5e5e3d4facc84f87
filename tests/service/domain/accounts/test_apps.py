"""Apps as a project meets them: found by slug or id, still named when they are gone, and connectable or not."""

from dataclasses import replace

from webapp.service.domain.accounts import apps, oauth_apps
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Project


def test_a_filter_takes_slug_and_id(service: Service) -> None:
    app = service.app("tinykeys")
    assert apps.slug_of(service, app.id) == apps.slug_of(service, "tinykeys") == "tinykeys"
    assert apps.slug_of(service, "no-such-app") == "no-such-app"


def test_an_app_that_left_the_catalog_is_still_named(service: Service) -> None:
    known, gone = apps.facts(service, "tinykeys"), apps.facts(service, "departed")
    assert known["name"] == "Tiny Keys"
    assert (gone["name_slug"], gone["name"], gone["auth_type"]) == ("departed", "Departed", "none")
    assert gone["description"] == "This app is no longer in the catalog."
    assert set(gone) <= set(known)


def test_an_account_of_an_app_that_left_the_catalog_says_so(service: Service) -> None:
    assert apps.removed_reason(service, "tinykeys") is None
    sentence = "Departed App was removed from this service. The account works again when the app is added back."
    assert apps.removed_reason(service, "departed_app") == sentence


def test_why_an_app_cannot_be_connected(service: Service, project: Project) -> None:
    keys, oauth = service.app("tinykeys"), service.app("tinyoauth")
    assert apps.unavailable_reason(service, keys, project.id) is None
    assert "has no OAuth client yet" in str(apps.unavailable_reason(service, oauth, project.id))
    oauth_apps.add(service, app="tinyoauth", client_id="c", client_secret="s", project_id=project.id)
    assert apps.unavailable_reason(service, oauth, project.id) is None
    assert apps.unavailable_reason(service, oauth, "proj_other") is not None
    bare = replace(keys, auth_type="none")
    assert apps.unavailable_reason(service, bare, project.id) == "Tiny Keys needs no account."
