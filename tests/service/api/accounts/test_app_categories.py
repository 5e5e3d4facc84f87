"""App categories over the API."""

from typing import Any


def test_categories(shared: Any) -> None:
    found = shared.get("/v1/connect/app_categories", shared.frontend()).json
    assert isinstance(found, list) and all(set(one) == {"id", "name", "description"} for one in found)
    testing = next(one for one in found if one["name"] == "Testing")
    assert shared.get(f"/v1/connect/app_categories/{testing['id']}", shared.server()).json == testing
    assert shared.get("/v1/connect/app_categories/appcat_none", shared.server()).status_code == 404
    counted = shared.get("/v1/connect/app_categories?extensions=true", shared.server()).json
    assert next(one for one in counted if one["id"] == testing["id"]) == {**testing, "count": 2}
    narrowed = shared.get("/v1/connect/app_categories?extensions=true&q=tiny+keys", shared.server()).json
    assert {one["name"]: one["count"] for one in narrowed}["Testing"] == 1
