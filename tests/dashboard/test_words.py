"""The dashboard's words for codes: every state has its tone, and a code that nobody knows is not repeated."""

from webapp.dashboard import words


def test_an_ending_names_the_app_and_a_next_step() -> None:
    happened, step = words.ending("wrong_account", "GitHub", account="Grace Hopper")
    assert happened == "That was another GitHub account, so nothing was changed."
    assert step == "Sign in to GitHub as Grace Hopper."
    for code in words.ENDINGS:
        assert all("{" not in text and text.endswith(".") for text in words.ending(code, "GitHub"))


def test_an_ending_names_who_helps() -> None:
    assert words.ending("no_oauth_client", "GitHub", "olga@acme.example")[1] == "It is set up by olga@acme.example."
    assert words.ending("provider_rejected", "GitHub")[1].endswith("ask the operator of this service.")


def test_an_unknown_code_is_not_repeated() -> None:
    happened, step = words.ending("<script>", "{app}")
    assert (happened, step) == ("The connection was not finished.", "Try again; nothing was changed.")


def test_every_state_has_its_tone() -> None:
    assert words.STATES.keys() == words.STATE_TONES.keys()
    assert words.TRIGGER_STATES.keys() == words.TRIGGER_TONES.keys()
    assert words.ENDPOINT_STATES.keys() == words.ENDPOINT_TONES.keys()
    assert words.SHOWN_STATES.keys() == words.SHOWN_TONES.keys()
    assert words.KIND_TONES.keys() <= words.KINDS.keys()
