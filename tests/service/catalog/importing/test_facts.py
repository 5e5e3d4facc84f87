"""What an app says that was imported: its name, a sentence, and where people read about it."""

from tests.fakes.openapi_documents import ADDRESS, document, planned
from webapp.service.catalog.importing.facts import docs_url
from webapp.service.catalog.importing.servers import server
from webapp.service.catalog.importing.standing import Options


def test_an_app_has_the_documents_name_and_a_sentence() -> None:
    app = planned({}).app
    assert (app["name"], app["description"], app["categories"]) == ("Acme", "Orders of a shop.", ["developer_tools"])
    assert (app["logo"]["letter"], app["base_url"], app["docs_url"]) == ("A", "https://api.acme.example/v1", ADDRESS)
    bare = planned({}, Options(name="My shop", category="crm"), info={}).app
    assert (bare["name"], bare["description"], bare["categories"]) == ("My shop", "The API of My shop.", ["crm"])


def test_where_people_read_on_is_the_first_that_is_known() -> None:
    described = document({}, externalDocs={"url": "https://read.acme.example"})
    assert docs_url(described, Options(docs_url="https://mine.example"), server(described)) == "https://mine.example"
    assert docs_url(described, Options(), server(described)) == "https://read.acme.example"
    odd = document({}, externalDocs={"url": "javascript:alert(1)"})
    assert docs_url(odd, Options(), server(odd)) == ADDRESS
