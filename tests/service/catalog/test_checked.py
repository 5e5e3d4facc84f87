"""What ``make facts`` wrote is current, and nothing is contradicted; and the comparison finds what contradicts."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import schemas, sdks
from tests.facts import Api, Found
from tests.sdks import Calls, Same, Way
from webapp.service.catalog import checked
from webapp.service.catalog.checked import requests_digest, requests_of
from webapp.service.catalog.importing.documents import Document, Refs
from webapp.service.catalog.sources import BUILT_IN, Places, Source, read
from webapp.service.components.declared.source import is_declared

APPS = {source.spec.slug: source for source in read(Places()).apps}
STALE = (
    "its requests changed: run `make facts`, or take its entry out of checked.toml, so that it counts as not checked"
)
PETS: dict[str, Any] = {
    "openapi": "3.0.0",
    "servers": [{"url": "https://pets.example/v1"}],
    "paths": {
        "/pets/{id}/toys": {
            "parameters": [{"name": "id", "in": "path", "required": True}],
            "get": {
                "parameters": [
                    {"name": "limit", "in": "query"},
                    {"name": "shop", "in": "query", "required": True},
                    {"name": "api_key", "in": "query", "required": True},
                ]
            },
            "post": {
                "requestBody": {
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Toy"}}},
                },
            },
            "delete": {"deprecated": True},
        },
    },
    "components": {
        "schemas": {
            "Toy": {
                "required": ["name", "number"],
                "properties": {
                    "name": {"type": "string"},
                    "number": {"type": "integer", "readOnly": True},
                    "maker": {"type": "object", "properties": {"country": {"type": "string"}}},
                    "extra": {"type": "object"},
                },
            }
        }
    },
}


def findings(**request: Any) -> Found:
    app: Any = SimpleNamespace(base_url="https://pets.example/v1")
    declared: Any = SimpleNamespace(server="")
    found = Found()
    Api(app, [(declared, Document(PETS, Refs(PETS)))]).check(request, found)
    return found


@pytest.mark.parametrize(
    ("request_", "finding"),
    [
        ({"params": {"limit": "{most}"}}, "GET /v1/pets/…/toys: the parameter shop is required"),
        ({"params": {"shop": "1", "colour": "red"}}, "GET /v1/pets/…/toys: the parameter colour is unknown"),
        ({"method": "PUT"}, "PUT /v1/pets/…/toys: the document has only DELETE, GET, POST"),
        ({"method": "DELETE"}, "DELETE /v1/pets/…/toys: deprecated"),
        ({"method": "DELETE", "json": {"a": 1}}, "DELETE /v1/pets/…/toys: it takes no body"),
        ({"method": "POST", "json": {}}, "POST /v1/pets/…/toys: the field name is required"),
        ({"method": "POST", "json": {"name": "x", "size": 1}}, "POST /v1/pets/…/toys: the field size is unknown"),
        (
            {"method": "POST", "json": {"name": "x", "maker": {"city": "x"}}},
            "POST /v1/pets/…/toys: the field maker.city is unknown",
        ),
        (
            {"params": {"name": "x", "shop": "1"}, "method": "POST"},
            "POST /v1/pets/…/toys: the parameter name is a field of the body",
        ),
    ],
)
def test_what_contradicts_a_description_is_found(request_: dict[str, Any], finding: str) -> None:
    assert finding in findings(url="/pets/{id}/toys", **request_).contradictions


def test_what_a_description_has_is_right_and_what_it_lacks_is_unknown() -> None:
    pages = {"by": "page", "param": "limit"}
    right = findings(url="/pets/{id}/toys?shop=1", params={"limit[gt]": "1"}, pages=pages)
    assert not right.contradictions and not right.unknown
    assert not findings(url="https://pets.example/v1/pets/{toys|path}", params={"shop": "1"}).contradictions
    body = {"name": "{name}", "extra": {"anything": 1}, "maker": {"country": "x"}}
    assert not findings(url="/pets/{id}/toys", method="POST", json=body).contradictions
    assert findings(url="/cats").unknown == ["GET /v1/cats"]
    assert not findings(url="{$hook}", method="DELETE").contradictions


def test_an_app_may_write_a_path_in_another_way_than_its_description() -> None:
    app: Any = SimpleNamespace(base_url="https://pets.example/v1")
    declared: Any = SimpleNamespace(server="")
    same = Same(apps=("pets",), rewrite=(("^/v1/me/", "/v1/pets/-/"),), source="https://pets.example/docs")
    api = Api(app, [(declared, Document(PETS, Refs(PETS)))], same=[same])
    found = Found()
    api.check({"url": "/me/toys", "params": {"shop": "1", "colour": "red"}}, found)
    api.check({"url": "/me/cats"}, found)
    assert found.contradictions == ["GET /v1/me/toys: the parameter colour is unknown"]
    assert found.unknown == ["GET /v1/me/cats"]


SDK = """
    create(body) { return this._client.post('/v1/pets', { body }) }
    list(id, query) { return this._client.get(`/v1/pets/${id}/toys?x=1`, { sortOrder: query.sort }) }
