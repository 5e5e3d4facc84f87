"""An example as a command for a shell."""

from webapp.service.api.base.operations import Operation
from webapp.service.api.reference.commands import curl
from webapp.service.api.table import OPERATIONS


def operation(name: str) -> Operation:
    return next(one for one in OPERATIONS if one.name == name)


def test_a_call_of_a_project_names_its_token_and_environment() -> None:
    assert curl(operation("delete_account")).splitlines() == [
        "curl -X DELETE \\",
        '  "$PATCHBAY/v1/connect/$PROJECT_ID/accounts/$OTHER_ACCOUNT_ID" \\',
        '  -H "Authorization: Bearer $TOKEN" \\',
        '  -H "x-pd-environment: development"',
    ]


def test_a_body_is_a_here_document_and_a_public_call_has_no_token() -> None:
    command = curl(operation("create_access_token"))
    assert "Authorization" not in command and "x-pd-environment" not in command
    assert command.endswith("\nJSON") and '"client_secret": "$CLIENT_SECRET"' in command


def test_a_query_is_quoted_but_for_names() -> None:
    assert "?s3_key=$S3_KEY" in curl(operation("download_file"))
    assert "url=https%3A%2F%2Fapp.example.com%2Fall" in curl(operation("create_webhook"))
