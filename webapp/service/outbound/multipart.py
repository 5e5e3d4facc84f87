"""Bodies of ``multipart/form-data`` (RFC 7578)."""

from collections.abc import Sequence

from urllib3.fields import RequestField
from urllib3.filepost import encode_multipart_formdata


def encode(parts: Sequence[tuple[str, str | None, bytes]]) -> tuple[bytes, str]:
    """Body and media type for ``parts``: the name of each, its file name if it is a file, and its content."""
    return encode_multipart_formdata([_field(*part) for part in parts])


def _field(name: str, file_name: str | None, content: bytes) -> RequestField | tuple[str, bytes]:
    return (name, content) if file_name is None else RequestField.from_tuples(name, (file_name, content))
