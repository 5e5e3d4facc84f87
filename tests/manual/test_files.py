"""Files to copy say only what is so: each is sound, and every setting, command and page in it
exists. That what alerts and dashboard ask for is measured, ``tests/test_telemetry.py`` shows."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml  # type: ignore[import-untyped]

from tests.manual.documents import FOLDER, text_of
from webapp.cli.main import main
from webapp.manual.files import FILES
from webapp.manual.markdown import render
from webapp.manual.pages import NAMES
from webapp.settings import TABLE, Settings

UNITS = [name for name in FILES if name.endswith((".service", ".timer"))]
SERVICES = [name for name in UNITS if name.endswith(".service")]
PROGRAM = "/opt/patchbay/bin/patchbay"


def unit(name: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",), comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    parser.read_string(FILES[name].read())
    return parser


def test_every_file_is_in_the_list_and_in_the_manual() -> None:
    assert {file.name for file in (FOLDER / "files").iterdir()} == set(FILES)
    rows = re.findall(r"^\| \[([\w.@-]+)\]\(files/\1\) \| (.*) \|$", text_of("install"), re.MULTILINE)
    assert rows == [(file.name, file.summary) for file in FILES.values()]


@pytest.mark.parametrize("name", FILES)
def test_every_setting_and_every_page_in_a_file_exists(name: str) -> None:
    text = FILES[name].read()
    assert set(re.findall(r"PATCHBAY_[A-Z_]*[A-Z]", text)) <= {f"PATCHBAY_{row.name}" for row in TABLE}
    for page, anchor in re.findall(r"/docs/([a-z]+)(?:#([\w-]+))?", text):
        assert page in NAMES
        assert not anchor or anchor in {section.anchor for section in render(text_of(page), {}).sections}, anchor


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_runs_a_command_that_exists_and_can_write_where_it_must(name: str) -> None:
    service = dict(unit(name)["Service"])
    program, *words = service["ExecStart"].split()
    assert program == PROGRAM
    command: click.Command = main.get_command(click.Context(main), words[0])  # type: ignore[assignment]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known
    places = service.get("ReadWritePaths", "").split()
    assert all(word in places for word in words if word.startswith("/"))
    assert service["WorkingDirectory"] == f"/var/lib/{service['StateDirectory']}"
    assert (service["NoNewPrivileges"], service["ProtectSystem"], service["User"]) == ("yes", "strict", "patchbay")


def test_the_settings_of_the_units_are_valid(tmp_path: Path) -> None:
    lines = [line.partition("=") for line in FILES["patchbay.env"].read().splitlines() if line and line[0] != "#"]
    settings = Settings.from_env({name: value for name, _, value in lines})
    assert str(settings.data) == f"/var/lib/{unit('patchbay.service')['Service']['StateDirectory']}"
    assert not settings.sandbox and settings.trusted_proxies == ("127.0.0.1", "::1")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_understands_the_units_and_finds_them_confined(tmp_path: Path) -> None:
    for name in UNITS:
        (tmp_path / name).write_text(FILES[name].read().replace(PROGRAM, "/bin/true"))
    paths = [str(tmp_path / name) for name in UNITS]
    verified = subprocess.run(["systemd-analyze", "verify", *paths], capture_output=True, text=True, check=False)
    assert (verified.returncode, str(tmp_path) in verified.stderr) == (0, False), verified.stderr
    for name in SERVICES:
        judged = ["systemd-analyze", "security", "--offline=true", "--threshold=30", str(tmp_path / name)]
        assert subprocess.run(judged, capture_output=True, check=False).returncode == 0, name


def test_litestream_copies_the_database_that_the_units_have_and_never_stops_writers() -> None:
    (database,) = yaml.safe_load(FILES["litestream.yml"].read())["dbs"]
    assert database["path"] == "/var/lib/patchbay/patchbay.db"
    assert (database["truncate-page-n"], database["min-checkpoint-page-count"]) == (0, 1000)


def test_proxies_pass_on_what_patchbay_judges_by() -> None:
    nginx, caddy = FILES["nginx.conf"].read(), FILES["Caddyfile"].read()
    for header in (
        "Host $http_host",
        "X-Forwarded-For $remote_addr",
        "X-Forwarded-Proto $scheme",
        "X-Forwarded-Host $http_host",
    ):
        assert f"proxy_set_header {header};" in nginx
    assert nginx.count("{") == nginx.count("}") and caddy.count("{") == caddy.count("}")
    assert "client_max_body_size 11m;" in nginx and "max_size 11MB" in caddy


def test_every_alert_says_what_is_wrong_and_leads_to_its_section() -> None:
    (group,) = yaml.safe_load(FILES["alerts.yml"].read())["groups"]
    sections = [section.heading for section in render(text_of("alerts"), {}).sections if section.level == 2]
    assert [rule["alert"] for rule in group["rules"]] == sections[1:]
    for rule in group["rules"]:
        note: dict[str, Any] = rule["annotations"]
        assert note["runbook_url"].endswith(f"/docs/alerts#{rule['alert'].lower()}")
        assert 60 < len(note["summary"]) < 200 and note["summary"].endswith(".")
        assert rule["labels"]["severity"] in ("page", "ticket") and rule["for"]


def test_prometheus_reads_the_alerts_and_the_metrics() -> None:
    configuration = yaml.safe_load(FILES["prometheus.yml"].read())
    (job,) = configuration["scrape_configs"]
    assert job["job_name"] == "patchbay" and "credentials_file" in job["authorization"]
    assert configuration["rule_files"] == ["/etc/prometheus/patchbay-alerts.yml"]
    assert "/etc/prometheus/patchbay-alerts.yml" in FILES["alerts.yml"].read()
