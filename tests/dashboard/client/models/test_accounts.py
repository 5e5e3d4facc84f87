"""How an app's client is made: where the redirect URI goes, and how values look.

Apps and accounts as any service may tell of them.
"""

from webapp.dashboard.client.models.accounts import Account, App, SetUp, Shape


def test_the_steps_in_which_the_redirect_uri_is_entered() -> None:
    facts = SetUp.model_validate({"redirect_uri": "https://a.example/cb", "steps": ["A.", "Add https://a.example/cb."]})
    assert facts.parts == [("A.", False), ("Add https://a.example/cb.", True)]
    assert SetUp.model_validate({"steps": ["A."]}).parts == [("A.", False)]


def test_a_value_fits_its_shape_as_a_whole() -> None:
    shape = Shape(pattern="[0-9]+", advice="Digits.")
    assert shape.fits("12") and not shape.fits("12a")
    assert Shape(pattern="[0-9", advice="Digits.").fits("anything"), "a service's pattern that cannot be read"


def test_what_is_missing_is_a_plain_default() -> None:
    account = Account.model_validate({})
    assert (account.id, account.name, account.state, account.scopes, account.identity) == (
        "",
        None,
        "working",
        (),
        None,
    )
    assert (account.app.slug, account.app.auth_type, App.model_validate({}).extras) == ("", "keys", None)


def test_names_fall_back_to_what_is_there() -> None:
    assert App.model_validate({"id": "app_1"}).name == "app_1"
    assert App.model_validate({"id": "app_1", "name_slug": "", "name": ""}).slug == "app_1"
    assert Account.model_validate({"identity": {"id": "7", "name": None}, "app": {"name": "X"}}).title == "7"


def test_links_lead_to_the_web_only() -> None:
    for url, read in (("https://docs.example.com/", "https://docs.example.com/"), ("javascript:alert(1)", None)):
        extras = App.model_validate({"patchbay": {"docs_url": url, "actions": 3}}).extras
        assert extras is not None
        assert (extras.docs_url, extras.actions) == (read, 3)
