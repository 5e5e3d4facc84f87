"""JSON schemas of the models of requests and answers, and a sample of each answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from webapp.service.api.base.models import Answer, Error, OAuthError
from webapp.service.api.base.operations import Operation

REF = "#/components/schemas/{model}"
AT, AT_MS, AT_S = "2026-11-21T08:00:00.000Z", 1_795_248_000_000, 1_795_248_000


class _Generator(GenerateJsonSchema):
    """Schemas without ``default: null``: what may be left out is simply not required; nor with titles of fields, which
    say their names again."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if not described.get("default", True) and described.get("default") is not False:
            described.pop("default")
        return described

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class Schemas:
    """The schemas of the models of ``operations``: those that have a name, and a ``$ref`` to each.

    ``named`` keeps the ``examples`` of fields, from which samples are drawn; :meth:`published` leaves them out.
    """

    def __init__(self, operations: Sequence[Operation]) -> None:
        models: dict[Any, None] = dict.fromkeys((Error, OAuthError))
        for operation in operations:
            if operation.body:
                models[operation.body] = None
            if isinstance(operation.answer, type) and issubclass(operation.answer, Answer):
                models[operation.answer] = None
        modes = [(model, "validation") for model in models]
        refs, document = models_json_schema(modes, ref_template=REF, schema_generator=_Generator)  # type: ignore[arg-type]  # the mode is one of its literals
        self.named: dict[str, Any] = document["$defs"]
        self._refs = {model: {"$ref": refs[model, "validation"]["$ref"]} for model in models}

    def of(self, model: Any) -> dict[str, Any]:
        """The schema of ``model``; of one that is no object itself, its definitions stand in ``named`` already."""
        if model in self._refs:
            return self._refs[model]
        schema = TypeAdapter(model).json_schema(ref_template=REF, schema_generator=_Generator)
        schema.pop("$defs", None)
        return schema

    def published(self) -> dict[str, Any]:
        """The named schemas, as the description of the API has them."""
        return {name: _without_examples(schema) for name, schema in self.named.items()}

    def sample(self, schema: Mapping[str, Any]) -> Any:
        """A value that ``schema`` allows: its example, or one of its type. Only what is never missing is in it."""
        if "examples" in schema:
            return schema["examples"][0]
        if "$ref" in schema:
            return self.sample(self.named[schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema:
            return self.sample(schema["anyOf"][0])
        if "const" in schema or "enum" in schema:
            return schema.get("const") or schema["enum"][0]
        return self._sample_of_type(schema)

    def _sample_of_type(self, schema: Mapping[str, Any]) -> Any:
        match schema.get("type"):
            case "object":
                fields = schema.get("properties", {})
                return {name: self.sample(fields[name]) for name in fields if name in schema.get("required", ())}
            case "array":
                return [self.sample(schema["items"])] if "$ref" in schema.get("items", {}) else []
            case "integer" | "number":
                description = schema.get("description", "")
                return AT_MS if "Milliseconds" in description else AT_S if "Seconds" in description else 12
            case "boolean":
                return True
            case "string":
                return AT if schema.get("format") == "date-time" else "…"
        return None


def query_schema(operation: Operation) -> dict[str, Any]:
    """The schema of the query string; a parameter is there or not, and never null."""
    if operation.query is None:
        return {}
    schema = operation.query.model_json_schema(ref_template=REF, schema_generator=_Generator)
    fields = schema.get("properties", {}).items()
    return {**schema, "properties": {name: _not_null(field) for name, field in fields}}


def text_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """``schema`` of a parameter: nothing in an address may hold NUL."""
    plain = schema.get("type") == "string" and not {"pattern", "enum", "format"} & set(schema)
    return {**schema, "pattern": "^[^\\u0000]*$"} if plain else schema


def _not_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1:
        return {**{name: value for name, value in schema.items() if name != "anyOf"}, **choices[0]}
    return dict(schema)


def _without_examples(schema: Mapping[str, Any]) -> dict[str, Any]:
    fields = schema.get("properties", {}).items()
    plain = {name: {key: value for key, value in field.items() if key != "examples"} for name, field in fields}
    return {**schema, "properties": plain} if plain else dict(schema)
