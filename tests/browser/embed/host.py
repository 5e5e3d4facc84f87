"""Somebody's product on an origin of its own: a server that makes Connect tokens, and a page with a button that loads
our script. What the script says is kept on the page as ``outcome`` and ``heard``."""

import json
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

_PAGE = """<!doctype html><html lang="en"><title>Acme</title><meta name="viewport" content="width=device-width">
<h1>Acme</h1><button id="go">Connect</button><div id="place"></div>
<script{kind} nonce="n">{load}
  Object.assign(window, {{ Patchbay, heard: [], outcome: null, back: Patchbay.returned() }});
  const options = {{
    tokenCallback: async () => (await fetch("/token", {{ method: "POST" }})).json(),
    app: "sandbox",
    ...{options},
    onSuccess: ({{ id }}) => heard.push(["success", id]),
    onError: (error) => heard.push(["error", error.code]),
    onClose: () => heard.push(["close"]),
  }};
  document.querySelector("#go").addEventListener("click", () => {{
    window.calls = [...(window.calls || []), (window.connection = Patchbay.connect(options))];
    connection.then(
      (account) => (window.outcome = account),
      ({{ code, message }}) => (window.outcome = {{ code, message }}),
    );
  }});
</script></html>"""


class Host:
    """The product's server: ``token`` makes the Connect token of its one user; ``headers`` are added to its page."""

    def __init__(self, script: str) -> None:
        self.script = script
        self.token: Callable[[], str] = str
        self.headers: list[tuple[str, str]] = []

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/token":
            start_response("200 OK", [("Content-Type", "application/json"), ("Cache-Control", "no-store")])
            return [json.dumps({"token": self.token()}).encode()]
        query = {name: values[0] for name, values in parse_qs(environ["QUERY_STRING"]).items()}
        options = query.get("options", "{}")
        is_module = query.get("form") == "module"
        load = f'import * as Patchbay from "{self.script}.mjs";' if is_module else ""
        page = _PAGE.format(kind=' type="module"' if is_module else "", load=load, options=options)
        if not is_module:
            page = page.replace("<script nonce", f'<script src="{self.script}.js" nonce="n"></script><script nonce', 1)
        start_response("200 OK", [("Content-Type", "text/html; charset=utf-8"), *self.headers])
        return [page.encode()]
