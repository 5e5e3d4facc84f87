"""The file stash: downloading what a run wrote or a mail brought, by its key, or by the link that a run answered."""

from flask import Response

from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Query
from webapp.service.domain.base import scopes
from webapp.service.domain.components import file_stash
from webapp.service.domain.components.file_stash import StashedFile


class Download(Query):
    """Which file: the ``s3Key`` of a run's ``$filestash_uploads``, or the ``file`` of a mail's attachment."""

    s3_key: str


def download(call: Call) -> Response:
    """One file of the environment, as bytes."""
    return _sent(*file_stash.find(call.service, call.scene, call.query(Download).s3_key))


def follow(call: Call) -> Response:
    """The file that a link leads to, for half an hour and without a token."""
    return _sent(*file_stash.follow(call.service, call.path["ticket"]))


def _sent(file: StashedFile, content: bytes) -> Response:
    return answers.attachment(content, file.name, file.media_type)


OPERATIONS = (
    Operation(
        "download_file", "GET", "P/file_stash/download", download, (scopes.ACTIONS,), connect=False, query=Download
    ),
    Operation("follow_file_link", "GET", "/v1/files/<ticket>", follow, public=True),
)
