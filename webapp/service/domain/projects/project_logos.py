"""The logo of a project (table ``project_logos``), which people see on its Connect Link.

The type of an image is detected from its first bytes, not from the sender's header. SVG is refused, since it can
contain scripts.
"""

import base64
import re
from dataclasses import dataclass

from webapp.errors import Invalid, NotFound, TooLarge
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader
from webapp.store.table import Table

MAX_BYTES = 1024 * 1024
_DATA_URI = re.compile(r"data:[a-z]+/[a-z0-9.+-]+;base64,([A-Za-z0-9+/=\s]+)", re.IGNORECASE)  # RFC 2397
_FIRST_BYTES = (
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n.{4}IHDR", re.DOTALL)),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF.{4}WEBPVP8[ LX]", re.DOTALL)),
)


@dataclass(frozen=True, slots=True)
class Logo:
    """A project's image and its type. ``updated_at`` is in epoch milliseconds."""

    project_id: str
    media_type: str
    image: bytes
    updated_at: int


_LOGOS = Table("project_logos", Logo, key="project_id")


def from_data_uri(text: str) -> bytes:
    """The bytes in a base64 data URI. Raises :class:`Invalid`."""
    match = _DATA_URI.fullmatch(text.strip())
    if match is None:
        raise _refused()
    try:
        return base64.b64decode(match[1], validate=False)
    except ValueError as error:
        raise _refused() from error


def put(service: Service, project_id: str, image: bytes) -> None:
    """Give a project its logo, in place of any before it. Raises :class:`Invalid`, :class:`TooLarge`."""
    if len(image) > MAX_BYTES:
        raise TooLarge(f"The logo has {len(image):,} bytes; send one of at most {MAX_BYTES:,}.")
    media_type = next((kind for kind, first in _FIRST_BYTES if first.match(image)), None)
    if media_type is None:
        raise _refused()
    with service.store.write() as tx:
        _LOGOS.upsert(tx, Logo(project_id, media_type, image, service.clock()))


def get(reader: Reader, project_id: str) -> Logo:
    """The logo of a project. Raises :class:`NotFound`, alike for a project that is not there."""
    logo = _LOGOS.get(reader, project_id)
    if logo is None:
        raise NotFound("There is no such logo.")
    return logo


def address(reader: Reader, project_id: str) -> str:
    """The URL of a project's logo, different for each image; "" without one."""
    row = reader.one("SELECT updated_at FROM project_logos WHERE project_id = :project", {"project": project_id})
    return f"/v1/connect/projects/{project_id}/logo?v={row['updated_at']}" if row else ""


def url(service: Service, project_id: str) -> str:
    """The whole address of a project's logo, for pages elsewhere; "" without one."""
    path = address(service.store, project_id)
    return service.settings.public_url + path if path else ""


def _refused() -> Invalid:
    message = "Send a PNG, JPEG, GIF or WebP image, as a base64 data URI or as a file."
    return Invalid.of("logo", message)
