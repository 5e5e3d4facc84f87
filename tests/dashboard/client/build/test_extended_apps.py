"""What the dashboard reads of an app's whole API, also from a service that says less."""

from typing import Any

from webapp.dashboard.client.build.extended_apps import ExtendedApp

DOCUMENT: dict[str, Any] = {
    "name": "api", "package": "npm:@acme/openapi", "version": "1.0.0", "brought_at": "2026-11-28T00:00:00Z",
    "actions": 3, "waiting_hosts": {"far.example": 2},
}  # fmt: skip


def test_documents_are_summed_and_packages_named_once() -> None:
    second = {**DOCUMENT, "name": "more", "actions": 4}
    app = ExtendedApp.model_validate({"name_slug": "acme", "documents": [DOCUMENT, second]})
    assert (app.is_here, app.on, dict(app.waiting)) == (True, 7, {"far.example": 4})
    (document,) = app.releases
    assert (document.registry, document.release) == ("npm", "@acme/openapi 1.0.0")


def test_what_a_service_does_not_say_is_empty() -> None:
    app = ExtendedApp.model_validate({"name_slug": "acme", "documents": [{"package": "pypi:acme"}]})
    assert (app.is_here, app.on, app.operations) == (False, 0, ())
    assert (app.documents[0].registry, app.documents[0].release) == ("PyPI", "acme")
