"""How an app's client is made: where the redirect URI goes, and how values look."""

from webapp.dashboard.client.models.set_up import SetUp, Shape


def test_the_steps_in_which_the_redirect_uri_is_entered() -> None:
    facts = SetUp.model_validate({"redirect_uri": "https://a.example/cb", "steps": ["A.", "Add https://a.example/cb."]})
    assert facts.parts == [("A.", False), ("Add https://a.example/cb.", True)]
    assert SetUp.model_validate({"steps": ["A."]}).parts == [("A.", False)]


def test_a_value_fits_its_shape_as_a_whole() -> None:
    shape = Shape(pattern="[0-9]+", advice="Digits.")
    assert shape.fits("12") and not shape.fits("12a")
    assert Shape(pattern="[0-9", advice="Digits.").fits("anything"), "a service's pattern that cannot be read"
