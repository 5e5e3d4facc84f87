"""Further names of apps, components and props: each finds the thing, under its own name, and none finds two."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.service.catalog.samples import CATEGORIES, KEYS, bare
from webapp.service.catalog import aliases
from webapp.service.catalog.check import judge
from webapp.service.catalog.component_files import Component
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import Places, read

PROPS = [
    {"name": "account", "type": "app", "app": "acme_mail"},
    {"name": "thread_id", "type": "string"},
    {"name": "text", "type": "string"},
]
ACTION = """
name = "Send"
version = "1.0.0"
description = "Send it."
aliases = ["send-message"]
hints = "creates"
summary = "Sent"

[props]
acme = { type = "app", app = "acme" }
text = { type = "string", label = "Text", aliases = ["body"] }

[request]
url = "/send"
"""


def test_props_are_known_in_camel_case_and_the_account_by_its_app() -> None:
    names = aliases.prop_names(PROPS, {"body": "text"}, ["acme_mail", "mailer_v2"])
    account = dict.fromkeys(["app", "acmeMail", "mailerV2"], "account")
    assert names == {**account, "threadId": "thread_id", "body": "text"}


def test_the_name_of_a_prop_is_no_alias_of_another() -> None:
    props = [*PROPS, {"name": "app", "type": "string"}, {"name": "threadId", "type": "string"}]
    assert aliases.prop_names(props, {}, ["acme_mail"]) == {"acmeMail": "account"}
    two = [PROPS[0], {**PROPS[0], "name": "other"}]
    assert aliases.prop_names(two, {}, ["acme_mail"]) == {}


def test_a_component_is_known_under_every_name_of_its_app() -> None:
    keys = aliases.keys(["acme", "acme_v2"], "acme", "acme-send", ["send-message"])
    assert list(keys) == ["acme-send-message", "acme_v2-send", "acme_v2-send-message"]


def declared(name: str, *names: str, app: str | None = "acme") -> tuple[Component, dict[str, Any]]:
    path = f"acme/actions/{name}.toml"
    return Component(f"acme-{name}", "1.0.0", "action", app, path, Path("/apps")), {"aliases": names}


@pytest.mark.parametrize(
    ("components", "sentence"),
    [
        ([declared("send", "post"), declared("post")], "the alias post is a name of post already."),
        ([declared("send", "tell"), declared("post", "tell")], "the alias tell is a name of send already."),
        ([declared("send", "post", app=None)], "aliases belong to components of an app; leave them out."),
    ],
)
def test_a_name_finds_one_component(components: list[Any], sentence: str) -> None:
    assert list(aliases.problems(components).values()) == [[sentence]]
    assert aliases.problems([declared("send", "post"), declared("send", "post")]) == {}  # two versions of one


@pytest.fixture
def acme(folder: Path, declare: Callable[[str, str], Path], opened: Callable[..., Catalog]) -> Catalog:
    declare("acme", KEYS.replace('slug = "acme"', 'slug = "acme"\naliases = ["acme_v2", "zeta"]'))
    (folder / "acme" / "actions").mkdir()
    (folder / "acme" / "actions" / "send.toml").write_text(ACTION, "utf-8")
    return opened()


def test_the_catalog_finds_each_by_its_other_names(acme: Catalog) -> None:
    app, action = acme.app("acme"), acme.component("acme-send")
    assert app is not None and acme.app("acme_v2") is app and len(acme) == 1
    assert action is not None
    assert action.prop_aliases == {"app": "acme", "acmeV2": "acme", "zeta": "acme", "body": "text"}
    assert [acme.component(key, "1.0.0") for key in ("acme_v2-send-message", "zeta-send")] == [action, action]
    assert acme.component("acme-send-message", "2.0.0") is None and acme.component("acme-sent") is None


def test_an_alias_gives_way_to_an_app_of_the_operator(tmp_path: Path) -> None:
    built_in, own = tmp_path / "built_in", tmp_path / "own"
    for place, slug, text in ((built_in, "acme", KEYS), (own, "zeta", bare("zeta", "Zeta"))):
        (place / slug).mkdir(parents=True)
        (place / slug / "app.toml").write_text(text.replace('slug = "acme"', 'slug = "acme"\naliases = ["zeta"]'))
    (built_in / "categories.toml").write_text(CATEGORIES)
    assert judge(read(Places([own], built_in=built_in))).problems == ()


def test_an_app_cannot_take_the_name_of_another(folder: Path, declare: Callable[[str, str], Path]) -> None:
    declare("acme", KEYS.replace('slug = "acme"', 'slug = "acme"\naliases = ["zeta"]'))
    declare("zeta", bare("zeta", "Zeta"))
    assert judge(read(Places(built_in=folder))).problems == (
        "acme/app.toml: the alias zeta is a name of zeta already; leave it out.",
    )


# What clients that were written for another catalog send: keys, and names of props that stand for ours.
HARD_CODED = {
    "slack_v2-send-message": (
        "slack-send-message",
        {"slack", "conversation", "text", "thread_ts", "blocks", "post_at"},
    ),
    "slack-send-message-to-channel": ("slack-send-message", {"slack", "conversation"}),
    "slack-update-message": ("slack-update-message", {"conversation", "timestamp"}),
    "slack-add-emoji-reaction": ("slack-add-reaction", {"conversation", "timestamp", "icon_emoji"}),
    "github-create-issue-comment": ("github-create-comment", {"github", "repoFullname", "issueNumber", "body"}),
    "github-search-issues-and-pull-requests": ("github-search-issues", {"query", "maxResults"}),
    "google_sheets-create-spreadsheet": ("google_sheets-create-spreadsheet", {"googleSheets", "title"}),
    "airtable_oauth-create-single-record": ("airtable-create-record", {"airtable", "baseId", "tableId"}),
    "airtable_oauth-update-record": ("airtable-update-record", {"recordId"}),
    "notion-create-page": ("notion-create-page", {"notion", "parent", "pageContent"}),
    "notion-query-database": ("notion-query-database", {"dataSourceId", "sorts"}),
    "stripe-create-refund": ("stripe-create-refund", {"app", "paymentIntent"}),
    "telegram_bot_api-send-text-message-or-reply": ("telegram-send-message", {"telegramBotApi", "reply_to_message_id"}),
    "todoist-create-task": ("todoist-create-task", {"project", "section", "dueString"}),
    "todoist-mark-task-completed": ("todoist-complete-task", {"taskId"}),
    "trello-create-card": ("trello-create-card", {"app", "board", "idList", "name", "desc"}),
    "openai-chat": ("openai-create-response", {"modelId", "userMessage"}),
    "anthropic-chat": ("anthropic-create-message", {"userMessage"}),
    "postgresql-execute-custom-query": ("postgresql-execute-query", {"postgresql", "sql"}),
    "http-custom-request": ("http-send-request", {"httpRequest"}),
    "rss-new-item-in-feed": ("rss-new-item", {"url", "timer"}),
    "zendesk-create-ticket": ("zendesk-create-ticket", {"zendesk", "ticketCommentBody"}),
    "hubspot-get-contact": ("hubspot-get-contact", {"hubspot", "objectId"}),
    "github-new-or-updated-issue": ("github-new-or-updated-issue", {"github", "repoFullname"}),
    "github-create-branch": ("github-create-branch", {"github", "repoFullname", "branchName"}),
    "jira-transition-issue": ("jira-transition-issue", {"jira", "issueIdOrKey", "transition"}),
    "jira-add-comment-to-issue": ("jira-add-comment-to-issue", {"jira", "issueIdOrKey", "body"}),
    "asana-create-task-comment": ("asana-create-task-comment", {"asana", "task_gid", "text"}),
    "slack_v2-upload-file": ("slack-upload-file", {"slack", "conversation"}),
    "discord_bot-send-message": ("discord_bot-send-message", {"discordBot", "message"}),
    "slack-new-message-in-channels": ("slack-new-message", {"slack", "conversations"}),
    "google_sheets-add-single-row": ("google_sheets-add-row", {"googleSheets", "sheetId", "sheetName", "hasHeaders"}),
    "google_sheets-find-row": ("google_sheets-find-rows", {"sheetId", "sheetName", "column", "value"}),
    "google_sheets-new-row-added": ("google_sheets-new-row", {"googleSheets", "sheetID", "worksheetIDs"}),
    "hubspot-search-crm": ("hubspot-search-crm", {"objectType", "searchProperty", "searchValue"}),
    "gmail-add-label-to-email": ("gmail-add-label-to-email", {"gmail", "message", "addLabelIds"}),
    "notion-create-page-from-database": ("notion-create-database-item", {"notion", "parentDataSource", "templateType"}),
    "notion-append-block": ("notion-append-text", {"notion", "pageId", "blockTypes", "markdownContents"}),
    "http-get-request": ("http-send-request", {"httpRequest"}),
    "http-post-request": ("http-send-request", {"httpRequest"}),
    "shopify_developer_app-create-product": ("shopify-create-product", {"title"}),
    "jira-create-issue": ("jira-create-issue", {"jira", "cloudId", "projectId", "issueTypeId", "summary"}),
    "salesforce_rest_api-delete-record": ("salesforce-delete-record", {"sobjectType", "sobjectId"}),
    "airtable_oauth-list-comments": ("airtable-list-comments", {"baseId", "tableId", "recordId"}),
    "github-get-workflow-run": ("github-get-workflow-run", {"repoFullname", "runId"}),
    "github-merge-pull-request": (
        "github-merge-pull-request",
        {"repoFullname", "pullNumber", "mergeMethod", "commitTitle"},
    ),
    "github-run-workflow": ("github-create-workflow-dispatch", {"repoFullname", "workflow", "ref", "inputs"}),
    "gitlab-create-merge-request": (
        "gitlab-create-merge-request",
        {"projectId", "sourceBranch", "targetBranch", "title", "description"},
    ),
    "gmail-delete-label": ("gmail-delete-label", {"label"}),
    "gmail-find-emails": ("gmail-find-email", {"q", "labelIds", "includeSpamTrash", "maxResults"}),
    "gmail-get-thread": ("gmail-list-thread-messages", {"threadId", "format"}),
    "google_drive-get-user-details": ("google_drive-get-current-user", {"googleDrive"}),
    "google_drive-list-shared-drives": ("google_drive-search-shared-drives", {"googleDrive"}),
    "google_drive-remove-file-sharing-permission": (
        "google_drive-remove-permission",
        {"useFileOrFolder", "fileId", "folderId", "permissionId"},
    ),
    "google_drive-remove-sharing": ("google_drive-remove-permission", {"fileId", "permissionId"}),
    "google_drive-search-files": ("google_drive-search-files", {"query", "maxResults"}),
    "google_sheets-add-multiple-rows": ("google_sheets-add-rows", {"drive", "sheetId", "worksheetId", "rows"}),
    "google_sheets-add-worksheet": ("google_sheets-create-worksheet", {"spreadsheetId", "title"}),
    "google_sheets-clear-cell": ("google_sheets-clear-values", {"drive", "sheetId", "worksheetId", "cell"}),
    "google_sheets-get-cell": ("google_sheets-get-cell", {"drive", "sheetId", "worksheetId", "cell"}),
    "google_sheets-get-values-in-range": ("google_sheets-get-values", {"drive", "sheetId", "worksheetId", "range"}),
    "google_sheets-list-spreadsheets": ("google_sheets-list-spreadsheets", {"query", "limit"}),
    "google_sheets-update-cell": ("google_sheets-update-cell", {"drive", "sheetId", "worksheetId", "cell", "newCell"}),
    "hubspot-create-meeting": ("hubspot-create-meeting", {"toObjectType", "objectProperties"}),
    "jira-search-issues-with-jql-post": ("jira-search-issues-with-jql", {"cloudId", "jql", "maxResults"}),
    "openai-create-moderation": ("openai-create-moderation", {"input", "model"}),
    "salesforce_rest_api-create-case": ("salesforce-create-case", {"Subject", "Description", "Priority"}),
    "salesforce_rest_api-create-casecomment": ("salesforce-create-casecomment", {"ParentId", "CommentBody"}),
    "salesforce_rest_api-create-contact": ("salesforce-create-contact", {"LastName", "FirstName", "Email", "Phone"}),
    "salesforce_rest_api-create-crm-record": ("salesforce-create-record", {"objectType", "properties"}),
    "salesforce_rest_api-create-lead": ("salesforce-create-lead", {"Company", "LastName", "FirstName", "Email"}),
    "salesforce_rest_api-update-contact": ("salesforce-update-contact", {"contactId", "FirstName", "Title"}),
    "salesforce_rest_api-update-crm-record": ("salesforce-update-record", {"objectType", "recordId", "properties"}),
    "salesforce_rest_api-update-opportunity": (
        "salesforce-update-opportunity",
        {"opportunityId", "StageName", "Amount"},
    ),
    "salesforce_rest_api-upsert-record": (
        "salesforce-upsert-record",
        {"objectType", "externalIdFieldName", "externalIdValue"},
    ),
    "shopify_developer_app-search-custom-collection-by-name": (
        "shopify-search-custom-collection",
        {"title", "maxResults"},
    ),
    "slack_v2-add-reaction": ("slack-add-reaction", {"channel", "timestamp", "name"}),
    "slack_v2-edit-message": ("slack-update-message", {"channel", "timestamp", "text"}),
    "slack_v2-find-user-by-id": ("slack-get-user", {"user"}),
    "slack_v2-get-channel-details": ("slack-get-channel", {"channel"}),
    "slack_v2-get-channel-history": ("slack-list-messages", {"channel", "limit"}),
    "slack_v2-get-thread-replies": ("slack-list-replies", {"channel", "threadTs", "limit"}),
    "slack_v2-get-user-details": ("slack-get-current-user", {"slack"}),
    "slack_v2-new-channel-created": ("slack-new-channel", {"slack"}),
    "slack_v2-new-reaction-added": ("slack-new-reaction", {"conversations", "iconEmoji"}),
    "slack_v2-post-message": ("slack-send-message", {"channel", "text", "threadTs", "replyBroadcast", "blocks"}),
    "stripe-cancel-subscription": ("stripe-cancel-subscription", {"subscriptionId"}),
    "stripe-create-price": ("stripe-create-price", {"product", "country", "currency"}),
    "zendesk-search-tickets": ("zendesk-search-tickets", {"query", "limit", "customSubdomain"}),
}


@pytest.mark.parametrize("key", HARD_CODED)
def test_what_clients_hard_code_finds_ours(shipped: Catalog, key: str) -> None:
    ours, props = HARD_CODED[key]
    component = shipped.component(key)
    assert component is not None and component.key == ours
    assert props - {prop["name"] for prop in component.props} - component.prop_aliases.keys() == set()
