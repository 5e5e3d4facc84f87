"""App categories: all of them as a bare array, or one."""

from flask import Response

from webapp.errors import NotFound
from webapp.service.api.accounts.apps import AppFilter, Extended
from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation


class CategoryList(AppFilter, Extended):
    """With extensions each category counts its apps, under the same filters as the list of apps."""


def index(call: Call) -> Response:
    """Every category that holds an app, by name."""
    asked = call.query(CategoryList)
    found = [category.api_dict for category in call.service.catalog.categories()]
    if asked.extensions:
        counts = call.service.catalog.category_counts(
            q=asked.q,
            has_components=asked.has_components,
            has_actions=asked.has_actions,
            has_triggers=asked.has_triggers,
        )
        found = [{**category, "count": counts[category["id"]]} for category in found]
    return answers.json(found)


def show(call: Call) -> Response:
    """One category, not wrapped."""
    found = call.service.catalog.category(call.path["category_id"])
    if found is None:
        raise NotFound("There is no such app category.")
    return answers.json(found.api_dict)


OPERATIONS = (
    Operation("list_app_categories", "GET", "/v1/connect/app_categories", index, query=CategoryList),
    Operation("get_app_category", "GET", "/v1/connect/app_categories/<category_id>", show),
)
