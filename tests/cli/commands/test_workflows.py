"""Workflows are registered in one environment of one project, and their key is shown once."""

from tests.cli.in_process import Commands


def test_add_and_list(patchbay: Commands) -> None:
    project = patchbay.json("project", "create", "--name", "Acme")["id"]
    made = patchbay.json("workflow", "add", "--project", project, "--name", "Orders", "--url", "https://a.example/x")
    assert made["id"].startswith("p_")
    assert made["signing_key"].startswith("whsec_")
    listed = patchbay.run("workflow", "list", "--project", project, "--json").stdout
    assert made["id"] in listed
    assert made["signing_key"] not in listed
    other = patchbay.json("workflow", "list", "--project", project, "--environment", "production")
    assert other == {"workflows": []}


def test_what_is_refused(patchbay: Commands) -> None:
    words = ("workflow", "add", "--name", "Orders", "--project", "proj_nothing")
    assert "no such project" in patchbay.refused(*words, "--url", "https://a.example/x")
    words = (*words[:-1], patchbay.json("project", "create", "--name", "Acme")["id"])
    assert "url is not valid" in patchbay.refused(*words, "--url", "ftp://a.example/x")
    assert "not on the public internet" in patchbay.refused(*words, "--url", "http://192.168.0.1/x")
