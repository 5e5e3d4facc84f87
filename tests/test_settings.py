"""What depends on which setting, and what contradicts itself.

Every row of the table, good and bad.
"""

import re
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any

import pytest

from webapp.kit.translation import LANGUAGES
from webapp.setting_values import BadSetting
from webapp.settings import BOUNDS, TABLE, Settings

REMOTE = {
    "PATCHBAY_CONNECT_URL": "https://api.example.com/v1x",
    "PATCHBAY_CONNECT_CLIENT_ID": "client",
    "PATCHBAY_CONNECT_CLIENT_SECRET": "secret",
    "PATCHBAY_PROJECT": "proj_1",
}
MANUAL = Path(__file__).parent.parent / "templates" / "docs" / "operate.md"
OIDC = {
    "PATCHBAY_OIDC_ISSUER": "https://id.example.com",
    "PATCHBAY_OIDC_CLIENT_ID": "client",
    "PATCHBAY_OIDC_CLIENT_SECRET": "secret",
}
SMTP = {"PATCHBAY_SMTP_URL": "smtp://mail.example.com", "PATCHBAY_SMTP_FROM": "accounts@example.com"}
GOOD: dict[str, list[tuple[str, Any]]] = {
    "HOST": [("0.0.0.0", "0.0.0.0"), ("::1", "::1")],
    "PORT": [("1", 1), ("65534", 65534), (" 8000 ", 8000)],
    "SANDBOX_PORT": [("9000", 9000)],
    "DATA": [("/var/lib/patchbay", Path("/var/lib/patchbay"))],
    "DATABASE_URL": [("postgresql://a:b@db:5433/patchbay?sslmode=verify-full",) * 2, ("postgres://h1,h2/p",) * 2],
    "DATABASE_CONNECTIONS": [("2", 2)],
    "PUBLIC_URL": [
        ("https://Connect.Example.com/", "https://connect.example.com"),
        ("http://[::1]:80", "http://[::1]:80"),
    ],
    "SECRET_KEY": [("k" * 32, "k" * 32)],
    "ALLOW_HOSTS": [("db.internal:5432, 10.0.0.7 [fd00::1]:443", ("db.internal:5432", "10.0.0.7", "[fd00::1]:443"))],
    "TRUSTED_PROXIES": [("10.0.0.0/8,127.0.0.1", ("10.0.0.0/8", "127.0.0.1")), ("fd00::/8", ("fd00::/8",))],
    "WORKFLOW_DOMAIN": [("Hooks.Example.com", "hooks.example.com")],
    "PROJECT": [("proj_8sKx2QeTn0bV4c", "proj_8sKx2QeTn0bV4c")],
    "ENVIRONMENT": [("production", "production")],
    "LANGUAGE": [("ja", "ja"), ("de", "de")],
    "SANDBOX": [("on", True), ("OFF", False)],
    "MAIL": [("off", False), ("ON", True)],
    "MAIL_HOST": [("0.0.0.0", "0.0.0.0")],
    "MAIL_PORT": [("25", 25)],
    "MAIL_DOMAIN": [("In.Example.com", "in.example.com"), ("localhost", "localhost")],
    "SMTP_URL": [("smtps://[fd00::1]", ("fd00::1", 465, "", "", "tls"))],
    "SMTP_FROM": [
        ("a.b+c@Example.com", "a.b+c@Example.com"),
        ("Acme, Inc. <a@example.com>", '"Acme, Inc." <a@example.com>'),
    ],
    "WEB": [("1", 1), ("64", 64)],
    "THREADS": [("1", 1), ("256", 256)],
    "DRAIN_S": [("0", 0), ("600", 600)],
    "RUNNER": [("/run/patchbay/runner", Path("/run/patchbay/runner"))],
    "PIECE_REGISTRY": [("https://npm.acme.example/", "https://npm.acme.example")],
    "PIECE_MB": [("20", 20)],
    "PIECE_PROCESSES": [("1", 1), ("64", 64)],
    "PIECE_MEMORY_MB": [("64", 64), ("4096", 4096)],
    "PIECE_IDLE_S": [("1", 1), ("3600", 3600)],
    "LOG_LEVEL": [("debug", "debug")],
    "LOG_FORMAT": [("json", "json")],
    "ACCESS_LOG": [("on", True)],
    "METRICS_TOKEN": [("m" * 16, "m" * 16)],
    "EVENT_DAYS": [("90", 90)],
    "EVENTS_KEPT": [("500", 500)],
    "LIMITS_STORAGE": [("redis://:pw@localhost:6379/1", "redis://:pw@localhost:6379/1")],
    "LIMITS_AWAY": [("open", "open"), ("closed", "closed")],
    "CONNECT_URL": [("https://api.example.com/v1x/", "https://api.example.com/v1x")],
    "CONNECT_CLIENT_ID": [("client", "client")],
    "CONNECT_CLIENT_SECRET": [("secret", "secret")],
    "OIDC_ISSUER": [("https://Id.example.com/", "https://Id.example.com/")],
    "OIDC_CLIENT_ID": [("client", "client")],
    "OIDC_CLIENT_SECRET": [("secret", "secret")],
    "OIDC_NAME": [("Acme ID", "Acme ID")],
    "OIDC_SCOPES": [("openid email", ("openid", "email")), ("openid,groups", ("openid", "groups"))],
    "OIDC_GROUPS_CLAIM": [("realm_access.roles", "realm_access.roles")],
    "OIDC_ROLES": [("a b=owner, c=d=member,*=member", (("a b", "owner"), ("c=d", "member"), ("*", "member")))],
    "OIDC_REQUIRED": [("on", True)],
}
BAD: dict[str, list[str]] = {
    "HOST": ["local host", "http://localhost", "localhost:80", "[::1]"],
    "PORT": ["0", "65536", "-1", "http", "8e3", "٣", "8000.0"],
    "SANDBOX_PORT": ["0", "65536", "x", "8600"],
    "DATA": [],
    "DATABASE_URL": ["patchbay", "mysql://a/b", "postgresql://db", "postgresql://db/", "postgresql://[::1/p"],
    "DATABASE_CONNECTIONS": ["1", "501", "many"],
    "PUBLIC_URL": [
        "example.com", "ftp://example.com", "https://", "https://example.com/path", "https://a@example.com",
        "https://example.com?x", "https://example.com#x", "https://example.com:0", "https://example.com:99999",
        "https://[::1", "https://exa mple.com",
    ],
    "SECRET_KEY": ["short", "k" * 31],
    "ALLOW_HOSTS": ["http://a", "a:b", "a/b", "*", "a:99999", "a:0"],
    "TRUSTED_PROXIES": ["proxy.example.com", "10.0.0.0/33", "10.0.0.1/8"],
    "WORKFLOW_DOMAIN": ["https://hooks.example.com", "*.example.com", "hooks.example.com:8443"],
    "PROJECT": ["main", "proj_", "proj_a-b"],
    "ENVIRONMENT": ["staging", "Production"],
    "LANGUAGE": ["tlh", "de-AT"],
    "SANDBOX": ["yes", "1", "true"],
    "MAIL": ["yes", "25"],
    "MAIL_HOST": ["0.0.0.0:25", "[::1]"],
    "MAIL_PORT": ["0", "65536", "smtp", "8600", "8601"],
    "MAIL_DOMAIN": ["@example.com", "exa mple.com", "example.com.", ".com", "-a.com", "a" * 254],
    "SMTP_URL": [
        "mail.example.com", "http://mail.example.com", "smtp://", "smtp://a@mail.example.com", "smtp://mail.example.com:0",
        "smtp+plain://a:b@mail.example.com", "smtp://mail.example.com/x", "smtp://a%0Ab:c@mail.example.com",
        "smtp://[::1",
    ],
    "SMTP_FROM": [
        "nobody", "a@", "@example.com", "Acme <a@example.com", "a@exa mple.com", 
        "A\nBcc: b@example.com <a@example.com>", "jürgen@example.com",
    ],
    "WEB": ["0", "65", "all"],
    "THREADS": ["0", "257", "many"],
    "DRAIN_S": ["-1", "601"],
    "RUNNER": [],
    "PIECE_REGISTRY": ["npm.acme.example"],
    "PIECE_MB": ["0", "many"],
    "PIECE_PROCESSES": ["0", "65"],
    "PIECE_MEMORY_MB": ["63", "4097"],
    "PIECE_IDLE_S": ["0", "3601"],
    "LOG_LEVEL": ["verbose"],
    "LOG_FORMAT": ["xml"],
    "ACCESS_LOG": ["yes"],
    "METRICS_TOKEN": ["short", "a token with spaces", "é" * 16],
    "EVENT_DAYS": ["0", "3651", "a month"],
    "EVENTS_KEPT": ["0", "10000001", "all"],
    "LIMITS_STORAGE": ["redis", "memory", "://x", "redis://a b"],
    "LIMITS_AWAY": ["ajar"],
    "CONNECT_URL": ["api.example.com", "ftp://x", "https://x?y", "https://[::1"],
    "CONNECT_CLIENT_ID": [],
    "CONNECT_CLIENT_SECRET": [],
    "OIDC_ISSUER": ["id.example.com", "https://id.example.com?x"],
    "OIDC_CLIENT_ID": [],
    "OIDC_CLIENT_SECRET": [],
    "OIDC_NAME": [],
    "OIDC_SCOPES": ["email profile"],
    "OIDC_GROUPS_CLAIM": [],
    "OIDC_ROLES": ["admins", "admins=king", "=owner"],
    "OIDC_REQUIRED": ["yes"],
}  # fmt: skip


