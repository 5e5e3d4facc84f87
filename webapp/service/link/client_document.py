"""What authorization servers of MCP servers read about this installation: the document whose address is its client id
there (draft-ietf-oauth-client-id-metadata-document, section 4). There is one for each server, by its host.
"""

import re

from flask import Blueprint, Flask, Response, abort, jsonify

from webapp.service.domain.accounts import registered_clients
from webapp.service.domain.base.service import Service

CACHED = "public, max-age=3600"
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.:-]{0,251}[a-z0-9])?")


def register(app: Flask, service: Service) -> None:
    """Serve the documents from ``app``."""
    blueprint = Blueprint("client_document", __name__)

    @blueprint.get(registered_clients.DOCUMENT)
    @blueprint.get(f"{registered_clients.DOCUMENT}/<server>")
    def show(server: str = "") -> Response:
        if server and not _HOST.fullmatch(server):
            abort(404)
        answer = jsonify(registered_clients.document(service, server))
        answer.headers["Cache-Control"] = CACHED
        return answer

    app.register_blueprint(blueprint)
