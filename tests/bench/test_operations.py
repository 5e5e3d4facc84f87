"""What ``make bench-operations`` asks with: values that fit their schemas, and the document that the mock reads."""

import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from tests.bench import operations
from tests.bench.operations import NOT_JUDGED, address_in, main, pruned
from tests.bench.values import Values, matching
from tests.fakes.openapi_documents import document, root
from webapp.service.catalog.importing import extensions
from webapp.service.catalog.importing.operations import listed

PET: dict[str, Any] = {
    "type": "object",
    "required": ["name", "kind"],
    "properties": {
        "name": {"type": "string", "minLength": 3, "maxLength": 5},
        "kind": {"enum": ["cat", "dog"]},
        "age": {"type": "integer", "minimum": 7, "maximum": 9},
        "id": {"type": "string", "readOnly": True},
        "parents": {"type": "array", "minItems": 2, "items": {"$ref": "#/components/schemas/Pet"}},
    },
}


@pytest.mark.parametrize("seed", range(5))
def test_values_fit_their_schemas(seed: int) -> None:
    values = Values(document({}, schemas={"Pet": PET}), random.Random(seed))
    schema = {"$ref": "#/components/schemas/Pet"}
    pet = values.of_body({"schema": schema})
    assert values.is_valid(schema, pet) and "id" not in pet
    assert not values.is_valid(schema, {**pet, "kind": "cow"})


def test_examples_come_first_where_they_are_valid() -> None:
    values = Values(document({}), random.Random(1))
    assert values.of_parameter({"schema": {"type": "integer"}, "example": 12}) == 12
    assert values.of_parameter({"schema": {"enum": ["a"]}, "example": "b"}) == "a"


def test_a_text_matches_its_pattern() -> None:
    assert re.fullmatch("[a-z]{3}-[0-9]+", matching("^[a-z]{3}-[0-9]+$", 1))
    assert matching("(", 1) == "text"


def test_the_mock_reads_what_operations_refer_to_and_nothing_else() -> None:
    whole = root({}, schemas={"Pet": PET, "Shop": {"type": "object"}})
    kept = pruned(whole, {"/0/pets": {"get": {"schema": {"$ref": "#/components/schemas/Pet"}}}})
    assert (list(kept["paths"]), list(kept["components"]["schemas"])) == (["/0/pets"], ["Pet"])


def test_an_address_is_that_of_its_operation_or_none() -> None:
    operation = listed(document({"/shops/{shop}/{+path}": {"get": {}}}))[-1]
    assert address_in(operation, "https://api.acme.example/v1/shops/a%20b/c/d?x=1") == "/shops/a%20b/c%2Fd?x=1"
    assert address_in(operation, "https://api.acme.example/v1/shops") is None


def test_documents_that_are_left_out_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    none: Any = SimpleNamespace(chosen=())
    monkeypatch.setattr(operations, "extended", lambda *_: none)
    monkeypatch.setattr(extensions, "remove", lambda *_: None)
    done = CliRunner().invoke(main, ["--prism", str(tmp_path), "--documents", "1"])
    assert done.exit_code == 2 and "The seed 1 chooses no document." in done.output
    assert all(f"left out: {name}: {reason}" in done.output for name, reason in NOT_JUDGED.items())
    assert re.search(r"left out: stripe \S+: only 0 of its operations can be run\.", done.output)
