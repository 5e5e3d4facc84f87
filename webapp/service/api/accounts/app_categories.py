"""The categories of apps: all of them as a bare array, or one."""

from flask import Response

from webapp.errors import NotFound
from webapp.service.api.accounts import app_models
from webapp.service.api.accounts.apps import APPS, AppFilter, AppOptions
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.operations import Operations, PathParameter

operations = Operations(APPS, PathParameter("category_id", "The category's id (`appcat_…`).", "$CATEGORY_ID"))


class CategoryList(AppFilter, AppOptions):
    """With extensions each category counts its apps, under the same filters as the list of apps."""


@operations.get("/v1/connect/app_categories", answer=list[app_models.Category], query=CategoryList)
def list_app_categories(call: Call) -> Response:
    """Every category that holds an app, by name."""
    query = call.query(CategoryList)
    categories = [category.api_dict for category in call.service.catalog.categories()]
    if query.extensions:
        counts = call.service.catalog.category_counts(
            q=query.q,
            has_components=query.has_components,
            has_actions=query.has_actions,
            has_triggers=query.has_triggers,
        )
        categories = [{**category, "count": counts[category["id"]]} for category in categories]
    return answer(categories)


@operations.get("/v1/connect/app_categories/<category_id>", answer=app_models.Category)
def get_app_category(call: Call) -> Response:
    """One category, not wrapped."""
    category = call.service.catalog.category(call.path["category_id"])
    if category is None:
        raise NotFound("There is no such app category.")
    return answer(category.api_dict)
