"""For actions in Python that send files: the content of a URL, or a file of the stash that the run names."""

from pathlib import Path

from webapp.service.components.authoring import ComponentError, Context


def content_of(ctx: Context, place: str) -> tuple[str, bytes]:
    """Name and content of the file at ``place``. Raises :class:`ComponentError`."""
    if place.startswith(("https://", "http://")):
        return Path(place.partition("?")[0]).name or "file", ctx.http.get(place).body
    name = Path(place).name
    path = ctx.files.path(name)
    if not path.is_file():
        raise ComponentError(f"There is no file {name}. Give an address, or a file of the stash that the run names.")
    return name, path.read_bytes()
