"""Origins that Connect tokens allow: they are checked, and remembered with their tokens."""

import pytest

from webapp.errors import Invalid
from webapp.service.domain.access import allowed_origins
from webapp.service.domain.base.service import Service


def test_origins_are_kept_once_in_their_exact_form() -> None:
    given = ["https://b.example/", "HTTPS://A.example", "https://b.example"]
    assert allowed_origins.checked(given) == ("https://b.example", "https://a.example")
    with pytest.raises(Invalid) as caught:
        allowed_origins.checked(["https://a.example", "https://*.example"])
    assert [detail.field for detail in caught.value.details] == ["allowed_origins"]
    with pytest.raises(Invalid):
        allowed_origins.checked([f"https://{number}.example" for number in range(allowed_origins.MAX_ORIGINS + 1)])


def test_an_origin_is_forgotten_once_its_last_token_is(service: Service) -> None:
    with service.store.write() as tx:
        allowed_origins.remember(tx, ["https://a.example", "https://b.example"], 1_000)
        allowed_origins.remember(tx, ["https://b.example"], 2_000)
        allowed_origins.remember(tx, ["https://b.example"], 1_500)
        allowed_origins.purge(tx, 2_000)
    assert [row["origin"] for row in service.store.all("SELECT origin FROM token_origins")] == ["https://b.example"]
