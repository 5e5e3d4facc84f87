"""The state of the Embed page stands in its address."""

from flask import session

from tests.dashboard.conftest import PUBLIC, Stage
from webapp.dashboard.build import embed_state
from webapp.dashboard.build.embed_state import EmbedQuery

A, B = "https://a.example", "https://b.example"


def test_what_makes_no_sense_falls_back() -> None:
    query = EmbedQuery.model_validate(
        {"user": " ann ", "app": "../x", "way": "up", "size": "huge", "origins": f" {A}  {A} {B}"}
    )
    assert (query.user, query.app, query.way, query.size, query.listed) == ("ann", "", "link", "desktop", [A, B])


def test_the_address_holds_what_differs_from_the_beginning(stage: Stage) -> None:
    with stage.request():
        assert EmbedQuery().address() == "/build/embed"
        query = EmbedQuery(user="ann").with_origins([A, A])
        assert (
            query.address("ways", way="server")
            == "/build/embed?user=ann&origins=https%3A%2F%2Fa.example&way=server#ways"
        )
        assert query.address(endpoint="make_token").startswith("/build/embed/token?user=ann")


def test_a_form_changes_what_it_names_alone() -> None:
    query = EmbedQuery.of_form({"user": "bob", "csrf_token": "x", "way": "link"}, EmbedQuery(user="ann", way="server"))
    assert (query.user, query.way) == ("bob", "server")


def test_the_dashboard_may_show_the_token_as_well(stage: Stage) -> None:
    with stage.request():
        body = EmbedQuery(user="ann", app="github").with_origins([A]).token_body()
    assert body == {"external_user_id": "ann", "app_id": "github", "allowed_origins": [A, PUBLIC]}


def test_a_token_is_kept_for_whoever_made_it(stage: Stage) -> None:
    with stage.request():
        assert embed_state.kept() is None
        embed_state.keep("ctok_1", f"{PUBLIC}/link?token=ctok_1")
        token = embed_state.kept()
        assert token and token.preview(EmbedQuery(app="github")) == f"{PUBLIC}/link?token=ctok_1&app=github"
        assert token.preview(EmbedQuery(app="github", shown="portal")) == f"{PUBLIC}/portal?token=ctok_1"
        session[embed_state._KEY][0] = "u_somebody"
        assert embed_state.kept() is None
