"""Logos of projects: what counts as an image, and one for each project."""

import base64

import pytest

from webapp.errors import Invalid, NotFound, TooLarge
from webapp.kit.clock import SECOND, FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import project_logos
from webapp.service.domain.projects.projects import Scene

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(20)
GIF = b"GIF89a" + bytes(20)


def test_a_logo_takes_the_place_of_the_one_before(service: Service, scene: Scene, clock: FakeClock) -> None:
    project_id = scene.project_id
    assert project_logos.address(service.store, project_id) == ""
    project_logos.put(service, project_id, PNG)
    first = project_logos.address(service.store, project_id)
    clock.advance(SECOND)
    project_logos.put(service, project_id, GIF)
    logo = project_logos.get(service.store, project_id)
    assert (logo.media_type, logo.image, logo.updated_at) == ("image/gif", GIF, clock())
    assert project_logos.address(service.store, project_id) != first
    with pytest.raises(NotFound):
        project_logos.get(service.store, "proj_none")


@pytest.mark.parametrize("image", [b"", b"<svg/>", b"GIF90a", b"\x89PNG"])
def test_the_first_bytes_tell_what_an_image_is(service: Service, scene: Scene, image: bytes) -> None:
    with pytest.raises(Invalid):
        project_logos.put(service, scene.project_id, image)


def test_a_large_image_is_refused(service: Service, scene: Scene) -> None:
    with pytest.raises(TooLarge):
        project_logos.put(service, scene.project_id, PNG + bytes(project_logos.MAX_BYTES))


def test_an_image_in_a_data_uri() -> None:
    assert project_logos.from_data_uri(" data:image/png;base64," + base64.b64encode(PNG).decode()) == PNG
    for text in ("", "data:image/png,x", "data:image/png;base64,A", "https://a.example/logo.png"):
        with pytest.raises(Invalid):
            project_logos.from_data_uri(text)
