"""Serves the page of Model Explorer and answers it: on this machine, to one browser.

The stock server reads any file that a request names, and answers to every page that the browser has
open. This one serves the package's page and has only the addresses that the page needs; it

- listens on 127.0.0.1 and answers only under that name (a site cannot make its own name mean it),
- lets in who has the token of the address, once: the browser gets a cookie with another secret,
  that other sites cannot make it send, and the token is worth nothing any more,
- refuses requests that say that another site made them,
- forbids the page to load or run anything from elsewhere.
"""

from __future__ import annotations

import base64
import hmac
import json
import queue
import re
import secrets
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from http import HTTPStatus
from http.client import HTTPConnection
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from urllib.parse import parse_qs, quote, urlsplit

from ttmlir.errors import InputError, plural
from ttmlir.explorer.documents import Document, document_of
from ttmlir.explorer.graph import Json, unique_names
from ttmlir.explorer.session import RequestError, Session
from ttmlir.files import write_file
from ttmlir.version import VERSION

# --- Server ---------------------------------------------------------------------------------------

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
    # The page's own address, which says what is open, comes with its commands.
    "Referrer-Policy": "same-origin",
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
        """What the next browser enters with; another one once it has."""
        self.cookie_value = secrets.token_urlsafe(32)
        """What browsers that have entered say."""
        self.on_entry: Callable[[], None] = lambda: None
        """Called when a browser has entered."""
        self.lock = threading.Lock()
        """Held while the session works: it does one thing at a time."""
        self._entry_lock = threading.Lock()
        self._listeners: list[queue.Queue[str]] = []
        session.on_change = self._refresh

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.server_address[1])

    @property
    def address(self) -> str:
        """What to open in the browser; it holds the token, and so can be opened once."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    @property
    def hosts(self) -> set[str]:
        """The names under which the server answers."""
        return {f"{HOST}:{self.port}", f"localhost:{self.port}"}

    @property
    def cookie(self) -> str:
        """The cookie's name: cookies are shared by all ports of a machine."""
        return f"tt_explorer_{self.port}"

    def admit(self, token: str) -> bool:
        """Whether this is the token, which then is used up."""
        with self._entry_lock:
            is_right = _equal(token, self.token)
            if is_right:
                self.token = secrets.token_urlsafe(32)
        if is_right:
            self.on_entry()
        return is_right

    def serve_in_background(self) -> None:
        """Answer until `shutdown`."""
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def listen(self) -> queue.Queue[str]:
        """A queue of the events for pages."""
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
        try:
            address = urlsplit(self.path)
            asked = parse_qs(address.query, max_num_fields=100)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, "the address is not understood")
            return
        is_entry = self.command == "GET" and address.path == "/" and "token" in asked
        problem = self._check_origin(is_entry)
        if problem:
            self._refuse(HTTPStatus.FORBIDDEN, problem)
        elif is_entry:
            self._enter(asked["token"][0])
        elif not self._has_cookie():
            self._refuse(HTTPStatus.FORBIDDEN, "open the whole address that tt-explorer printed")
        else:
            serve(address.path, asked)

    # --- Who asks ------------------------------------------------------------------------------

    def _check_origin(self, is_entry: bool) -> str:
        """Why a request does not come from the page; empty if it does.

        Who enters comes from elsewhere, such as the file that leads the browser here.
        """
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0] not in self.explorer.hosts:
            return "this server answers under 127.0.0.1 only"
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{hosts[0]}":
            return "another site asks"
        if is_entry:
            is_own = self.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"
        else:
            is_own = self.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        return "" if is_own else "another site asks"

    def _enter(self, token: str) -> None:
        """From the address with the token to the page, for whose browser there is a cookie."""
        if not self.explorer.admit(token):
            self._refuse(
                HTTPStatus.FORBIDDEN,
                "this address is not that of this explorer, or was opened before: it can be opened "
                "once; start tt-explorer again",
            )
            return
        with self.explorer.lock:
            data = self.explorer.session.address_data()
        # Browsers count a redirection as coming from where the request came from, and would not
        # send the cookie with it; they count this as coming from here.
        self.send_response(HTTPStatus.OK)
        self.send_header("Refresh", f"0; url=/?data={data}")
        self.send_header(
            "Set-Cookie",
            f"{self.explorer.cookie}={self.explorer.cookie_value}; Path=/; HttpOnly; "
            "SameSite=Strict",
        )
        self._end_headers(b"")

    def _has_cookie(self) -> bool:
        try:
            cookies = SimpleCookie(self.headers.get("Cookie", ""))
        except CookieError:
            return False
        cookie = cookies.get(self.explorer.cookie)
        return cookie is not None and _equal(cookie.value, self.explorer.cookie_value)

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
                session = self.explorer.session
                session.view = _view_of(self.headers.get("Referer", "")) or session.view
                answer = session.run(json.loads(body))
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


