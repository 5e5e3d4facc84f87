"""The brand of a project on Build: its colour, whose contrast is shown as it is chosen, and its logo."""

from flask import flash as say
from flask import request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import menu
from webapp.dashboard.build.project.project import for_owners, load, projects, show
from webapp.dashboard.pages import fragment, go
from webapp.errors import Invalid, TooLarge
from webapp.kit import contrast, images
from webapp.kit.contrast import DEFAULT_HUE, MAX_HUE
from webapp.kit.translation import gettext

blueprint = menu.part_of("project", "brand", "/brand")

LEAST_PIXELS = 128


@blueprint.post("")
def save() -> AnyResponse:
    """Keep the colour, and the logo where a file was chosen."""
    for_owners()
    project, hue = load(), request.form.get("brand_hue", "")
    logo = request.files["logo"].stream.read() if "logo" in request.files else b""
    try:
        brand_hue = _hue(hue)
        if logo:
            _set_logo(project.id, logo)
        projects().update(project.id, {"brand_hue": brand_hue})
    except Invalid as error:
        return show(project, menu.by_field(error, ("brand_hue", "logo")), 422)
    say(gettext("Your brand is saved."), "ok")
    return go(url_for("dashboard.build_project.page", _anchor="brand"))


@blueprint.get("/contrast")
def readable() -> str:
    """The contrast of the colour that is being chosen."""
    hue = request.args.get("brand_hue", type=int, default=DEFAULT_HUE)
    return fragment("dashboard/build/project/_contrast.html", contrast=contrast.of_hue(hue % (MAX_HUE + 1)))


def _hue(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:4]) <= MAX_HUE):
        raise Invalid.of("brand_hue", gettext("Choose a colour from the bar."))
    return int(text)


def _set_logo(project_id: str, logo: bytes) -> None:
    """Give the project the chosen logo. Raises :class:`Invalid`."""
    image = images.measure(logo)
    if image is None:
        raise Invalid.of("logo", gettext("This is not a PNG, JPEG or WebP image. Choose another file."))
    if min(image.width, image.height) < LEAST_PIXELS:
        sentence = gettext("This image has {width} × {height} pixels. Choose one of at least {least} × {least}.")
        raise Invalid.of("logo", sentence.format(width=image.width, height=image.height, least=LEAST_PIXELS))
    try:
        projects().set_logo(project_id, logo, image.media_type)
    except TooLarge as error:
        raise Invalid.of("logo", gettext("This file is too large. Choose one of at most 1 MiB.")) from error
