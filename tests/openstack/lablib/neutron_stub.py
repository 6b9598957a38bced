"""A Neutron without networks: every list is empty.

    neutron_stub.py PORT

Nova asks it for ports and extensions even for servers that are created with
`networks: none`.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        collection = self.path.partition("?")[0].rstrip("/").rpartition("/")[2].removesuffix(".json")
        body = json.dumps({collection.replace("-", "_"): []}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments) -> None:
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
