"""Swagger 2.0 is brought to the form of OpenAPI 3: addresses, parameters, bodies, answers and ways to sign in."""

from webapp.service.catalog.importing.swagger import converted

OLD = {
    "swagger": "2.0",
    "info": {"title": "Shop"},
    "host": "shop.example",
    "basePath": "/v2/",
    "schemes": ["http", "https"],
    "consumes": ["application/json"],
    "produces": ["application/json"],
    "parameters": {"page": {"name": "page", "in": "query", "type": "integer"}},
    "definitions": {"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}},
    "securityDefinitions": {
        "basic": {"type": "basic"},
        "key": {"type": "apiKey", "in": "query", "name": "k"},
        "oauth": {
            "type": "oauth2",
            "flow": "accessCode",
            "authorizationUrl": "https://shop.example/a",
            "tokenUrl": "https://shop.example/t",
            "scopes": {"read": "Read"},
        },
    },
    "paths": {
        "/pets": {
            "parameters": [{"$ref": "#/parameters/page"}],
            "get": {
                "parameters": [
                    {
                        "name": "ids",
                        "in": "query",
                        "type": "array",
                        "items": {"type": "string"},
                        "collectionFormat": "pipes",
                    }
                ],
                "responses": {"200": {"schema": {"type": "array", "items": {"$ref": "#/definitions/Pet"}}}},
            },
            "post": {
                "parameters": [{"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}}]
            },
        },
        "/photos": {
            "post": {
                "parameters": [
                    {"name": "photo", "in": "formData", "type": "file", "required": True},
                    {"name": "tags", "in": "formData", "type": "array", "items": {"type": "string"}},
                ]
            },
            "put": {"parameters": [{"name": "title", "in": "formData", "type": "string"}]},
        },
    },
}


def test_addresses_are_whole_and_encrypted_ones_come_first() -> None:
    assert converted(OLD)["servers"] == [{"url": "https://shop.example/v2"}, {"url": "http://shop.example/v2"}]
    assert converted({"swagger": "2.0", "basePath": "/v2"})["servers"] == [{"url": "/v2"}]


def test_parameters_of_the_path_and_their_styles_are_the_operations_own() -> None:
    page, ids = converted(OLD)["paths"]["/pets"]["get"]["parameters"]
    assert page == {"name": "page", "in": "query", "schema": {"type": "integer"}}
    assert (ids["style"], ids["explode"], ids["schema"]["items"]) == ("pipeDelimited", False, {"type": "string"})


def test_bodies_and_forms_are_request_bodies() -> None:
    paths = converted(OLD)["paths"]
    body = paths["/pets"]["post"]["requestBody"]
    assert body == {"required": True, "content": {"application/json": {"schema": {"$ref": "#/definitions/Pet"}}}}
    form = paths["/photos"]["post"]["requestBody"]["content"]["multipart/form-data"]
    assert form["schema"]["properties"]["photo"] == {"type": "string", "format": "binary", "description": ""}
    assert (form["schema"]["required"], form["encoding"]) == (["photo"], {"tags": {"explode": False}})
    assert list(paths["/photos"]["put"]["requestBody"]["content"]) == ["application/x-www-form-urlencoded"]


def test_answers_and_ways_to_sign_in_have_their_newer_form() -> None:
    new = converted(OLD)
    assert list(new["paths"]["/pets"]["get"]["responses"]["200"]["content"]) == ["application/json"]
    schemes = new["components"]["securitySchemes"]
    assert schemes["basic"] == {"type": "http", "scheme": "basic"}
    assert schemes["key"] == {"type": "apiKey", "in": "query", "name": "k"}
    assert schemes["oauth"]["flows"]["authorizationCode"]["tokenUrl"] == "https://shop.example/t"