def test_overrides_win_and_what_depends_on_them_follows() -> None:
    settings = Settings.from_env({"PATCHBAY_PORT": "9000"}, port=9100)
    assert (settings.port, settings.sandbox_port, settings.public_url) == (9100, 9101, "http://localhost:9100")


@pytest.mark.parametrize(
    ("host", "url"),
    [("0.0.0.0", "http://localhost:8600"), ("::", "http://localhost:8600"), ("127.0.0.1", "http://localhost:8600"),
     ("10.1.2.3", "http://10.1.2.3:8600"), ("fd00::7", "http://[fd00::7]:8600")],
)  # fmt: skip
def test_the_public_address_follows_the_host(host: str, url: str) -> None:
    assert Settings.from_env({"PATCHBAY_HOST": host}).public_url == url


def test_the_sandbox_lives_only_beside_a_loopback_address() -> None:
    public = {"PATCHBAY_PUBLIC_URL": "https://connect.example.com"}
    settings = Settings.from_env(public)
    assert settings.secure and not settings.sandbox and not settings.loopback
    with pytest.raises(BadSetting, match="PATCHBAY_SANDBOX"):
        Settings.from_env({**public, "PATCHBAY_SANDBOX": "on"})


def test_the_last_port_leaves_none_for_the_sandbox() -> None:
    with pytest.raises(BadSetting, match="PATCHBAY_SANDBOX_PORT"):
        Settings.from_env({"PATCHBAY_PORT": "65535"})
    assert Settings.from_env({"PATCHBAY_PORT": "65535", "PATCHBAY_SANDBOX": "off"}).port == 65535


