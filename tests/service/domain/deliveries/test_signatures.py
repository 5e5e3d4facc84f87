"""Signatures, by the library of the standard and by the recipe of the manual."""

import base64
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from webapp.service.domain.deliveries.signatures import signed_headers
from webapp.service.domain.deliveries.signing_keys import PREFIX, new_signing_key

BODY = '{"name":"Zoë","n":1}'.encode()


def test_the_standards_own_library_verifies() -> None:
    key = new_signing_key()
    headers = signed_headers(key, "evt_1", int(time.time()), BODY)
    assert Webhook(key).verify(BODY, headers) == {"name": "Zoë", "n": 1}
    with pytest.raises(WebhookVerificationError):
        Webhook(key).verify(BODY + b" ", headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(new_signing_key()).verify(BODY, headers)


def test_known_answers() -> None:
    """Computed once with openssl dgst -sha256 -mac HMAC."""
    key = PREFIX + base64.b64encode(bytes(range(32))).decode()
    assert signed_headers(key, "evt_1", 1_700_000_000, b"{}") == {
        "x-pd-signature": "t=1700000000,v1=c96db64dcac97ab83cf9a5c23aebfdd84148c3fd17caeb1ff7f359754d7d0025",
        "webhook-id": "evt_1",
        "webhook-timestamp": "1700000000",
        "webhook-signature": "v1,bXtchBV0Hi1flm60IFUb87JKA3d/Yvv8UoEjbNotegk=",
    }


MANUAL = Path(__file__).parents[4] / "templates" / "docs" / "embed.md"


def recipe(language: str, name: str) -> str:
    """The recipe in the manual, which is ten lines long at most."""
    text = MANUAL.read_text("utf-8")
    (found,) = [one for one in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) if name in one]
    assert len([line for line in found.splitlines() if line]) <= 10
    return str(found)


def cases(key: str) -> list[tuple[str, bytes, bool]]:
    """Headers and bodies, and whether they are genuine."""
    at = int(time.time())
    good = signed_headers(key, "evt_1", at, BODY)["x-pd-signature"]
    old = signed_headers(key, "evt_1", at - 600, BODY)["x-pd-signature"]
    return [(good, BODY, True), (good, BODY + b" ", False), (good[:-2] + "zz", BODY, False), (old, BODY, False)]


def test_the_recipe_in_python() -> None:
    scope: dict[str, Any] = {}
    exec(recipe("python", "is_genuine"), scope)
    key = new_signing_key()
    for header, body, genuine in cases(key):
        assert scope["is_genuine"](key, header, body) is genuine


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js on this machine")
def test_the_recipe_in_javascript(tmp_path: Path) -> None:
    key = new_signing_key()
    calls = [
        f'console.log(isGenuine("{key}", "{header}", Buffer.from("{body.hex()}", "hex")));'
        for header, body, _ in cases(key)
    ]
    (tmp_path / "recipe.mjs").write_text("\n".join([recipe("javascript", "isGenuine"), *calls]))
    done = subprocess.run(["node", tmp_path / "recipe.mjs"], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout.split() == [str(genuine).lower() for _, _, genuine in cases(key)]