def _view_of(address: str) -> Json | None:
    """What an address of the page says is open; None if it says nothing."""
    try:
        data = parse_qs(urlsplit(address).query, max_num_fields=100).get("data", ["{}"])[0]
        shown = json.loads(data)
    except (ValueError, RecursionError):
        return None
    view = cast("Json", shown).get("uiState") if isinstance(shown, dict) else None
    return cast("Json", view) if isinstance(view, dict) else None


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


# --- Exploring ------------------------------------------------------------------------------------
# Opens the explorer for documents: from the command line, and for compiled models in Python.

# --- Check ----------------------------------------------------------------------------------------
# Loads what an explorer shows, as a browser would, and says what that is.


def check(server: ExplorerServer) -> list[str]:
    """What the page shows, line by line; InputError for what it could not show."""
    return list(_Browser(server).visit())


class _Browser:
    """The requests that the page makes, in its order."""

    def __init__(self, server: ExplorerServer) -> None:
        self._server = server
        self._cookie = ""

    def visit(self) -> Iterator[str]:
        """Open the address, then what the address names."""
        parts = urlsplit(self._server.address)
        location, self._cookie = self._enter(f"{parts.path}?{parts.query}")
        page = self._get(location)
        if b"<base href" not in page:
            raise InputError("the page of the Model Explorer package is not what it was")
        shown: Json = json.loads(parse_qs(urlsplit(location).query)["data"][0])
        adapters = {each["id"] for each in json.loads(self._get("/api/v1/get_extensions"))}
        for model in shown["models"]:
            if model["adapterId"] not in adapters:
                raise InputError(f"no adapter is called {model['adapterId']}")
            yield from self._convert(model)
        yield from self._load_data(shown["nodeData"], shown["nodeDataTargets"])

    def _enter(self, address: str) -> tuple[str, str]:
        status, headers, _ = self._request("GET", address)
        if status != 200:
            raise InputError(f"the address of the page answers {status}")
        return headers["refresh"].partition("url=")[2], headers["set-cookie"].partition(";")[0]

    def _convert(self, model: Json) -> Iterator[str]:
        answer = self._post(
            {
                "cmdId": "convert",
                "extensionId": model["adapterId"],
                "modelPath": model["url"],
                "settings": {},
                "deleteAfterConversion": False,
            }
        )
        name: str = model["url"]
        for collection in answer["graphCollections"]:
            label = f"{name} ({collection['label']})" if collection["label"] else name
            yield label
            for graph in collection["graphs"]:
                yield _describe_graph(graph)

    def _load_data(self, sources: Sequence[str], targets: Sequence[str]) -> Iterator[str]:
        for source, target in zip(sources, targets, strict=True):
            number = source.rpartition("/")[2]
            answer = json.loads(
                self._get(f"/api/v1/load_node_data?node_data_index={quote(number)}")
            )
            if "error" in answer:
                raise InputError(answer["error"])
            for data in json.loads(answer["content"]).values():
                yield f"{target}: data '{data['name']}'{_describe_values(data)}"

    def _get(self, address: str) -> bytes:
        status, _, body = self._request("GET", address)
        if status != 200:
            raise InputError(f"{address} answers {status}: {body[:200].decode(errors='replace')}")
        return body

    def _post(self, command: Json) -> Json:
        status, _, body = self._request(
            "POST", "/apipost/v1/send_command", json.dumps(command).encode()
        )
        answer: Json = json.loads(body)
        if status != 200 or answer.get("error"):
            raise InputError(f"{command['modelPath']}: {answer.get('error', status)}")
        return answer

    def _request(
        self, method: str, address: str, body: bytes | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        connection = HTTPConnection(HOST, self._server.port, timeout=600)
        try:
            headers = {"Cookie": self._cookie} if self._cookie else {}
            if body is not None:
                headers["Content-Type"] = "application/json"
            connection.request(method, address, body, headers)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return response.status, found, response.read()
        finally:
            connection.close()


def _describe_graph(graph: Json) -> str:
    nodes: list[Json] = graph["nodes"]
    layers: set[str] = set()
    for node in nodes:
        namespace: str = node["namespace"]
        parts = namespace.split("/") if namespace else []
        layers.update("/".join(parts[: depth + 1]) for depth in range(len(parts)))
    edges = sum(len(node["incomingEdges"]) for node in nodes)
    _check_edges(graph, nodes)
    counts = (plural(len(nodes), "node"), plural(edges, "edge"), plural(len(layers), "layer"))
    return f"  {graph['id']}: {', '.join(counts)}"


def _check_edges(graph: Json, nodes: Sequence[Json]) -> None:
    known = {node["id"] for node in nodes}
    if len(known) != len(nodes):
        raise InputError(f"two nodes of '{graph['id']}' have the same id")
    for node in nodes:
        for edge in node["incomingEdges"]:
            if edge["sourceNodeId"] not in known:
                raise InputError(f"node {node['id']} of '{graph['id']}' has an edge from nowhere")


def _describe_values(data: Json) -> str:
    values: list[Any] = [each["value"] for each in data["results"].values()]
    numbers = [value for value in values if isinstance(value, int | float)]
    if numbers:
        return f" of {len(values)} nodes, {min(numbers):g} to {max(numbers):g}"
    words = sorted({str(value) for value in values})
    return f" of {len(values)} nodes: {', '.join(words[:8])}" if words else " of no nodes"


# --- Stock ----------------------------------------------------------------------------------------
# The stock Model Explorer package: where its page is.
#
# Only its files are read, which need nothing: not the package's server and what that depends on,
# nor the native adapter, which is half a gigabyte.

REQUIREMENT = "ai-edge-model-explorer==0.1.34"
"""The release that the page is tested with."""

_SERVED = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")


class MissingPackageError(InputError):
    """The package is not installed."""


def page_files() -> dict[str, Path]:
    """The files of the page, by the path in its address."""
    # The package is found, not imported: importing it imports its server, and torch.
    spec = find_spec("model_explorer")
    places = [] if spec is None else spec.submodule_search_locations or []
    for place in places:
        root = Path(place) / "web_app"
        if (root / "index.html").is_file():
            found = ((path.relative_to(root).as_posix(), path) for path in root.rglob("*"))
            return {
                name: path for name, path in found if _SERVED.fullmatch(name) and path.is_file()
            }
    raise MissingPackageError(
        "the Model Explorer package is missing; install it, without what it depends on, by\n"
        f"    pip install --no-deps {REQUIREMENT}"
    )


# --- Exploring ------------------------------------------------------------------------------------


class Explorer:
    """An explorer that runs beside the program that opened it; `with` closes it."""

    def __init__(self, server: ExplorerServer) -> None:
        """Answer the server's requests from now on."""
        self._server = server
        self._entrance: TemporaryDirectory[str] | None = None
        server.on_entry = self._remove_entrance
        server.serve_in_background()

    @property
    def address(self) -> str:
        """What to open in the browser, once: who has it can use the explorer.

        After it was opened, this is another address, for another browser.
        """
        return self._server.address

    def open_browser(self) -> None:
        """Open the page in the user's browser.

        All users of a machine can read the arguments of each other's commands. So the browser gets
        the name of a file that only this user can read, which leads to the address.
        """
        self._remove_entrance()
        self._entrance = TemporaryDirectory(prefix="tt-explorer-")
        path = Path(self._entrance.name) / "open.html"
        path.touch(mode=0o600)
        page = (
            '<!doctype html>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="refresh" content="0; url={self.address}">\n'
        )
        write_file(path, page.encode())
        webbrowser.open_new_tab(path.as_uri())

    def _remove_entrance(self) -> None:
        entrance, self._entrance = self._entrance, None
        if entrance is not None:
            entrance.cleanup()

    def check(self) -> list[str]:
        """What the page shows, line by line, loaded as a browser would."""
        return check(self._server)

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._remove_entrance()

    def wait(self) -> None:
        """Answer until the user interrupts, then close."""
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            self.close()

    def __enter__(self) -> Explorer:
        """The explorer."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Where it is."""
        return f"Explorer({self.address})"


def open_explorer(
    documents: Sequence[Document], *, port: int | None = None, save_folder: str | None = None
) -> Explorer:
    """An explorer of documents.

    Raises MissingPackageError without the Model Explorer package, OSError for a port that is taken.
    """
    files = page_files()
    return Explorer(open_server(Session(documents, save_folder), files, port))


def explore(
    *models: object,
    browser: bool = True,
    port: int | None = None,
    save_folder: str | None = None,
) -> Explorer:
    """Show models in Model Explorer, in the browser, two side by side; overrides recompile them.

        explorer = ttmlir.explore(compiled)
        ...
        explorer.close()

    A model that `ttmlir.load` made is shown as its file is, without overrides. With `save_folder`,
    overrides are saved there in a file that `ttmlir-opt` takes. Raises InputError for what is no
    model, `ttmlir.explorer.server.MissingPackageError` if the Model Explorer package is not
    installed.
    """
    from ttmlir.frontend.calls import CallableModel

    shown: list[CallableModel] = []
    for model in models:
        if not isinstance(model, CallableModel):
            raise InputError(
                "explore shows what ttmlir.compile and ttmlir.load return, not "
                f"{type(model).__name__}; the command tt-explorer shows files"
            )
        shown.append(model)
    if not shown:
        raise InputError("give at least one model to show")
    names = unique_names(model.name for model in shown)
    documents = list(map(document_of, shown, names))
    explorer = open_explorer(documents, port=port, save_folder=save_folder)
    if browser:
        explorer.open_browser()
    return explorer