def test_the_sandbox_answers_under_a_bracketed_address_too() -> None:
    assert Settings.from_env({"PATCHBAY_PUBLIC_URL": "http://[::1]:8600"}).sandbox_url == "http://[::1]:8601"


@pytest.mark.parametrize("missing", list(REMOTE))
def test_another_service_needs_all_of_its_settings(missing: str) -> None:
    env = {name: value for name, value in REMOTE.items() if name != missing}
    with pytest.raises(BadSetting, match="together"):
        Settings.from_env(env)


@pytest.mark.parametrize(
    ("env", "port"),
    [({}, 8625), ({"PATCHBAY_PORT": "65534"}, 65509), ({"PATCHBAY_SANDBOX_PORT": "8625"}, 8627)],
)
def test_mail_arrives_beside_the_other_ports(env: dict[str, str], port: int) -> None:
    assert Settings.from_env(env).mail_port == port


@pytest.mark.parametrize(
    ("public_url", "domain"),
    [
        ("https://connect.example.com", "connect.example.com"),
        ("http://127.0.0.1:8600", "[127.0.0.1]"),
        ("http://[::1]:8600", "[IPv6:::1]"),
    ],
)
def test_mail_is_addressed_to_the_public_host(public_url: str, domain: str) -> None:
    assert Settings.from_env({"PATCHBAY_PUBLIC_URL": public_url}).mail_domain == domain


