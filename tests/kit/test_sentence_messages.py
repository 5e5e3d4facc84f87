"""Which sentences of a module translators get."""

from io import BytesIO

from webapp.kit.sentence_messages import sentences

MODULE = '''
"""The docstring says this."""

WHY = "It was stopped."
KIND = marked("a list")
SQL = "SELECT a, b FROM c."
_AUDITED = {"made": "It was made."}


class Refused(PatchbayError):
    """The provider refused it."""


class Helper:
    """Helps with this."""

    label = "A label."


def fail(app, values):
    """Fail."""
    log.warning("Nobody reads this.")
    if app.broken:
        raise Refused(f"{app.name} and {values['to']} need {len(values)} of {len(app)}. Ask {owner or 'them'}.")
    raise Invalid.of("to", "Enter it. " "Then go on.")
    raise NotFound("There is no such thing.")
    return gettext("Translated already."), string(description="A fact."), f"{app}.", "key", "Some words", "Wait..."
'''


def test_sentences_are_found_where_they_are_written() -> None:
    found = [message for _line, _function, message, _comments in sentences(BytesIO(MODULE.encode()), (), (), {})]
    assert found == [
        "It was stopped.",
        "a list",
        "{provider} refused it.",
        "{app_name} and {values_to} need {len} of {len2}. Ask {owner}.",
        "Enter it. Then go on.",
        "The provider",
        "the provider",
    ]
