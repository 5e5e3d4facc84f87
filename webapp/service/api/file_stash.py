"""The file stash (contract "File stash"): uploads, and downloads by key, id or link.

A file is uploaded as the body of a request, as one part of a form, or to the address that a file was announced with.
Its name is cleaned and its type follows from the name: what the sender says of it is trusted nowhere. Downloads are
attachments that browsers do not sniff.
"""

from typing import ClassVar

from flask import Request, Response
from pydantic import Field
from werkzeug.exceptions import RequestEntityTooLarge

from webapp import body_limits
from webapp.errors import Invalid, TooLarge
from webapp.service.api.base.call import Call, answer, answer_file, no_content
from webapp.service.api.base.models import Answer, DateTime, ExternalUserId, Query, RawContent
from webapp.service.api.base.operations import USER, Example, Group, Operations, PathParameter
from webapp.service.domain.base import token_scopes
from webapp.service.domain.components import file_stash
from webapp.service.domain.components.file_stash import StashedFile
from webapp.service.domain.projects import projects

FILES = Group("Files", "Files for runs, of runs, and that mails brought, for a while.")
operations = Operations(
    FILES,
    PathParameter("ticket", "The last part of the file's link.", "$TICKET"),
    PathParameter("upload_ticket", "The last part of the address to upload to.", "$UPLOAD_TICKET"),
    PathParameter("file_id", "The file's id (`file_…`).", "$FILE_ID"),
)
FORM = "multipart/form-data"


class Download(Query):
    """Which file: the ``s3Key`` of a run's ``$filestash_uploads``, or the ``file`` of a mail's attachment."""

    s3_key: str = Field(description="The file's key, as the run, the mail or the upload named it.")


class Upload(Query):
    """For whom the file is, and how it is called."""

    owner: ClassVar[str | None] = "external_user_id"
    external_user_id: ExternalUserId | None = Field(None, description="Your id of the user.")
    name: str = Field("", description="The file's name; of a form, that of its part unless given.")
    stash_id: str = Field(
        "", pattern=r"^[A-Za-z0-9_-]{0,64}$", description="The stash to add it to; a new one unless given."
    )


class File(Answer):
    """A file of the stash. `get_url` downloads it for half an hour without a token."""

    id: str = Field(examples=["file_4gQx7mTn2LbR"])
    s3_key: str
    stash_id: str
    external_user_id: str
    name: str
    content_type: str
    size: int
    created_at: DateTime
    expires_at: DateTime
    get_url: str


@operations.post(
    "P/file_stash",
    answer=File,
    scopes=(token_scopes.ACTIONS,),
    query=Upload,
    extension=True,
    upload=True,
    example=Example(query={"external_user_id": USER, "name": "notes.txt"}, file="hello"),
)
def upload_file(call: Call) -> Response:
    """Upload a file of up to 10 MiB, which is kept for a day: as the body, or as the part `file` of a form."""
    query = call.query(Upload)
    external_id = call.caller.user_filter(query.external_user_id) or query.external_user_id
    if external_id is None:
        raise Invalid.of("external_user_id", "It is missing; name the user whose file it is.")
    stash_id = file_stash.checked_stash_id(query.stash_id)
    name, content = _received(call.request)
    file = file_stash.upload(call.service, call.scene, external_id, query.name or name, content, stash_id=stash_id)
    return answer(file.to_json(call.service))


@operations.get(
    "P/file_stash/download",
    answer=RawContent("The file."),
    scopes=(token_scopes.ACTIONS,),
    connect=False,
    query=Download,
    example=Example(query={"s3_key": "$S3_KEY"}),
)
def download_file(call: Call) -> Response:
    """One file of the environment, as bytes."""
    return _sent(*file_stash.find(call.service, call.scene, call.query(Download).s3_key))


@operations.get("P/file_stash/<file_id>", answer=File, scopes=(token_scopes.ACTIONS,), extension=True)
def get_file(call: Call) -> Response:
    """One file, with a new link to download it."""
    return answer(_file(call).to_json(call.service))


@operations.delete(
    "P/file_stash/<file_id>",
    scopes=(token_scopes.ACTIONS,),
    extension=True,
    example=Example(path={"file_id": "$FILE_TO_DELETE_ID"}),
)
def delete_file(call: Call) -> Response:
    """Delete a file before its day is over."""
    file_stash.remove(call.service, _file(call))
    return no_content()


@operations.get("/v1/files/<ticket>", answer=RawContent("The file."), public=True, extension=True)
def follow_file_link(call: Call) -> Response:
    """The file that a link leads to, for half an hour and without a token."""
    return _sent(*file_stash.follow(call.service, call.path["ticket"]))


@operations.post(
    "/v1/uploads/<upload_ticket>",
    answer=File,
    public=True,
    errors=(404, 409),
    extension=True,
    upload=True,
    example=Example(file="hello"),
)
def upload_announced_file(call: Call) -> Response:
    """Upload the file that an agent announced, once, within half an hour and without a token."""
    announced = file_stash.announced(call.service, call.path["upload_ticket"])
    projects.get(call.store, announced.scene.project_id)
    _, content = _received(call.request)
    file = file_stash.upload(
        call.service,
        announced.scene,
        announced.external_id,
        announced.name,
        content,
        file_id=announced.id,
    )
    return answer(file.to_json(call.service))


def _file(call: Call) -> StashedFile:
    """The file of the address, if it is the caller's to have. Raises :class:`webapp.errors.NotFound`."""
    owner = call.user.external_id if call.user else None
    return file_stash.get(call.service, call.scene, owner, call.path["file_id"])


def _received(request: Request) -> tuple[str, bytes]:
    """The name and content of the file in ``request``; a body without a form has no name.

    Raises :class:`Invalid` for a form without exactly one file, :class:`TooLarge`.
    """
    request.max_content_length = body_limits.UPLOAD
    try:
        if request.mimetype != FORM:
            return "", request.get_data(cache=False)
        sent = request.files.getlist("file")
        if len(sent) != 1:
            raise Invalid.of("file", "Send exactly one file, as the part “file” of the form.")
        return sent[0].filename or "", sent[0].stream.read(file_stash.MAX_BYTES + 1)
    except RequestEntityTooLarge as error:
        raise TooLarge(file_stash.OVERSIZED) from error


def _sent(file: StashedFile, content: bytes) -> Response:
    return answer_file(content, file.name, file.media_type)