@pytest.mark.parametrize("missing", ["ISSUER", "CLIENT_ID", "CLIENT_SECRET"])
def test_a_provider_for_signing_in_is_named_wholly_or_not_at_all(missing: str) -> None:
    names = {"ISSUER": "https://id.example.com:8443/acme", "CLIENT_ID": "client", "CLIENT_SECRET": "secret"}
    env = {f"PATCHBAY_OIDC_{name}": value for name, value in names.items()}
    settings = Settings.from_env({**env, "PATCHBAY_OIDC_REQUIRED": "on"})
    assert settings.oidc_name == "id.example.com:8443" and settings.oidc_required
    with pytest.raises(BadSetting, match="together"):
        Settings.from_env({name: value for name, value in env.items() if not name.endswith(missing)})
    for further in ({"PATCHBAY_OIDC_REQUIRED": "on"}, {"PATCHBAY_OIDC_ROLES": "a=owner"}):
        with pytest.raises(BadSetting, match="need PATCHBAY_OIDC_ISSUER"):
            Settings.from_env(further)


def read(name: str, given: str) -> Settings:
    groups = {"CONNECT_": REMOTE, "OIDC_": OIDC, "SMTP_": SMTP}
    env = next((group for prefix, group in groups.items() if name.startswith(prefix)), {})
    return Settings.from_env({**env, "PATCHBAY_" + name: given})


def test_the_tables_name_each_setting_once() -> None:
    names = [row.name for row in TABLE]
    assert list(GOOD) == list(BAD) == [field.name.upper() for field in fields(Settings) if field.name != "quotas"]
    assert names == [*GOOD, *(row.name for row in BOUNDS)]


@pytest.mark.parametrize(("name", "given", "value"), [(n, g, v) for n, rows in GOOD.items() for g, v in rows])
def test_a_good_value_is_read(name: str, given: str, value: Any) -> None:
    assert getattr(read(name, given), name.lower()) == value


@pytest.mark.parametrize(("name", "given"), [(name, given) for name, rows in BAD.items() for given in rows])
def test_a_bad_value_stops_with_one_sentence_that_names_it(name: str, given: str) -> None:
    with pytest.raises(BadSetting, match=f"PATCHBAY_{name}") as caught:
        read(name, given)
    sentence = str(caught.value)
    assert sentence.endswith(".") and "\n" not in sentence
    if name == "SECRET_KEY":
        assert given not in sentence


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_an_empty_value_means_the_default(row: Any) -> None:
    assert Settings.from_env({"PATCHBAY_" + row.name: " "}) == Settings.from_env({})


@pytest.mark.parametrize("row", BOUNDS, ids=lambda row: row.name)
def test_a_bound_is_a_whole_number_from_one(row: Any) -> None:
    assert Settings.from_env({}).quotas[row.name] == row.default
    assert read(row.name, str(row.most)).quotas[row.name] == row.most
    for wrong in ("0", "-1", str(row.most + 1), "many"):
        with pytest.raises(BadSetting, match=f"PATCHBAY_{row.name}"):
            read(row.name, wrong)


def test_an_unknown_setting_stops_the_start() -> None:
    with pytest.raises(
        BadSetting, match=r"^PATCHBAY_PROT is not a setting of Patchbay; the manual lists them all, under Operate\.$"
    ):
        Settings.from_env({"PATCHBAY_PROT": "8600"})


def test_other_variables_are_none_of_our_business() -> None:
    assert Settings.from_env({"PATH": "/bin", "PATCHBAYX": "1"}) == Settings.from_env({})


