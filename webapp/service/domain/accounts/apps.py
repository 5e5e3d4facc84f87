"""Apps as accounts name them: by slug or id, and also after they left the catalog."""

from typing import Any

from webapp.kit import slugs
from webapp.service.domain.base.service import Service

_REMOVED = {
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


def slug_of(service: Service, slug_or_id: str) -> str:
    """The slug for a slug or id, so that filters accept both; an unknown one is returned as it is, and matches
    nothing.
    """
    app = service.catalog.app(slug_or_id)
    return app.slug if app else slug_or_id


def facts(service: Service, slug: str) -> dict[str, Any]:
    """The App object of ``slug`` (contract "Apps"), to add to; an app that left the catalog is still named."""
    app = service.catalog.app(slug)
    return app.api_dict if app else {**_REMOVED, "name_slug": slug, "name": slugs.words(slug)}


def removed_reason(service: Service, slug: str) -> str | None:
    """The sentence about accounts of ``slug`` if that app was removed; None if the catalog has it."""
    if service.catalog.app(slug) is not None:
        return None
    removed_app = slugs.words(slug)
    return f"{removed_app} was removed from this service. The account works again when the app is added back."
