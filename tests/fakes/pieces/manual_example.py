"""The integration that the manual shows to authors, and the shop that it asks."""

import json
from pathlib import Path
from typing import Any

from tests.fakes.pieces import packages
from tests.fakes.pieces.web import Asked, Said
from tests.manual.documents import fences, text_of

HOST = "api.acme-shop.com"
KEY = "k-canary"
PRODUCTS = [{"id": "p1", "name": "Paper"}, {"id": "p2", "name": "Pens"}]


def install(prefix: Path) -> str:
    """Install it into the empty folder ``prefix``; what its package is called. Skips where the framework is missing."""
    (manifest,) = (code for code in fences(text_of("pieces"), "json") if '"main"' in code)
    (program,) = fences(text_of("pieces"), "js")
    facts = json.loads(manifest)
    packages.need_framework()
    folder = prefix / "node_modules" / facts["name"]
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(manifest, "utf-8")
    (folder / facts["main"]).write_text(program, "utf-8")
    (prefix / "package.json").write_text(
        json.dumps({"private": True, "dependencies": {facts["name"]: "0.1.0"}}), "utf-8"
    )
    packages.bring(prefix, packages.FRAMEWORK)
    return str(facts["name"])


class Shop:
    """``orders`` are those of the shop, the newest first. It knows one key."""

    def __init__(self) -> None:
        self.orders: list[dict[str, Any]] = []

    def __call__(self, asked: Asked) -> Said:
        if asked.headers.get("authorization") != f"Bearer {KEY}":
            return Said({"error": "who are you"}, 401)
        if asked.place == "POST /v1/orders":
            self.orders.insert(0, {"id": len(self.orders) + 1, **asked.body})
            return Said(self.orders[0], 201)
        answers = {"GET /v1/me": {"name": "Acme"}, "GET /v1/products": PRODUCTS, "GET /v1/orders": self.orders}
        return Said(answers[asked.place])