def test_the_dashboard_drives_another_service_or_this_one() -> None:
    elsewhere = replace(Settings.from_env({}), connect_url="https://api.example.com/v1x")
    assert elsewhere.connect_base == "https://api.example.com/v1x"


def test_the_defaults() -> None:
    settings = Settings.from_env({})
    assert (settings.host, settings.port, settings.sandbox_port) == ("127.0.0.1", 8600, 8601)
    assert settings.public_url == settings.connect_base == "http://localhost:8600"
    assert settings.sandbox_url == "http://localhost:8601"
    assert settings.sandbox and settings.loopback and not settings.secure
    assert settings.data == Path("instance").absolute()
    with pytest.raises(FrozenInstanceError):
        settings.port = 1  # type: ignore[misc]  # what the test is about


def test_secrets_stay_out_of_the_representation() -> None:
    env = {**REMOTE, "PATCHBAY_CONNECT_CLIENT_SECRET": "canary-1" * 4, "PATCHBAY_SECRET_KEY": "canary-2" * 4}
    env |= {**OIDC, "PATCHBAY_OIDC_CLIENT_SECRET": "canary-3"}
    assert "canary" not in repr(Settings.from_env(env))


def test_cookies_say_in_their_names_that_they_are_secure() -> None:
    plain, secure = Settings.from_env({}), Settings.from_env({"PATCHBAY_PUBLIC_URL": "https://hub.example"})
    assert (plain.host_cookie, plain.path_cookie) == ("", "")
    assert (secure.host_cookie, secure.path_cookie) == ("__Host-", "__Secure-")


def test_the_manual_documents_every_setting_in_order() -> None:
    shown = re.findall(r"^\|\s*`PATCHBAY_([A-Z_]+)`", MANUAL.read_text("utf-8"), re.MULTILINE)
    assert shown == [row.name for row in TABLE]


def test_the_example_of_a_product_is_where_the_sandbox_is(data: Path) -> None:
    assert Settings.from_env({}, data=data).example_url == "http://localhost:8601/product"
    assert Settings.from_env({"PATCHBAY_SANDBOX": "off"}, data=data).example_url == ""


@pytest.mark.parametrize(
    ("public_url", "sandbox_url"),
    [
        ("https://localhost:8443", "http://localhost:8601"),
        ("https://patchbay.localhost", "http://localhost:8601"),
        ("https://127.0.0.1:8443", "http://127.0.0.1:8601"),
        ("http://[::1]:8600", "http://[::1]:8601"),
    ],
)
def test_the_sandbox_is_on_this_machine_without_tls(data: Path, public_url: str, sandbox_url: str) -> None:
    assert Settings.from_env({"PATCHBAY_PUBLIC_URL": public_url}, data=data).sandbox_url == sandbox_url


def test_every_language_of_pages_can_be_the_usual_one() -> None:
    for language in LANGUAGES:
        assert Settings.from_env({"PATCHBAY_LANGUAGE": language}).language == language


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://ada:p%40ss@Mail.example.com", ("mail.example.com", 587, "ada", "p@ss", "starttls")),
        ("smtps://ada:x@mail.example.com:4650", ("mail.example.com", 4650, "ada", "x", "tls")),
        ("smtp+plain://127.0.0.1", ("127.0.0.1", 25, "", "", "none")),
    ],
)
def test_a_mail_server(url: str, server: tuple[object, ...]) -> None:
    settings = Settings.from_env({"PATCHBAY_SMTP_URL": url, "PATCHBAY_SMTP_FROM": "Käse AG <a@example.com>"})
    assert settings.smtp_url == server
    assert settings.smtp_from == "Käse AG <a@example.com>"
    assert settings.sends_mail
    assert "p@ss" not in repr(settings)


def test_mail_is_sent_completely_or_not_at_all() -> None:
    for half in ({"PATCHBAY_SMTP_URL": "smtp://mail.example.com"}, {"PATCHBAY_SMTP_FROM": "a@example.com"}):
        with pytest.raises(BadSetting, match="together"):
            Settings.from_env(half)
    assert not Settings.from_env({}).sends_mail
