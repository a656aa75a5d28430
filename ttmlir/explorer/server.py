"""Serves the page of Model Explorer and answers it: on this machine, to one browser.

The stock server reads any file that a request names, and answers to every page that the browser has
open. This one serves the package's page and has only the addresses that the page needs; it

- listens on 127.0.0.1 and answers only under that name (a site cannot make its own name mean it),
- answers only who has the token, which is in the address that is printed and then in a cookie that
  other sites cannot make the browser send,
- refuses requests that say that another site made them,
- forbids the page to load or run anything from elsewhere.
"""

from __future__ import annotations

import base64
import hmac
import json
import queue
import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from ttmlir.explorer.graph import Json
from ttmlir.explorer.session import RequestError, Session
from ttmlir.version import VERSION

HOST = "127.0.0.1"
DEFAULT_PORT = 8080
MAX_BODY = 1 << 26
"""Most bytes of a request: the page sends whole graphs."""

_HEARTBEAT = 15.0
"""Seconds between two signs of life of the stream of events."""
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".json": "application/json",
}
_ONLOAD = "this.media='all'"
"""The one script inside the page's own HTML, which makes its style sheet count."""
_ONLOAD_HASH = base64.b64encode(sha256(_ONLOAD.encode()).digest()).decode()
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        f"script-src-attr 'unsafe-hashes' 'sha256-{_ONLOAD_HASH}'",
        "worker-src 'self' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'self'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class ExplorerServer(ThreadingHTTPServer):
    """The server of one session; `with` closes it."""

    daemon_threads = True
    allow_reuse_address = False
    # A second explorer must not share the port.
    allow_reuse_port = False

    def __init__(self, session: Session, files: dict[str, Path], port: int) -> None:
        """Listen; OSError if the port is taken. Port 0 is any free one."""
        super().__init__((HOST, port), _Handler)
        self.session = session
        self.files = files
        self.token = secrets.token_urlsafe(32)
        self.lock = threading.Lock()
        """Held while the session works: it does one thing at a time."""
        self._listeners: list[queue.Queue[str]] = []
        session.on_change = self._refresh

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.server_address[1])

    @property
    def address(self) -> str:
        """What to open in the browser; it holds the token."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    @property
    def hosts(self) -> set[str]:
        """The names under which the server answers."""
        return {f"{HOST}:{self.port}", f"localhost:{self.port}"}

    @property
    def cookie(self) -> str:
        """The cookie's name: cookies are shared by all ports of a machine."""
        return f"tt_explorer_{self.port}"

    def serve_in_background(self) -> None:
        """Answer until `shutdown`."""
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def listen(self) -> queue.Queue[str]:
        """A queue of what pages are told."""
        listener: queue.Queue[str] = queue.Queue()
        self._listeners.append(listener)
        return listener

    def forget(self, listener: queue.Queue[str]) -> None:
        """Tell a page nothing more."""
        with suppress(ValueError):
            self._listeners.remove(listener)

    def _refresh(self) -> None:
        """Let pages load the graphs again."""
        event = {"name": "refreshPage", "url": f"/?data={self.session.address_data()}"}
        for listener in list(self._listeners):
            listener.put(json.dumps(event))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away is no error worth a traceback."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "tt-explorer"
    sys_version = ""
    timeout = 60

    @property
    def explorer(self) -> ExplorerServer:
        """The server that the request came to."""
        assert isinstance(self.server, ExplorerServer), "no other server has this handler"
        return self.server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal is the user's."""

    def do_GET(self) -> None:
        """Serve the page and its questions."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Serve the page's commands."""
        self._answer(self._post)

    def _answer(self, serve: Callable[[str, dict[str, list[str]]], None]) -> None:
        problem = self._check_origin()
        if problem:
            self._refuse(HTTPStatus.FORBIDDEN, problem)
            return
        address = urlsplit(self.path)
        try:
            asked = parse_qs(address.query, max_num_fields=100)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, "the address is not understood")
            return
        if address.path == "/" and "token" in asked:
            self._enter(asked["token"][0])
        elif not self._has_cookie():
            self._refuse(HTTPStatus.FORBIDDEN, "open the whole address that tt-explorer printed")
        else:
            serve(address.path, asked)

    # --- Who asks ------------------------------------------------------------------------------

    def _check_origin(self) -> str:
        """Why a request does not come from the page; empty if it does."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0] not in self.explorer.hosts:
            return "this server answers under 127.0.0.1 only"
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{hosts[0]}":
            return "another site asks"
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return "another site asks"
        return ""

    def _enter(self, token: str) -> None:
        """From the address with the token to the page, which keeps it in a cookie."""
        if not _equal(token, self.explorer.token):
            self._refuse(HTTPStatus.FORBIDDEN, "this token is not that of this explorer")
            return
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", f"/?data={self.explorer.session.address_data()}")
        self.send_header(
            "Set-Cookie",
            f"{self.explorer.cookie}={self.explorer.token}; Path=/; HttpOnly; SameSite=Strict",
        )
        self._end_headers(b"")

    def _has_cookie(self) -> bool:
        try:
            cookies = SimpleCookie(self.headers.get("Cookie", ""))
        except CookieError:
            return False
        cookie = cookies.get(self.explorer.cookie)
        return cookie is not None and _equal(cookie.value, self.explorer.token)

    # --- What is asked -------------------------------------------------------------------------

    def _get(self, path: str, asked: dict[str, list[str]]) -> None:
        session = self.explorer.session
        match path:
            case "/check_health":
                self._send(b"model_explorer_ok", "text/plain; charset=utf-8")
            case "/api/v1/get_extensions":
                self._send_json(session.extensions())
            case "/api/v1/check_new_version":
                # Offline: there is nothing newer to be known.
                names = ("version", "releaseUrl", "desktopAppUrl")
                self._send_json(dict.fromkeys(names, "") | {"runningVersion": VERSION})
            case "/api/v1/notify_user_provided_model_path":
                self._send_json({"status": "ok"})
            case "/api/v1/load_node_data":
                number = asked.get("node_data_index", [""])[0]
                is_number = number.isascii() and number.isdecimal() and len(number) < 9
                with self.explorer.lock:
                    self._send_json(session.node_data(int(number) if is_number else -1))
            case "/apistream/server_director":
                self._stream()
            case _:
                self._send_file(path.removeprefix("/") or "index.html")

    def _post(self, path: str, asked: dict[str, list[str]]) -> None:
        body = self._read_body()
        if body is None:
            return
        if path != "/apipost/v1/send_command":
            self._refuse(
                HTTPStatus.NOT_FOUND,
                "the explorer shows only what it was started with: tt-explorer FILE",
            )
            return
        try:
            with self.explorer.lock:
                answer = self.explorer.session.run(json.loads(body))
        except (ValueError, RecursionError, RequestError) as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
            return
        self._send_json(answer)

    def _read_body(self) -> bytes | None:
        """The JSON of a request; None if it was refused."""
        length = self.headers.get("Content-Length", "")
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        is_number = length.isascii() and length.isdecimal() and len(length) < 20
        if not is_number or int(length) > MAX_BODY:
            self.close_connection = True
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {MAX_BODY} bytes are read")
            return None
        body = self.rfile.read(int(length))
        if kind != "application/json":
            self._refuse(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "the explorer shows only what it was started with: tt-explorer FILE",
            )
            return None
        return body

    def _send_file(self, name: str) -> None:
        path = self.explorer.files.get(name)
        if path is None:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")
        else:
            kind = _TYPES.get(path.suffix, "application/octet-stream")
            self._send(path.read_bytes(), kind)

    def _stream(self) -> None:
        """Events for as long as the page is open."""
        listener = self.explorer.listen()
        self.close_connection = True
        try:
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self._send_headers()
            while True:
                try:
                    message = f"data: {listener.get(timeout=_HEARTBEAT)}\n\n"
                except queue.Empty:
                    message = ": still here\n\n"
                self.wfile.write(message.encode())
                self.wfile.flush()
        except OSError:
            pass
        finally:
            self.explorer.forget(listener)

    # --- Answers -------------------------------------------------------------------------------

    def _send_json(self, value: Json | list[Json]) -> None:
        # NaN and infinities are no JSON.
        self._send(json.dumps(finite(value), allow_nan=False).encode(), "application/json")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self._end_headers(body)

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self._end_headers(json.dumps({"error": reason}).encode())

    def _end_headers(self, body: bytes) -> None:
        self.send_header("Content-Length", str(len(body)))
        self._send_headers()
        self.wfile.write(body)

    def _send_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())


def finite(value: Any) -> Any:
    """JSON with words instead of numbers that JSON cannot hold."""
    match value:
        case dict():
            fields = cast("Json", value)
            return {key: finite(each) for key, each in fields.items()}
        case list() | tuple():
            return [finite(each) for each in cast("Sequence[Any]", value)]
        case float() if value != value or value in (float("inf"), float("-inf")):
            return str(value)
        case _:
            return value


def open_server(session: Session, files: dict[str, Path], port: int | None) -> ExplorerServer:
    """A server at a port, or at the first free one from 8080 on; OSError if there is none."""
    if port is not None:
        return ExplorerServer(session, files, port)
    for candidate in range(DEFAULT_PORT, DEFAULT_PORT + 20):
        with suppress(OSError):
            return ExplorerServer(session, files, candidate)
    return ExplorerServer(session, files, 0)
