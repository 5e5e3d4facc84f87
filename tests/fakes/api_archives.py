"""Archives as npm and PyPI serve them, with a description of an API in them."""

import base64
import hashlib
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any


def tarball(folder: Path, document: dict[str, Any], name: str = "acme-openapi-1.0.0.tgz") -> Path:
    """A package of npm with the ``document`` at ``openapi.json``."""
    content, path = json.dumps(document).encode(), folder / name
    with tarfile.open(path, "w:gz") as archive:
        for member, data in (("package/package.json", b"{}"), ("package/openapi.json", content)):
            info = tarfile.TarInfo(member)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def wheel(folder: Path, document: dict[str, Any], name: str = "acme_spec-2.0.0-py3-none-any.whl") -> Path:
    """A package of PyPI with the ``document`` at ``acme/openapi.json``."""
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("acme/openapi.json", json.dumps(document))
    return path


def integrity(path: Path, algorithm: str = "sha512") -> str:
    """What tells the archive from any other (Subresource Integrity)."""
    return f"{algorithm}-{base64.b64encode(hashlib.new(algorithm, path.read_bytes()).digest()).decode()}"
