"""Workflows are registered in one environment of one project, and their key is shown once."""

from typing import Any


def test_add_and_list(shell: Any) -> None:
    project = shell.json("project", "create", "--name", "Acme")["id"]
    made = shell.json("workflow", "add", "--project", project, "--name", "Orders", "--url", "https://a.example/x")
    assert made["id"].startswith("p_")
    assert made["signing_key"].startswith("whsec_")
    listed = shell.run("workflow", "list", "--project", project, "--json").stdout
    assert made["id"] in listed
    assert made["signing_key"] not in listed
    other = shell.json("workflow", "list", "--project", project, "--environment", "production")
    assert other == {"workflows": []}


def test_what_is_refused(shell: Any) -> None:
    words = ("workflow", "add", "--name", "Orders", "--project", "proj_nothing")
    assert "no such project" in shell.refused(*words, "--url", "https://a.example/x")
    assert "url is not valid" in shell.refused(*words, "--url", "ftp://a.example/x")
