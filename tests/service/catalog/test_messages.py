from io import BytesIO

from webapp.service.catalog.messages import components, declared, facts, refusals

FACTS = b"""
name = "Acme"
description = "Sends things."
categories = ["crm"]

[[fields]]
name = "api_key"
label = "API key"
description = "Under Settings."

[oauth]
scopes = [{ scope = "read", words = "See your things" }]
scope_profiles = [{ name = "read_only", scopes = ["read"] }]
"""
COMPONENT = b"""
class Send(Action):
    name = "Send thing"
    description = "Send a thing. [See the documentation](https://docs.example.com/)"
    to = string(label="To", description="Who gets it.", default="Nobody", secret=True)
    how = string(label="How", options=[Option("By post", "post"), Option(kind, "other")])

    def run(self, ctx):
        ctx.log(name="quiet")
"""


DECLARED = b"""
name = "Send thing"
description = "Send a thing. [See the documentation](${sandbox}/)"
summary = "Sent {to}"
props.to = { label = "To", options = [{ label = "Ada", value = "a" }, { label = "{$item.name}", value = "b" }] }
"""


def said(extract: object, content: bytes) -> list[str]:
    return [text for _line, _function, text, _comments in extract(BytesIO(content), (), (), {})]  # type: ignore[operator]


def test_facts_of_an_app_are_messages_and_names_are_not() -> None:
    assert said(facts, FACTS) == ["Sends things.", "API key", "Under Settings.", "See your things", "Read only"]


def test_categories_are_messages() -> None:
    assert said(facts, b'[[categories]]\nslug = "crm"\nname = "Customers"\n') == ["Customers"]


def test_words_of_a_component_are_messages_without_the_link_to_documentation() -> None:
    assert sorted(said(components, COMPONENT)) == [
        "By post",
        "How",
        "Send a thing.",
        "Send thing",
        "To",
        "Who gets it.",
    ]


def test_words_of_a_component_that_is_data_are_messages_and_its_templates_are_not() -> None:
    assert said(declared, DECLARED) == ["Send thing", "Send a thing.", "To", "Ada"]


def test_what_a_component_that_is_data_refuses_with_is_a_message() -> None:
    text = b"""
props.to = { label = "To", pattern = "a", advice = "Write an a." }
refuse = [{ only_if = "{to}", words = "{$label.to|or(to)} is full." }]
errors = { other = "Refused with {$answer.error.code}.", words = { late = "Come back.", own = "{$answer.message}" } }
"""
    assert said(refusals, text) == [
        "Write an a.", "{label_to} is full.", "Refused with {answer_error_code}.", "Come back.",
    ]  # fmt: skip
