"""Files to copy say only what is so: each is sound, and every setting, command and page in it
exists. That what alerts and dashboard ask for is measured, ``tests/test_telemetry.py`` shows."""

import configparser
import json
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from tests.manual.documents import FOLDER, ROOT, text_of
from webapp.cli.main import main
from webapp.cli.serving.process import GRACE_S
from webapp.manual.files import FILES
from webapp.manual.markdown import render
from webapp.manual.pages import NAMES
from webapp.settings import TABLE, Settings

UNITS = [name for name in FILES if name.endswith((".service", ".timer"))]
SERVICES = [name for name in UNITS if name.endswith(".service")]
PROGRAM, SECRET = "/opt/patchbay/bin/patchbay", "oH3nW8bE5tK1qV6xC9zM2rY7jL4fP0sGuD"
LOCKED = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text("utf-8"), re.MULTILINE))


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
    for page, anchor in re.findall(r"(?<!templates)/docs/([a-z]+)(?:#([\w-]+))?", text):
        assert page in NAMES
        assert not anchor or anchor in {section.anchor for section in render(text_of(page), {}).sections}, anchor


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_runs_a_command_that_exists_and_can_write_where_it_must(name: str) -> None:
    service = dict(unit(name)["Service"])
    program, *words = service["ExecStart"].split()
    assert program == PROGRAM
    assert_runs(words)
    places = service.get("ReadWritePaths", "").split()
    assert all(word in places for word in words if word.startswith("/"))
    assert service["WorkingDirectory"] == f"/var/lib/{service['StateDirectory']}"
    assert service.get("Environment") in (None, f"PATCHBAY_DATA={service['WorkingDirectory']}")
    assert (service["NoNewPrivileges"], service["ProtectSystem"], service["User"]) == ("yes", "strict", "patchbay")


def assert_runs(words: list[str]) -> None:
    command = main.get_command(click.Context(main), words[0])
    assert command is not None, words
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known, words


def settings_in(name: str, **filled: str) -> Settings:
    lines = [line.partition("=") for line in FILES[name].read().splitlines() if line and line[0] != "#"]
    return Settings.from_env({key: value or filled[key] for key, _, value in lines})


def test_the_settings_of_the_units_are_valid() -> None:
    settings = settings_in("patchbay.env")
    assert str(settings.data) == f"/var/lib/{unit('patchbay.service')['Service']['StateDirectory']}"
    assert not settings.sandbox and settings.trusted_proxies == ("127.0.0.1", "::1")


def test_the_settings_of_several_machines_are_valid_and_leave_them_time_to_drain() -> None:
    settings = settings_in("cluster.env", PATCHBAY_SECRET_KEY=SECRET)
    assert settings.database_url is not None and settings.limits_storage.startswith("redis://")
    assert "sslmode=verify-full" in settings.database_url
    check = re.search(r"inter (\d+)s fall (\d+)", FILES["haproxy.cfg"].read())
    assert check is not None and int(check[1]) * int(check[2]) < settings.drain_s
    stop_s = int(unit("patchbay-web@.service")["Service"]["TimeoutStopSec"])
    assert stop_s > settings.drain_s + GRACE_S


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_understands_the_units_and_finds_them_confined(tmp_path: Path) -> None:
    paths = [tmp_path / name.replace("@", "@1") for name in UNITS]
    for name, path in zip(UNITS, paths, strict=True):
        path.write_text(FILES[name].read().replace(PROGRAM, "/bin/true"))
    verified = subprocess.run(["systemd-analyze", "verify", *paths], capture_output=True, text=True, check=False)
    assert (verified.returncode, str(tmp_path) in verified.stderr) == (0, False), verified.stderr
    for path in paths:
        if path.suffix == ".service":
            judged = ["systemd-analyze", "security", "--offline=true", "--threshold=35", str(path)]
            assert subprocess.run(judged, capture_output=True, check=False).returncode == 0, path.name


def test_units_that_run_components_allow_what_confines_their_code() -> None:
    for name in ("patchbay.service", "patchbay-web@.service", "patchbay-worker@.service"):
        text = FILES[name].read()
        assert "landlock_create_ruleset landlock_add_rule landlock_restrict_self" in text, name
        assert "RestrictNamespaces" not in text, name


def test_containers_run_commands_that_exist_with_settings_that_are_valid() -> None:
    compose = yaml.safe_load(FILES["compose.yml"].read())
    ours = {name: service for name, service in compose["services"].items() if service["image"] == "patchbay"}
    assert set(ours) == {"migrate", "web1", "web2", "worker"}
    for service in ours.values():
        assert_runs(service["command"])
        env = {name: str(value) for name, value in service["environment"].items()}
        filled = {name: re.sub(r"\$\{\w+\}", SECRET, value) for name, value in env.items()}
        settings = Settings.from_env(filled)
        assert "patchbay" in service["networks"] and settings.database_url is not None
    (network,) = compose["networks"]["patchbay"]["ipam"]["config"]
    assert Settings.from_env(filled).trusted_proxies == (network["subnet"],)


def test_what_the_containers_take_from_the_folder_is_among_the_files() -> None:
    services = yaml.safe_load(FILES["compose.yml"].read())["services"].values()
    volumes = [volume for service in services for volume in service.get("volumes", ())]
    ours = {volume.split(":")[0].removeprefix("./") for volume in volumes if volume.startswith("./")}
    assert ours == {"haproxy.cfg", "roles.sh", "connect.example.com.pem"} and set(FILES) > ours - {
        "connect.example.com.pem"
    }


def test_the_role_of_the_containers_gets_its_password_by_no_command_line() -> None:
    command, *lines = FILES["roles.sh"].read().splitlines()[2:]
    assert command.startswith("psql ") and "PASSWORD" not in command
    assert lines[0] == r"\getenv password PASSWORD" and "PASSWORD :'password'" in lines[1]


def test_the_image_copies_what_is_there_and_runs_what_exists() -> None:
    lines = FILES["Containerfile"].read().replace("\\\n", " ").splitlines()
    for line in lines:
        if line.startswith("COPY ") and "--from" not in line:
            assert all((ROOT / word).exists() for word in line.split()[1:-1]), line
    assert_runs(json.loads(next(line for line in lines if line.startswith("CMD")).removeprefix("CMD ")))
    env = dict(re.findall(r"(PATCHBAY_\w+)=(\S+)", next(line for line in lines if line.startswith("ENV"))))
    assert Settings.from_env(env).port == 8600
    users = [line for line in lines if line.startswith("USER")]
    assert users == ["USER 10001"] and lines.index(users[0]) > max(i for i, x in enumerate(lines) if x[:4] == "FROM")
    assert "ARG BASE=" in "\n".join(lines) and [line for line in lines if line[:4] == "FROM"] == [
        "FROM ${BASE} AS build",
        "FROM ${BASE}",
    ]


def test_the_image_takes_out_what_only_builds() -> None:
    """What the group build asks for, and what only that needs."""
    taken = set(re.findall(r"uninstall --yes ([\w -]+) \\", FILES["Containerfile"].read())[0].split())
    wanted = {"hatchling", "fonttools"}
    assert wanted <= taken
    for name in [dist.metadata["Name"] for dist in metadata.distributions()]:
        if name.lower() in taken or name.lower() not in LOCKED:
            continue
        needs = {
            re.split(r"[^\w.-]", need, maxsplit=1)[0].lower()
            for need in metadata.requires(name) or []
            if "extra ==" not in need
        }
        assert not needs & taken, f"{name} needs {needs & taken}"


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