"""
WAY = Way(call=r"client\.(?P<method>get|post)\(['`](?P<path>[^'`]+)['`]")


def sdk_findings(**request: Any) -> Found:
    app: Any = SimpleNamespace(base_url="https://pets.example/v1")
    declared: Any = SimpleNamespace(below="")
    calls = Calls(frozenset(sdks.calls_in(SDK, WAY, {})), frozenset(sdks.words_in(SDK)))
    found = Found()
    Api(app, [], [(declared, calls)]).check(request, found)
    return found


def test_calls_of_an_sdk_are_compared_by_method_path_and_names() -> None:
    right = sdk_findings(url="/pets/{id}/toys", params={"sort_order": "asc"})
    assert (right.contradictions, right.unknown, right.only_in_sdk) == ([], [], ["GET /v1/pets/…/toys"])
    wrong = sdk_findings(url="/pets/{id}/toys", params={"colour": "red"})
    assert wrong.contradictions == ["GET /v1/pets/…/toys: the SDK has no colour"]
    assert sdk_findings(url="/pets", method="PUT").contradictions == ["PUT /v1/pets: the SDK has only POST"]
    wrong = sdk_findings(url="/pets", method="POST", json={"body": {"size": 1}})
    assert wrong.contradictions == ["POST /v1/pets: the SDK has no size"]
    assert sdk_findings(url="/cats").unknown == ["GET /v1/cats"]


def test_paths_are_put_together_of_constants_and_cleaned() -> None:
    way = Way(
        call=r"method: '(?P<method>\w+)', path: (?P<path>[^\n]+)\n",
        constant=r"const (?P<name>[A-Z_]+) = (?P<value>[^;]+);",
        clean=((r"' \+ '", ""), (r" \+ \w+", "/{}"), ("'", "")),
        methods={"fetch": "GET"},
    )
    text = "const PETS = '/pets';\nconst TOYS = PETS + '/toys';\nmethod: 'fetch', path: TOYS + id\n"
    assert sdks.calls_in(text, way, sdks.constants_in([text], way)) == {("GET", "/pets/toys/{}")}


TYPES = """
export type Scalars = {
  ID: { input: string; output: string; };
  String: { input: string; output: string; };
  Day: { input: any; output: any; };
};
export enum Kind {
  Dog = 'dog',
}
export type Named = {
  name: Scalars['String']['output'];
};
/** A pet; */
export type Pet = Named & {
  __typename?: 'Pet';
  /** What it is. */
  kind: Kind;
  name: Scalars['String']['output'];
  friends: Array<Pet>;
};
export type PetFriendsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
};
export type PetInput = {
  name: Scalars['String']['input'];
  born?: InputMaybe<Scalars['Day']['input']>;
};
export type Query = {
  pet?: Maybe<Pet>;
};
export type QueryPetArgs = {
  id: Scalars['ID']['input'];
};
export type Mutation = {
  create_pet: Pet;
};
export type MutationCreate_PetArgs = {
  input: PetInput;
};
"""
CREATE = "mutation($pet: PetInput!) {{ create_pet(input: $pet) {{ name kind }} }}"


@pytest.mark.parametrize(
    ("query", "variables", "findings"),
    [
        ("query($id: ID!) {{ pet(id: $id) {{ name friends(first: 2) {{ kind }} }} }}", {"id": "{id}"}, []),
        (CREATE, {"pet": {"name": "{name}", "born": "{born}"}}, []),
        ("{{ pet(id: 1) {{ size }} }}", {}, ["the query: Cannot query field 'size' on type 'Pet'."]),
        ("{{ pet(id: 1) {{ name }} }}", {"id": "{id}"}, ["the variable id is not in the query"]),
        (CREATE, {"pet": {"name": "{name}", "size": 1}}, ["the field pet.size is unknown"]),
        (CREATE, {"pet": {}}, ["the field pet.name is required"]),
        ("{{ pet(id: 1) {{ {name} }} }}", {}, ["the query has placeholders"]),
        ("{{ pet(id: 1) ", {}, ["the query cannot be read: Syntax Error: Expected Name, found <EOF>."]),
    ],
)
def test_queries_are_compared_with_a_schema(query: str, variables: Any, findings: list[str]) -> None:
    schema = schemas.schema_of(TYPES)
    assert list(schemas.differences(schema, {"json": {"query": query, "variables": variables}})) == findings
    app: Any = SimpleNamespace(base_url="https://pets.example")
    found = Found()
    body = {"query": query, "variables": variables}
    Api(app, [], [], [schema]).check({"method": "POST", "url": "/graphql", "json": body}, found)
    assert found.contradictions == [f"POST /graphql: {finding}" for finding in findings]


CHECKED = [slug for slug, source in APPS.items() if (BUILT_IN / source.path).with_name(checked.FILE).is_file()]


def of(source: Source) -> checked.Checked:
    return checked.of_folder((BUILT_IN / source.path).parent)


@pytest.mark.parametrize("slug", CHECKED)
def test_what_was_checked_is_current_and_nothing_is_contradicted(slug: str) -> None:
    source = APPS[slug]
    written, files = of(source), {each.key.split("-", 1)[1]: each.file for each in source.components}
    assert not written.contradicted, "mend it, or judge it in checked.toml with a source"
    digests = {
        **written.checked,
        **written.checked_by_sdk,
        **{name: each.requests for name, each in written.not_checkable.items() if each.requests},
    }
    for name, digest in digests.items():
        assert name in files, f"{slug}-{name} is gone: run `make facts`"
        assert requests_digest(files[name]) == digest, f"{slug}-{name}: {STALE}"
    assert all(each.source.startswith("https://") and each.why for each in written.judged)
    declared = source.spec.api.documents if source.spec.api else ()
    graphs = [sdk.place for sdk in sdks.of_app(slug, "graphql")]
    assert len(written.documents) == len(declared) + len(graphs)
    assert {each.place for each in written.documents} >= set(graphs)
    assert [each.place for each in written.sdks] == [sdk.place for sdk in sdks.of_app(slug)]


def test_most_of_what_can_be_checked_is() -> None:
    results = [of(source) for source in APPS.values()]
    assert sum(len(result.checked) for result in results) >= 455
    assert sum(len(result.checked) + len(result.checked_by_sdk) for result in results) >= 890


def test_words_may_change_without_another_check_and_requests_may_not(tmp_path: Path) -> None:
    file = tmp_path / "actions" / "do.toml"
    file.parent.mkdir()
    text = (
        'name = "Do"\nsummary = "Did {$answer.url}"\n[request]\nmethod = "POST"\nurl = "/do"\njson = { url = "{x}" }\n'
    )
    file.write_text(text)
    digest = requests_digest(file)
    assert [request["url"] for request in requests_of(file)] == ["/do"] and is_declared(file)
    file.write_text(text.replace('"Do"', '"Do it"'))
    assert requests_digest(file) == digest
    file.write_text(text.replace('"/do"', '"/does"'))
    assert requests_digest(file) != digest


def test_a_component_knows_what_it_was_checked_against() -> None:
    def info(key: str, path: str, app: str = "github") -> Any:
        return SimpleNamespace(key=key, app=app, path=BUILT_IN / path)

    check = checked.of_component(info("github-create-issue", "github/actions/create-issue.toml"))
    assert check == checked.Check("description", min(document.of for document in of(APPS["github"]).documents))
    check = checked.of_component(info("attio-create-note", "attio/actions/create-note.toml", "attio"))
    assert check == checked.Check("sdk", of(APPS["attio"]).sdks[0].of)
    variant = info("netlify_oauth-get-site", "netlify/actions/get-site.toml", "netlify_oauth")
    assert checked.of_component(variant) == checked.Check("description", of(APPS["netlify"]).documents[0].of)
    assert checked.of_component(info("github-new-push", "github/triggers/new-push/0.0.1.py")) is None
    assert checked.of_component(info("~/create-issue", "github/actions/create-issue.toml")) is None
    assert checked.of_component(info("github-create-issue", "/elsewhere/create-issue.toml")) is None
