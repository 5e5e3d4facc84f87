"""The files of a run: those that its values name, those of the stash that it continues, and those that it wrote.

A prop with the format ``file-ref`` takes an address, the name of a file of the run's stash, the id or key of any file
in the stash of its user, or a data URL (RFC 2397). The component finds the last two in its folder, where :func:`given`
has put them, and gets their names as values; the other two reach it as they are.
"""

import base64
import binascii
import hashlib
import mimetypes
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from webapp.errors import Detail, NotFound, TooLarge
from webapp.service.components.calls import Observation, Reply
from webapp.service.components.props import FILE
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash, prop_values
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.projects.projects import Scene

Prop = Mapping[str, Any]
EXPORT = "$filestash_uploads"
FOLDER = "/tmp"  # noqa: S108 - how a component calls the folder of its run
_DATA = re.compile(r"data:(?P<type>[^,;]*)(?P<parameters>(?:;[^,;]*)*),", re.IGNORECASE)
_NO_DATA = "It is not a data URL that can be read; send data:<media type>;base64,<content>."
_EXPIRES = "A trigger runs for longer than a file of the stash is kept. Give the address of a file."


@dataclass(frozen=True, slots=True)
class GivenFiles:
    """The files of a run's values: ``contents`` in base64 by name, and ``props`` with these names.

    ``configured`` are the values to keep, with the keys of files that came as data URLs.
    """

    props: Mapping[str, Any] = field(repr=False)
    configured: Mapping[str, Any] = field(repr=False)
    contents: dict[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _File:
    """A file that a value names; ``key`` is empty for one that came as a data URL."""

    name: str
    content: bytes = field(repr=False)
    key: str = ""


def given(service: Service, request: ComponentRequest, props: Sequence[Prop], values: Mapping[str, Any]) -> GivenFiles:
    """The files that ``values`` of ``props`` name. Files from data URLs are stored once all values are valid.

    Raises :class:`webapp.errors.Invalid` for a file that does not exist, that is another user's, empty, or too large
    together with the others.
    """
    files: dict[str, _File] = {}
    problems, left = list[Detail](), file_stash.MAX_BYTES
    for prop in props:
        for text in _texts(prop, values.get(prop["name"])):
            if text in files or not _is_content(text):
                continue
            try:
                files[text] = file = _read(service, request, text)
            except (NotFound, ValueError) as error:
                problems.append(_problem(prop, str(error)))
                continue
            left -= len(file.content)
            if left < 0:
                problems.append(_problem(prop, "The files of a run may have 10 MiB together. Send smaller ones."))
                left = file_stash.MAX_BYTES
    if problems:
        raise prop_values.refused(problems)
    if not files:
        return GivenFiles(values, request.configured, {})
    names, contents, keys = dict[str, str](), dict[str, str](), dict[str, str]()
    for text, file in files.items():
        name = _free_name(file.name, contents)
        contents[name] = base64.b64encode(file.content).decode()
        names[text] = f"{FOLDER}/{name}"
        keys[text] = file.key or _stored(service, request, file)
    changed = {name: _renamed(values[name], names) for name in _file_props(props) if name in values}
    kept = {name: _renamed(request.configured[name], keys) for name in changed if name in request.configured}
    return GivenFiles({**values, **changed}, {**request.configured, **kept}, contents)


def described(props: Iterable[Prop], configured: Mapping[str, Any]) -> Mapping[str, Any]:
    """``configured`` for a person to read: a data URL is its name, size and digest."""
    names = {name for name in _file_props(props) if name in configured}
    return {name: _described(value) if name in names else value for name, value in configured.items()}


def lasting_problems(props: Iterable[Prop], values: Mapping[str, Any]) -> list[Detail]:
    """What is wrong with files as values of a trigger, which runs for longer than the stash keeps them."""
    return [
        _problem(prop, _EXPIRES)
        for prop in props
        if any(file_stash.is_reference(text) for text in _texts(prop, values.get(prop["name"])))
    ]


def with_stash(service: Service, request: ComponentRequest, contents: Mapping[str, str]) -> dict[str, str]:
    """``contents`` and, where they leave room, the files of the request's stash, the newest of each name.

    Both are base64 by name; together they are at most as much as a stash takes at once.
    """
    files = dict(contents)
    if request.stash_id is None:
        return files
    left = file_stash.MAX_BYTES - sum(len(content) * 3 // 4 for content in files.values())
    stash = file_stash.of_stash(service, request.scene, request.external_id, request.stash_id)
    for file, content in reversed(list(stash)):
        if file.name not in files and len(content) <= left:
            files[file.name] = base64.b64encode(content).decode()
            left -= len(content)
    return files


def kept_files(
    service: Service, scene: Scene, external_id: str, stash_id: str | None, reply: Reply
) -> tuple[Reply, list[dict[str, Any]]]:
    """Store the files of ``reply``, and list them as in a run's answer; files without room are observations."""
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
    return reply, [_file_to_json(service, name, s3_key) for name, s3_key in keys.items()]


def _file_to_json(service: Service, name: str, s3_key: str) -> dict[str, Any]:
    return {"localPath": name, "path": name, "s3Key": s3_key, "get_url": file_stash.link(service, s3_key)}


def _file_props(props: Iterable[Prop]) -> list[str]:
    return [prop["name"] for prop in props if prop.get("format") == FILE]


def _texts(prop: Prop, value: Any) -> list[str]:
    """The texts of a file prop's value; none for another prop."""
    if prop.get("format") != FILE:
        return []
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


def _is_content(text: str) -> bool:
    """Whether ``text`` names a file whose content is here."""
    return file_stash.is_reference(text) or text[:5].lower() == "data:"


def _read(service: Service, request: ComponentRequest, text: str) -> _File:
    """The file that ``text`` names. Raises ``NotFound`` and ``ValueError`` with a sentence."""
    if not file_stash.is_reference(text):
        return _from_data_url(text)
    file = file_stash.get(service, request.scene, request.external_id, text)
    return _File(file.name, file_stash.content_of(service, file), file.key)


def _from_data_url(url: str) -> _File:
    """The file in a data URL; its name is the parameter ``name``. Raises ``ValueError`` with a sentence."""
    head = _DATA.match(url[:2_000])
    if head is None:
        raise ValueError(_NO_DATA)
    parameters = [part.strip() for part in head["parameters"].split(";")]
    data = url[head.end() :]
    try:
        is_base64 = "base64" in (part.lower() for part in parameters)
        content = base64.b64decode(unquote(data), validate=True) if is_base64 else unquote_to_bytes(data)
    except (binascii.Error, ValueError) as error:
        raise ValueError(_NO_DATA) from error
    if not content:
        raise ValueError(file_stash.EMPTY)
    if len(content) > file_stash.MAX_BYTES:
        raise ValueError(file_stash.OVERSIZED)
    names = [part.partition("=")[2] for part in parameters if part.lower().startswith("name=")]
    ending = mimetypes.guess_extension(head["type"].strip().lower()) or ""
    return _File(file_stash.clean_name(unquote(names[0]) if names else f"file{ending}"), content)


def _stored(service: Service, request: ComponentRequest, file: _File) -> str:
    """Store a file that came as a data URL, and return its key."""
    return file_stash.upload(service, request.scene, request.external_id, file.name, file.content).key


def _described(value: Any) -> Any:
    if isinstance(value, list):
        return [_described(item) for item in value]
    if not isinstance(value, str) or value[:5].lower() != "data:":
        return value
    try:
        file = _from_data_url(value)
    except ValueError as error:
        return str(error)
    return f"{file.name} ({len(file.content):,} bytes, SHA-256 {hashlib.sha256(file.content).hexdigest()})"


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """``value`` with each text in ``names`` replaced; labels around it are left out."""
    plain = prop_values.unwrapped(value)[0]
    if isinstance(plain, list):
        return [names.get(item, item) if isinstance(item, str) else item for item in plain]
    return names.get(plain, plain) if isinstance(plain, str) else plain


def _free_name(name: str, taken: Mapping[str, str]) -> str:
    """``name``, or ``name (2)`` where another file of the run has it."""
    path, number, free = PurePosixPath(name), 1, name
    while free in taken:
        number += 1
        free = f"{path.stem} ({number}){path.suffix}"
    return free


def _problem(prop: Prop, sentence: str) -> Detail:
    return Detail(f"{prop_values.FIELD}.{prop['name']}", sentence)
