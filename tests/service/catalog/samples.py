"""Sources for tests: categories, an app of each auth type, and texts to break; and what is wrong with some."""

from pathlib import Path

from webapp.service.catalog.check import judge
from webapp.service.catalog.sources import Places, read

CATEGORIES = """
[[categories]]
slug = "tools"
name = "Tools"
description = "Things to work with."

[[categories]]
slug = "cafe"
name = "Café"
description = "Places to sit."
"""

KEYS = """
slug = "acme"
name = "Acme"
description = "Rockets and anvils."
categories = ["tools"]
auth_type = "keys"
docs_url = "https://docs.acme.example/"
sources = ["https://docs.acme.example/"]
base_url = "https://{subdomain}.acme.example/api"
allowed_hosts = ["{subdomain}.acme.example"]

[logo]
letter = "A"
color = "#aa3300"

[[fields]]
name = "subdomain"
label = "Subdomain"

[[fields]]
name = "api_key"
label = "API key"
secret = true

[[credentials]]
place = "header"
name = "X-Key"
value = "Token {api_key}"
source = "https://docs.acme.example/auth"

[test]
url = "/me"
source = "https://docs.acme.example/me"
"""

TOKEN = """
[[fields]]
name = "token"
label = "Token"
secret = true

[[credentials]]
place = "bearer"
value = "{token}"
"""

OAUTH = """
slug = "globex"
name = "Globex"
description = "Plans for the weather."
categories = ["tools"]
auth_type = "oauth"
docs_url = "https://docs.globex.example/"
sources = ["https://docs.globex.example/"]
base_url = "https://api.globex.example"
allowed_hosts = ["api.globex.example"]

[logo]
letter = "G"
color = "#ffee00"

[[credentials]]
place = "bearer"
source = "https://docs.globex.example/auth"

[oauth]
authorize_url = "https://globex.example/authorize"
token_url = "https://globex.example/token"
revoke_url = "https://globex.example/revoke"
sources = ["https://docs.globex.example/auth"]

[oauth.client]
console_url = "https://globex.example/apps"
steps = ["Add {redirect_uri}."]
source = "https://docs.globex.example/auth"

[[oauth.scopes]]
scope = "me"
words = "Read your name"
functional = true

[[oauth.scopes]]
scope = "weather"
words = "Change the weather"
includes = ["rain"]

[[oauth.scope_profiles]]
name = "full"
scopes = ["me", "weather"]

[test]
url = "/me"
source = "https://docs.globex.example/me"

[identity]
id = "user.id"
name = "user.name"
source = "https://docs.globex.example/me"
"""


def bare(slug: str, name: str, *, weight: int = 0, category: str = "tools", description: str = "A thing.") -> str:
    """An ``app.toml`` without auth."""
    return (
        f'slug = "{slug}"\nname = "{name}"\ndescription = "{description}"\ncategories = ["{category}"]\n'
        f'featured_weight = {weight}\nauth_type = "none"\n[logo]\nletter = "X"\ncolor = "#123456"\n'
    )


def check(places: Places) -> list[str]:
    """Every problem of the apps in ``places``; empty when all is well."""
    return list(judge(read(places)).problems)


DO = """from webapp.service.components.authoring import {base}, app

class One({base}):
    name, description = "{name}", "Does it."
    account = app("acme")

    def run(self, ctx):
        return 1
"""


def write_component(folder: Path, place: str, base: str = "Action", name: str = "Launch") -> Path:
    """The file of a component that does nothing, at ``place``."""
    file = folder / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(DO.format(base=base, name=name), "utf-8")
    return file


def write(path: Path, text: str) -> None:
    """``text`` at ``path``, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_two_apps(folder: Path) -> Path:
    """Two apps in ``folder``, one with a component, and the categories."""
    for slug, text in (("acme", KEYS), ("globex", OAUTH)):
        write(folder / slug / "app.toml", text)
    write(folder / "acme" / "actions" / "do-it" / "1.0.0.py", "1")
    write(folder / "categories.toml", CATEGORIES)
    return folder
