"""Find e-mails by a search."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, boolean, integer, string, string_list

from .. import common


class FindEmail(Action):
    name = "Find email"
    description = (
        "Find e-mails as the search of Gmail does, the newest first, with their texts. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/list)"
    )
    annotations = READS

    gmail = common.account
    q = string(label="Search", description="As in Gmail, such as from:ada@example.com newer_than:7d.", optional=True)
    labels = string_list(label="Labels", options=common.find_labels, optional=True)
    include_spam_trash = boolean(label="Spam and trash too", default=False, optional=True)
    most = integer(label="At most", aliases=("maxResults",), default=20, min=1, max=50, optional=True)

    def run(self, ctx: Context) -> Any:
        props = ctx.props
        params = {
            "q": props.q,
            "labelIds": props.labels or None,
            "includeSpamTrash": props.include_spam_trash or None,
            "maxResults": props.most,
        }
        listed = ctx.http.get(common.MESSAGES, params=params).json().get("messages", [])
        ctx.export("$summary", f"Found {counted(listed, 'e-mail')}")
        return [common.fetch(ctx, message["id"]) for message in listed]
