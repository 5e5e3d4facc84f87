"""The ways back, and the hosts of a form."""

from typing import Any

from webapp.dashboard.build.integrations import frame


def test_ways_back(stage: Any) -> None:
    with stage.request("/build/integrations/pc_1", method="POST", data={"hosts": "a.example\nb.example"}):
        assert frame.back("added").headers["Location"] == "/build/integrations#added"
        assert frame.to("pc_1", "reach").headers["Location"] == "/build/integrations/pc_1#reach"
        assert frame.hosts().split() == ["a.example", "b.example"]
