"""The apps of a project: the catalog's app, and whether it can be connected."""

from typing import Any

from webapp.kit import slugs
from webapp.service.catalog.app import App
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.base.service import Service


def slug_of(service: Service, slug_or_id: str) -> str:
    """The slug for a slug or id, so that filters accept both; an unknown one is returned as it is, and matches
    nothing.
    """
    app = service.catalog.app(slug_or_id)
    return app.slug if app else slug_or_id


def facts(service: Service, slug: str) -> dict[str, Any]:
    """The App object of ``slug`` (contract "Apps"), to add to; an app that left the catalog is still named."""
    app = service.catalog.app(slug)
    return app.api_dict if app else {**_GONE, "name_slug": slug, "name": slugs.words(slug)}


def removed_reason(service: Service, slug: str) -> str | None:
    """The sentence about accounts of ``slug`` if that app was removed; None if the catalog has it."""
    if service.catalog.app(slug) is not None:
        return None
    removed_app = slugs.words(slug)
    return f"{removed_app} was removed from this service. The account works again when the app is added back."


def unavailable_reason(
    service: Service, app: App, project_id: str, oauth_app_id: str | None = None, *, user_id: str | None = None
) -> str | None:
    """Why ``app`` cannot be connected in this project by the user ``user_id``, in one sentence; None when it can."""
    if app.auth_type == "none":
        return f"{app.name} needs no account."
    chosen = (service.store, project_id, app.slug, oauth_app_id)
    if app.auth_type == "oauth" and oauth_apps.choose(*chosen, user_id=user_id) is None:
        return f"{app.name} has no OAuth client yet. Whoever runs this service adds one, once for everybody."
    return None


_GONE = {
    "id": "",
    "img_src": "",
    "custom_fields_json": "[]",
    "categories": [],
    "featured_weight": 0,
    "description": "This app is no longer in the catalog.",
    "auth_type": "none",
    "scope_profiles": [],
    "oauth_app_id": None,
}
