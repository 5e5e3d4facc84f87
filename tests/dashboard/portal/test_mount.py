"""Where the pages of a portal stand."""

import pytest

from webapp.dashboard.portal.mount import HANDLE, mount


@pytest.mark.parametrize(
    ("path", "script", "rest"),
    [
        ("/portal/ps_a/accounts", "/portal/ps_a", "/accounts"),
        ("/portal/ps_a", "/portal/ps_a", "/"),
        ("/portal/ps_a/", "/portal/ps_a", "/"),
        ("/portal/ps_a/apps/slack/actions/x", "/portal/ps_a", "/apps/slack/actions/x"),
        ("/portal/ps_a/v1/connect/apps", "/portal/ps_a", "/portal/nothing"),
        ("/portal/ps_a/static/x.css", "/portal/ps_a", "/portal/nothing"),
        ("/portal/ps_a/portal/ps_b/apps", "/portal/ps_a", "/portal/nothing"),
    ],
)
def test_the_prefix_is_taken_out_of_the_path(path: str, script: str, rest: str) -> None:
    environ = {"PATH_INFO": path}
    mount(environ)
    assert environ == {"PATH_INFO": rest, "SCRIPT_NAME": script, HANDLE: "ps_a"}
