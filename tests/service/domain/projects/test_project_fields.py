"""Each field of a project that cannot stay as it is gets a sentence."""

import pytest

from webapp.service.domain.projects import project_fields


@pytest.mark.parametrize(
    "name, app_name, email, hue, fields",
    [
        ("Acme", "Acme Desk", "help@acme.example", 0, []),
        ("", "x" * 101, "acme", 361, ["name", "app_name", "support_email", "brand_hue"]),
        ("a\nb", "Acme", "a@b c", -1, ["name", "support_email", "brand_hue"]),
    ],
)
def test_each_field_is_told_what_is_wrong_with_it(
    name: str, app_name: str, email: str, hue: int, fields: list[str]
) -> None:
    assert [detail.field for detail in project_fields.problems(name, app_name, email, hue)] == fields
