"""How large the body of a request may be, in bytes, from what the server refuses unread to what single routes take.

A larger one is answered with 413, where nothing else is said. How large a logo may be is decided in
:mod:`webapp.service.domain.projects.project_logos`, and a mail in :mod:`webapp.service.worker.mail`.
"""

KB, MB = 1 << 10, 1 << 20

SERVER = 16 * MB
"""What the HTTP server refuses unread: a little more than any route takes, so that each can refuse in its own way."""
REQUEST = 10 * MB
"""A call of the API, a provider's request to a webhook URL, and every other route that is not named here."""
FILE = 10 * MB
"""A file that a person or an agent gives, or that a run keeps."""
UPLOAD = FILE + 64 * KB
"""A form of a page or of the API with the largest file, and what is around it."""
AGENT_MESSAGE = 14 * MB
"""A message of an agent (MCP) with the largest file as a data URL, which takes a third more."""
AGENT_REGISTRATION = 32 * KB
"""What an agent tells of itself to be registered; a larger one is answered with 400, as errors of RFC 7591 are."""
AGENT_SIGN_IN = 16 * KB
"""A form of the protocol by which agents sign in."""
API_DOCUMENT = 20 * MB
"""The description of an API that is imported (OpenAPI and its like), once it is unpacked: it may be sent as gzip, which
fits into a request, or be fetched or read from a file, which no server of ours limits."""
DEMO_FORM = 64 * KB
"""A form that a stranger sends from a demo link."""
