"""Where documents are: in a package of an exact version, which is written in one place for all apps that use it."""

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from webapp.service.catalog.api_documents import DIRECTORY, Place, place
from webapp.service.catalog.sources import Places, read
from webapp.service.catalog.spec import Api, ApiDocument

SOURCE: dict[str, Any] = {"source": "https://github.com/acme/openapi", "read_on": date(2026, 11, 28)}


def test_an_app_may_name_the_version_itself() -> None:
    document = ApiDocument(package="npm:@acme/spec", version="1.0.0", integrity="sha512-AAAA", path="a.json", **SOURCE)
    assert place(document) == Place("npm:@acme/spec", "1.0.0", "sha512-AAAA", "a.json")


@pytest.mark.parametrize(
    ("entry", "path"), [("stripe.com", "api/stripe.com.json"), ("twilio.com:api", "api/twilio.com/api.json")]
)
def test_an_entry_of_the_directory_is_a_file_in_its_package(entry: str, path: str) -> None:
    found = place(ApiDocument(directory=entry, **SOURCE))
    assert (found.package, found.path) == (DIRECTORY, path)
    assert found.integrity.startswith("sha512-")


def test_a_package_without_a_version_is_refused() -> None:
    with pytest.raises(ValueError, match=r"npm:unknown needs its version and integrity"):
        place(ApiDocument(package="npm:unknown", path="a.json", **SOURCE))


@pytest.mark.parametrize("fields", [{}, {"package": "npm:a"}, {"package": "npm:a", "path": "b", "directory": "c.com"}])
def test_a_document_is_in_one_place(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ApiDocument(**fields, **SOURCE)


def test_several_documents_have_names_of_their_own() -> None:
    with pytest.raises(ValidationError, match="a name of its own"):
        Api(documents=(ApiDocument(directory="a.com", **SOURCE), ApiDocument(directory="b.com", **SOURCE)))


def test_every_document_of_a_built_in_app_is_in_a_known_release() -> None:
    apps = [source.spec for source in read(Places()).apps if source.spec.api]
    assert apps
    for app in apps:
        for document in app.api.documents if app.api else ():
            assert place(document).version, app.slug


def test_sixty_apps_have_a_description_of_their_whole_api() -> None:
    apps = {source.spec.slug: source.spec for source in read(Places()).apps}
    described = [app.slug for app in apps.values() if app.api or (app.of and apps[app.of].api)]
    assert len(described) >= 60, described


def test_what_notion_describes_is_sent_as_its_version_and_not_as_ours() -> None:
    notion = next(source.spec for source in read(Places()).apps if source.spec.slug == "notion")
    assert notion.api
    assert set(notion.api.documents[0].values) <= set(notion.headers)
    assert notion.api.documents[0].values["Notion-Version"] < notion.headers["Notion-Version"]
