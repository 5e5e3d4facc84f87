"""An answer that is handed on while it arrives, so that it is never held in memory as a whole; and its counterpart,
a body that is read while it is sent."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from socket import socket
from typing import IO

from urllib3._collections import HTTPHeaderDict
from urllib3.connection import HTTPConnection
from urllib3.response import BaseHTTPResponse

from webapp.service.outbound.outcomes import NETWORK_ERRORS, exchange_failure

BLOCK = 64 * 1024
MaskBody = Callable[[Iterator[bytes]], Iterator[bytes]]
_TEXT = re.compile(r"\s*(text/|application/([\w.-]+\+)?(json|xml|javascript|x-www-form-urlencoded|x-ndjson)\b)", re.I)


@dataclass(frozen=True, slots=True)
class Upload:
    """A body of ``length`` bytes that is read when it is sent; it can be sent once."""

    source: IO[bytes] = field(repr=False)
    length: int


def header_fields(pairs: Iterable[tuple[str, str]]) -> HTTPHeaderDict:
    """Headers that are matched without regard to case; those of one name are read joined."""
    return HTTPHeaderDict(pairs)


class Broken(Exception):
    """The answer broke off in the middle; the message is one sentence."""


class Stream:
    """An answer whose head has arrived. Close it, whether or not it was read to its end."""

    def __init__(self, response: BaseHTTPResponse, connection: HTTPConnection, sock: socket, url: str) -> None:
        self.status, self.url = response.status, url
        self.headers: HTTPHeaderDict = response.headers
        self._response, self._connection, self._sock = response, connection, sock
        self._mask_body: MaskBody = iter

    def blocks(self) -> Iterator[bytes]:
        """The body, encoded as it came. Raises :class:`Broken`."""
        return self._mask_body(self._read())

    def _read(self) -> Iterator[bytes]:
        try:
            while block := self._response.read1(BLOCK, decode_content=False):
                yield block
        except NETWORK_ERRORS as error:
            raise Broken(exchange_failure(error, self._connection.host, 0).sentence) from error
        finally:
            self.close()

    def hide(self, mask: Callable[[str], str], mask_body: MaskBody) -> None:
        """Put the address and every header through ``mask``, and a body of text that is not encoded through
        ``mask_body``, which keeps its length."""
        if _TEXT.match(self.headers.get("content-type", "text/")) and "content-encoding" not in self.headers:
            self._mask_body = mask_body
        self.url = mask(self.url)
        self.headers = HTTPHeaderDict((name, mask(value)) for name, value in self.headers.iteritems())

    def close(self) -> None:
        """Give back the connection; again does nothing."""
        self._response.close()
        self._connection.close()
        self._sock.close()
