"""Downloads from the file stash (contract "File stash"): files of a run or a mail, by key or link."""

from flask import Response
from pydantic import Field

from webapp.service.api.base.call import Call, answer_file
from webapp.service.api.base.models import Query, RawContent
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.domain.base import scopes
from webapp.service.domain.components import file_stash
from webapp.service.domain.components.file_stash import StashedFile

FILES = Group("Files", "Files that runs wrote and mails brought, for a while.")
operations = Operations(FILES, PathParameter("ticket", "The last part of the file's link.", "$TICKET"))


class Download(Query):
    """Which file: the ``s3Key`` of a run's ``$filestash_uploads``, or the ``file`` of a mail's attachment."""

    s3_key: str = Field(description="The file's key, as the run or the mail named it.")


@operations.get(
    "P/file_stash/download",
    answer=RawContent("The file."),
    scopes=(scopes.ACTIONS,),
    connect=False,
    query=Download,
    example=Example(query={"s3_key": "$S3_KEY"}),
)
def download_file(call: Call) -> Response:
    """One file of the environment, as bytes."""
    return _sent(*file_stash.find(call.service, call.scene, call.query(Download).s3_key))


@operations.get("/v1/files/<ticket>", answer=RawContent("The file."), public=True, extension=True)
def follow_file_link(call: Call) -> Response:
    """The file that a link leads to, for half an hour and without a token."""
    return _sent(*file_stash.follow(call.service, call.path["ticket"]))


def _sent(file: StashedFile, content: bytes) -> Response:
    return answer_file(content, file.name, file.media_type)
