"""Options as the wire has them: labelled objects, whatever form a declaration or a component gave them."""

from webapp.service.components.calls import ErrorInfo, Reply
from webapp.service.domain.components import option_lists


def test_options_of_a_declaration_are_narrowed_by_their_labels() -> None:
    prop = {"options": ["Red", {"label": "Dark red", "value": 5}, {"__lv": {"label": "Blue", "value": "b"}}, 2.0]}
    assert option_lists.static(prop, " RED ")["options"] == [
        {"label": "Red", "value": "Red"},
        {"label": "Dark red", "value": 5},
    ]
    assert option_lists.static(prop, None)["options"][2:] == [
        {"label": "Blue", "value": "b"},
        {"label": "2", "value": "2"},
    ]


def test_what_a_component_answered_and_why_it_could_not() -> None:
    answer = option_lists.answer({}, Reply({"options": [1], "context": {"next": 2}}))
    assert (answer["options"], answer["context"], answer["errors"]) == ([{"label": "1", "value": 1}], {"next": 2}, [])
    failed = option_lists.answer({}, Reply(None, error=ErrorInfo("exception", "E", "No.")))
    assert (failed["options"], failed["errors"]) == (None, ["No."])
