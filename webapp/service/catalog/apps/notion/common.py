"""What the Notion components share: finding pages and databases, and text as blocks.

Written for the version 2026-03-11 of the API, which app.toml names: the rows of a database stand in its data sources.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from webapp.service.components.authoring import ComponentError, Context, HttpError, Option, Options, app, string

_BLOCKS_AT_ONCE, _CHARACTERS = 100, 2000  # https://developers.notion.com/reference/request-limits
_MARKS = {"# ": "heading_1", "## ": "heading_2", "### ": "heading_3", "- ": "bulleted_list_item"}
JsonObject = dict[str, Any]


def search(ctx: Context, kind: str | None, query: str, cursor: str | None = None, most: int = 100) -> JsonObject:
    """One page of what was shared with the connection, last edited first; ``kind`` is ``page`` or ``data_source``."""
    search = {
        "query": query,
        "sort": {"direction": "descending", "timestamp": "last_edited_time"},
        "filter": {"property": "object", "value": kind} if kind else None,
        "start_cursor": cursor,
        "page_size": most,
    }
    answer: JsonObject = ctx.http.post("/v1/search", json=filled(search)).json()
    return answer


def _find_pages(ctx: Context) -> Options:
    """The pages that were shared with the connection."""
    return _find(ctx, "page")


def _find_databases(ctx: Context) -> Options:
    """The data sources of the databases that were shared with the connection."""
    return _find(ctx, "data_source")


def data_source(ctx: Context) -> JsonObject:
    """The chosen data source; the id of a database that has but one will do too. Raises :class:`ComponentError`."""
    try:
        return _data_source(ctx, ctx.props.database_id)
    except HttpError as error:
        if error.status != 404:
            raise
    database = ctx.http.get(f"/v1/databases/{quote(ctx.props.database_id, safe='')}").json()
    sources = database.get("data_sources", [])
    if len(sources) == 1:
        return _data_source(ctx, sources[0]["id"])
    names = ", ".join(source.get("name") or "Untitled" for source in sources)
    raise ComponentError(
        f"This database has several data sources: {names}. Choose one of them as the database."
        if sources
        else "None of this database's data sources was shared with the connection. Share one in Notion."
    )


def _data_source(ctx: Context, id: str) -> JsonObject:
    source: JsonObject = ctx.http.get(f"/v1/data_sources/{quote(id, safe='')}").json()
    return source


def query(ctx: Context, most: int, **conditions: Any) -> list[JsonObject]:
    """Up to ``most`` rows of the chosen data source."""
    path = f"/v1/data_sources/{quote(data_source(ctx)['id'], safe='')}/query"
    rows: list[JsonObject] = []
    cursor = None
    while True:
        page = {**conditions, "start_cursor": cursor, "page_size": min(100, most - len(rows))}
        answer = ctx.http.post(path, json=filled(page)).json()
        rows += answer["results"]
        cursor = answer.get("next_cursor")
        if not cursor or len(rows) >= most:
            return rows


def _find(ctx: Context, kind: str) -> Options:
    cursor = ctx.previous.get("cursor")
    if ctx.page and not cursor:
        return Options([])
    answer = search(ctx, kind, ctx.query, cursor)
    following = answer.get("next_cursor")
    options = [Option(title(result), result["id"]) for result in answer["results"]]
    return Options(options, {"cursor": following} if following else None)


def title(result: Mapping[str, Any]) -> str:
    """What a page or database is called."""
    properties = result.get("properties", {}).values()
    texts: list[JsonObject] = result.get("title") or next(
        (property_["title"] for property_ in properties if property_.get("type") == "title"), []
    )
    return "".join(text["plain_text"] for text in texts) or "Untitled"


def filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` without those that are None or empty."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def rich_text(text: str) -> list[dict[str, Any]]:
    """``text`` as rich text, in pieces that Notion takes."""
    pieces = [text[at : at + _CHARACTERS] for at in range(0, len(text), _CHARACTERS)]
    return [{"type": "text", "text": {"content": piece}} for piece in pieces]


def blocks(text: str) -> list[dict[str, Any]]:
    """A block for each line that is not empty: ``#`` to ``###`` for headings, ``-`` for a list, else a paragraph."""
    return [_block(line.strip()) for line in text.splitlines() if line.strip()]


def _block(line: str) -> dict[str, Any]:
    mark, kind = next(((mark, kind) for mark, kind in _MARKS.items() if line.startswith(mark)), ("", "paragraph"))
    return {"object": "block", "type": kind, kind: {"rich_text": rich_text(line.removeprefix(mark).strip())}}


def append(ctx: Context, page_id: str, children: Sequence[dict[str, Any]]) -> int:
    """Append blocks to a page, as many at once as Notion takes; how many there were."""
    for at in range(0, len(children), _BLOCKS_AT_ONCE):
        ctx.http.patch(
            f"/v1/blocks/{quote(page_id, safe='')}/children", json={"children": children[at : at + _BLOCKS_AT_ONCE]}
        )
    return len(children)


account = app("notion")
page_prop = string(
    label="Page", description="One that was shared with the connection.", options=_find_pages, use_query=True
)
database_prop = string(
    label="Database",
    description="One that was shared with the connection. One with several data sources is offered once for each.",
    options=_find_databases,
    use_query=True,
)
content_prop = string(
    label="Content",
    description="A block for each line: # to ### begin a heading, - an item of a list, anything else a paragraph.",
)
