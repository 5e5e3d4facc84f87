"""The files of a run that names a stash: what stands in its folder before, and what is kept of it afterwards."""

import base64
import mimetypes
from dataclasses import replace
from typing import Any

from webapp.errors import TooLarge
from webapp.service.components.calls import Observation, Reply
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash
from webapp.service.domain.projects.projects import Scene

EXPORT = "$filestash_uploads"


def stashed(service: Service, scene: Scene, external_id: str, stash_id: str | None) -> dict[str, str]:
    """The files of the stash by name, as base64, the newest of each name; at most as much as a stash takes at once."""
    if stash_id is None:
        return {}
    files, left = dict[str, str](), file_stash.MAX_BYTES
    for file, content in reversed(list(file_stash.of_stash(service, scene, external_id, stash_id))):
        if file.name not in files and len(content) <= left:
            files[file.name] = base64.b64encode(content).decode()
            left -= len(content)
    return files


def kept(
    service: Service, scene: Scene, external_id: str, stash_id: str | None, reply: Reply
) -> tuple[Reply, list[dict[str, Any]]]:
    """Keep the files of ``reply``, and tell them as a run's answer does; what had no room is an observation."""
    if stash_id is None or not reply.files:
        return reply, []
    keys = dict[str, str]()
    try:
        with service.store.write() as tx:
            for file in reply.files:
                media_type = mimetypes.guess_type(file.name)[0] or file_stash.ANY_MEDIA
                place = (scene, external_id, stash_id)
                keys[file.name] = file_stash.keep(service, tx, *place, file.name, media_type, file.content)
    except TooLarge as error:
        note = Observation("log", service.clock(), f"The files were not kept. {error.message}")
        return replace(reply, observations=(*reply.observations, note)), []
    return reply, [_told(service, name, s3_key) for name, s3_key in keys.items()]


def _told(service: Service, name: str, s3_key: str) -> dict[str, Any]:
    return {"localPath": name, "path": name, "s3Key": s3_key, "get_url": file_stash.link(service, s3_key)}
