"""A program that takes the place of a server in comparisons over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

STAND_IN = """#!{python}
import http.server, json, sys

PIECE = dict(choices=[dict(index=0, delta=dict(content=" ".join(sys.argv[1:])))])
USAGE = dict(choices=[], usage=dict(completion_tokens=1))

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{{}}")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200 if asked["stream"] and asked["max_tokens"] < 100 else 400)
        self.end_headers()
        for told in (PIECE, USAGE):
            self.wfile.write(b"data: " + json.dumps(told).encode() + b"\\n\\n")

port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """A program that takes the place of a server and says how it was started."""
    program = tmp_path / "stand-in"
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(0o755)
    return program
