"""A registry of npm on loopback, as its public reference has it, and small packages to serve from it.

https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md
"""

import base64
import gzip
import hashlib
import io
import json
import tarfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

PUBLISHED = "2026-08-25T10:42:32.953Z"
LICENCE = "Permission is granted to whoever reads this."


def tarball(files: Mapping[str, str | bytes], *, top: str = "package") -> bytes:
    """A gzipped tar file with ``files`` below one folder, as npm packs them."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(f"{top}/{name}" if top else name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return gzip.compress(target.getvalue(), mtime=0)  # the same bytes whenever it is packed


def package(name: str, version: str = "1.0.0", *, files: Mapping[str, str] | None = None, **facts: Any) -> bytes:
    """The tarball of a package whose main file exports nothing, unless ``files`` has another."""
    manifest = {"name": name, "version": version, "main": "index.js", "license": "MIT", **facts}
    body = {"package.json": json.dumps(manifest), "index.js": "module.exports = {};\n", "LICENSE": LICENCE}
    return tarball({**body, **(files or {})})


@dataclass
class NpmRegistry:
    """What is served: tarballs by package and version.

    With ``searches`` it has npm's search; while it ``stalls``, nobody is answered.
    """

    port: int = 0
    searches: bool = False
    stalls: bool = False
    tarballs: dict[str, dict[str, bytes]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def publish(self, content: bytes) -> None:
        """Serve a tarball under the name and version that its package.json says."""
        facts = self.manifest(content)
        self.tarballs.setdefault(facts["name"], {})[facts["version"]] = content

    @staticmethod
    def manifest(content: bytes) -> dict[str, Any]:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            file = archive.extractfile("package/package.json")
            assert file is not None
            facts: dict[str, Any] = json.loads(file.read())
            return facts

    def answer(self, path: str) -> bytes | None:
        """What stands at ``path``; None for nothing."""
        self.asked.append(path)
        while self.stalls:
            time.sleep(0.05)
        if path == "/-/v1/search":
            hits = [{"package": self._release(name, max(versions))} for name, versions in self.tarballs.items()]
            return json.dumps({"objects": hits, "total": len(hits)}).encode() if self.searches else None
        name, _, file = unquote(path).lstrip("/").partition("/-/")
        versions = self.tarballs.get(name)
        if versions is None:
            return None
        if file:
            return versions.get(file.rpartition("-")[2].removesuffix(".tgz"))
        releases = {version: self._release(name, version) for version in versions}
        times = dict.fromkeys(versions, PUBLISHED)
        packument = {"name": name, "dist-tags": {"latest": max(versions)}, "versions": releases, "time": times}
        return json.dumps(packument).encode()

    def _release(self, name: str, version: str) -> dict[str, Any]:
        content = self.tarballs[name][version]
        digest = base64.b64encode(hashlib.sha512(content).digest()).decode()
        dist = {
            "integrity": f"sha512-{digest}",
            "tarball": f"{self.url}/{name}/-/{name.rpartition('/')[2]}-{version}.tgz",
            "unpackedSize": 2048,
        }
        listed = {"maintainers": [], "keywords": [], "date": PUBLISHED}
        return {**listed, **self.manifest(content), "dist": dist}


@contextmanager
def registry() -> Iterator[NpmRegistry]:
    """One that runs within the block."""
    served = NpmRegistry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = served.answer(urlsplit(self.path).path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"{}")))
            self.end_headers()
            self.wfile.write(body or b"{}")

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
