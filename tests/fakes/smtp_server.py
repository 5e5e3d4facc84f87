"""A small mail server on loopback: it lets one user sign in (RFC 4954), and takes mail or refuses it as told."""

import base64
import socket
import ssl
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BufferedIOBase
from typing import Literal


@dataclass
class MailServer:
    """What the server does, and what it heard. ``early`` is said in the clear right after STARTTLS was granted.

    ``answers`` are to MAIL, RCPT, DATA and the end of the content (``END``); an empty one hangs up.
    """

    user: str
    password: str
    encryption: Literal["tls", "starttls", "none"] = "none"
    context: ssl.SSLContext | None = None
    mechanisms: str = "PLAIN LOGIN"
    refusal: bytes = b"535 5.7.8 Authentication credentials invalid"
    greeting: bytes = b"220 mail.example.com ESMTP"
    early: bytes = b""
    port: int = 0
    heard: list[bytes] = field(default_factory=list)
    answers: dict[str, bytes] = field(default_factory=dict)
    extensions: tuple[bytes, ...] = ()
    mails: list[bytes] = field(default_factory=list)

    def converse(self, connection: socket.socket) -> None:
        """Play the server's part until the client leaves."""
        with ExitStack() as open_things:
            secured = self.encryption == "tls"
            if secured:
                connection = open_things.enter_context(self._secure(connection))
            stream = open_things.enter_context(connection.makefile("rwb"))
            _say(stream, self.greeting)
            while line := stream.readline():
                self.heard.append(line.strip())
                verb = line.split()[0].upper() if line.split() else b""
                if verb == b"STARTTLS" and self.encryption == "starttls" and not secured:
                    _say(stream, b"220 Go ahead" + (b"\r\n" + self.early if self.early else b""))
                    stream.close()
                    connection, secured = open_things.enter_context(self._secure(connection)), True
                    stream = open_things.enter_context(connection.makefile("rwb"))
                elif verb == b"EHLO":
                    _say(stream, self._extensions(secured))
                elif verb == b"AUTH":
                    _say(stream, self._judge(stream, line))
                elif verb == b"QUIT":
                    _say(stream, b"221 Bye")
                    return
                elif verb in (b"MAIL", b"RCPT", b"DATA"):
                    if not self._mail(stream, verb.decode()):
                        return
                else:
                    _say(stream, b"502 Command not implemented")

    def _mail(self, stream: BufferedIOBase, verb: str) -> bool:
        """Answer one step of a mail; False hangs up."""
        answer = self.answers.get(verb, b"354 Go ahead" if verb == "DATA" else b"250 OK")
        _say(stream, answer)
        if not answer.startswith(b"354"):
            return True
        content = b""
        while not content.endswith(b"\r\n.\r\n"):
            content += stream.readline()
        end = self.answers.get("END", b"250 Taken")
        if end.startswith(b"250"):
            self.mails.append(content.removesuffix(b".\r\n"))
        if end:
            _say(stream, end)
        return bool(end)

    def _secure(self, connection: socket.socket) -> ssl.SSLSocket:
        assert self.context is not None
        return self.context.wrap_socket(connection, server_side=True)

    def _extensions(self, secured: bool) -> bytes:
        lines = [b"mail.example.com", *self.extensions]
        if self.encryption == "starttls" and not secured:
            lines.append(b"STARTTLS")
        elif self.mechanisms:
            lines.append(b"AUTH " + self.mechanisms.encode())
        return b"\r\n".join([b"250-" + line for line in lines[:-1]] + [b"250 " + lines[-1]])

    def _judge(self, stream: BufferedIOBase, line: bytes) -> bytes:
        parts = line.split()
        if parts[1].upper() == b"PLAIN":
            _, user, password = base64.b64decode(parts[2]).split(b"\0")
        else:
            user = base64.b64decode(parts[2]) if len(parts) > 2 else _ask(stream, b"Username:")
            password = _ask(stream, b"Password:")
        right = (user.decode(), password.decode()) == (self.user, self.password)
        return b"235 2.7.0 Authentication successful" if right else self.refusal


def _ask(stream: BufferedIOBase, question: bytes) -> bytes:
    _say(stream, b"334 " + base64.b64encode(question))
    return base64.b64decode(stream.readline())


def _say(stream: BufferedIOBase, text: bytes) -> None:
    stream.write(text + b"\r\n")
    stream.flush()
