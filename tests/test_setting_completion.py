"""What depends on which setting, and what contradicts itself."""

import pytest

from webapp.setting_completion import is_loopback
from webapp.settings import BadSetting, Settings

REMOTE = {
    "PATCHBAY_CONNECT_URL": "https://api.example.com/v1x",
    "PATCHBAY_CONNECT_CLIENT_ID": "client",
    "PATCHBAY_CONNECT_CLIENT_SECRET": "secret",
    "PATCHBAY_PROJECT": "proj_1",
}


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


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "demo.localhost"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "localhost.example.com", "10.0.0.1", "::2", "0.0.0.0"])
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)


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
