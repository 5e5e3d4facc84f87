"""Apps are found by slug or id, and still named after they left the catalog."""

from webapp.service.domain.accounts import apps
from webapp.service.domain.base.service import Service


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
