"""Who is answered, and what: the addresses of the page and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest

from ttmlir.explorer.documents import open_documents
from ttmlir.explorer.server import ExplorerServer, finite, open_server, page_files
from ttmlir.explorer.session import Session

LAYERS = Path(__file__).parent / "Inputs" / "layers.mlir"
CONVERT = {
    "cmdId": "convert",
    "extensionId": "tt_adapter",
    "modelPath": "layers.mlir",
    "settings": {},
    "deleteAfterConversion": False,
}


@pytest.fixture(scope="module")
def server() -> Iterator[ExplorerServer]:
    """One that answers, at any free port."""
    with open_server(Session(open_documents([str(LAYERS)])), page_files(), 0) as server:
        server.serve_in_background()
        yield server
        server.shutdown()


class Client:
    """A browser with the cookie, unless told otherwise."""

    def __init__(self, server: ExplorerServer) -> None:
        """Ask a server."""
        self.server = server

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str | None
    ) -> tuple[int, bytes, HTTPResponse]:
        """Status, body and headers of an answer; headers that are None are left out."""
        given: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.server.port}",
            "Cookie": f"{self.server.cookie}={self.server.cookie_value}",
            "Content-Type": "application/json" if body is not None else None,
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        connection = HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True)
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None and "Content_Length" not in headers:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            return response.status, response.read(), response
        finally:
            connection.close()


@pytest.fixture
def client(server: ExplorerServer) -> Client:
    """A browser that has opened the page."""
    return Client(server)


def command(client: Client, **changed: Any) -> Any:
    """The answer to a command."""
    body = json.dumps({**CONVERT, **changed}).encode()
    status, answer, _ = client.ask("POST", "/apipost/v1/send_command", body)
    assert status == 200, answer
    return json.loads(answer)


def test_the_page_and_its_graphs(client: Client) -> None:
    """The package's page, our adapter and panel, the collections of a document."""
    status, page, response = client.ask("GET", "/")
    assert (status, response.getheader("Content-Type")) == (200, "text/html; charset=utf-8")
    assert b"<title>Model Explorer</title>" in page
    assert [each["id"] for each in json.loads(client.ask("GET", "/api/v1/get_extensions")[1])] == [
        *("tt_adapter", "tt_overrides", "tt_estimate", "tt_run", "tt_memory")
    ]
    labels = [each["label"] for each in command(client)["graphCollections"]]
    assert labels == ["ttnn", "ttir"]


def test_the_policy_keeps_the_page_to_itself(client: Client) -> None:
    """No script but the page's own, nothing from elsewhere."""
    _, _, response = client.ask("GET", "/")
    policy = response.getheader("Content-Security-Policy") or ""
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "'unsafe-eval'" not in policy
    assert "script-src 'self'; script-src-attr 'unsafe-hashes'" in policy
    assert response.getheader("X-Frame-Options") == "DENY"
    assert response.getheader("X-Content-Type-Options") == "nosniff"


def test_the_token_becomes_a_cookie(server: ExplorerServer, client: Client) -> None:
    """Which other sites cannot make the browser send, and which does not tell the token."""
    token = server.token
    status, _, response = client.ask("GET", f"/?token={token}", Cookie=None)
    assert status == 200
    refresh = response.getheader("Refresh") or ""
    assert refresh.startswith("0; url=/?data=")
    cookie = response.getheader("Set-Cookie") or ""
    assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert token not in cookie + refresh
    page = refresh.partition("url=")[2]
    assert client.ask("GET", page, Cookie=cookie.partition(";")[0])[0] == 200
    assert client.ask("GET", page, Cookie=f"{server.cookie}={token}")[0] == 403
    assert client.ask("GET", "/?token=wrong", Cookie=None)[0] == 403


def test_a_token_is_good_for_one_browser(server: ExplorerServer, client: Client) -> None:
    """Also of many that come at once; the next one has another token."""
    token = server.token
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda _: client.ask("GET", f"/?token={token}", Cookie=None)[:2], range(8))
        )
    assert sorted(status for status, _ in answers) == [200, *[403] * 7]
    assert any(b"can be opened once" in body for _, body in answers)
    assert server.token != token
    assert client.ask("GET", f"/?token={server.token}", Cookie=None)[0] == 200


@pytest.mark.parametrize(
    ("mode", "status"), [("navigate", 200), ("cors", 403), ("no-cors", 403), ("websocket", 403)]
)
def test_a_file_leads_to_the_page(
    server: ExplorerServer, client: Client, mode: str, status: int
) -> None:
    """Browsers take it for another site; what a site's scripts ask is no navigation."""
    headers = {"Cookie": None, "Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": mode}
    assert client.ask("GET", f"/?token={server.token}", **headers)[0] == status


@pytest.mark.parametrize("path", ["/", "/api/v1/get_extensions", "/check_health", "/main.js"])
@pytest.mark.parametrize("cookie", [None, "tt_explorer_1=x", "; ;=", "tt_explorer_{port}=wrong"])
def test_nobody_is_answered_without_the_cookie(
    server: ExplorerServer, client: Client, path: str, cookie: str | None
) -> None:
    """Neither pages nor data."""
    given = None if cookie is None else cookie.format(port=server.port)
    status, body, _ = client.ask("GET", path, Cookie=given)
    assert status == 403
    assert b"open the whole address that tt-explorer printed" in body


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8080"},
        {"Host": None},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_other_sites_are_not_answered(client: Client, headers: dict[str, str | None]) -> None:
    """Also with the cookie: another name for this machine, or a page of another site."""
    body = json.dumps(CONVERT).encode()
    for method, path, content in (
        ("GET", "/", None),
        ("POST", "/apipost/v1/send_command", body),
    ):
        assert client.ask(method, path, content, **headers)[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/read_text_file?path=/etc/passwd",
        "/api/v1/load_graphs_json?graph_index=0",
        "/api/v1/send_command?json=%7B%7D",
        "/../../pyproject.toml",
        "/static_files/../index.html",
        "/%2e%2e/pyproject.toml",
        "//etc/passwd",
        "/index.html/",
        "/nothing",
    ],
)
def test_no_other_file_is_read(client: Client, path: str) -> None:
    """The stock server's addresses for files do not exist, and paths lead nowhere."""
    assert client.ask("GET", path)[0] == 404


@pytest.mark.parametrize("path", ["/etc/passwd", str(LAYERS), "../layers.mlir", "~/x.mlir", ""])
def test_only_what_was_given_is_converted(client: Client, path: str) -> None:
    """Paths are names here, which nothing has."""
    assert "reads only what it was started with" in command(client, modelPath=path)["error"]


@pytest.mark.parametrize(
    "changed",
    [
        {"cmdId": "__init__"},
        {"cmdId": "run", "extensionId": "builtin_hfgraph"},
        {"extensionId": "builtin_json"},
        {"extensionId": ["tt_adapter"]},
        {"extensionId": {}},
    ],
)
def test_no_other_command_is_run(client: Client, changed: dict[str, Any]) -> None:
    """Only those of the protocol."""
    body = json.dumps({**CONVERT, **changed}).encode()
    status, answer, _ = client.ask("POST", "/apipost/v1/send_command", body)
    assert status == 400 or "error" in json.loads(answer)
    assert b"Traceback" not in answer


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"[]", {}, 400),
        (b"{", {}, 400),
        (b"\xff", {}, 400),
        (b"[" * 10**5, {}, 400),
        (b"{}", {"Content_Type": "text/plain"}, 415),
        (b"{}", {"Content_Type": "application/x-www-form-urlencoded"}, 415),
        (b"", {"Content_Length": str(1 << 40)}, 413),
        (b"", {"Content_Length": "-1"}, 413),
        (b"", {"Content_Length": "9" * 5000}, 413),
    ],
)
def test_requests_that_no_page_makes(
    client: Client, body: bytes, headers: dict[str, str], status: int
) -> None:
    """Damaged, huge and simple ones, which other sites could send."""
    assert client.ask("POST", "/apipost/v1/send_command", body, **headers)[0] == status


def test_files_are_not_uploaded(client: Client) -> None:
    """The message says how to show a file."""
    status, body, _ = client.ask("POST", "/apipost/v1/upload", b"{}")
    assert status == 404
    assert b"tt-explorer FILE" in body


def test_data_by_number(client: Client) -> None:
    """Numbers that there are, and others."""

    def data(number: str) -> Any:
        return json.loads(client.ask("GET", f"/api/v1/load_node_data?node_data_index={number}")[1])

    (graph,) = json.loads(data("0")["content"])
    assert graph == "net"
    assert data("10000") == {"error": "there is no node data 10000"}
    assert "error" in data("-1")
    assert "error" in data("x" * 99)


def test_pages_are_told_of_changes(server: ExplorerServer) -> None:
    """By an event with the new address."""
    listener = server.listen()
    server.session.on_change()
    event = json.loads(listener.get(timeout=10))
    server.forget(listener)
    assert event["name"] == "refreshPage"
    assert event["url"].startswith("/?data=")


def shown(session: Session) -> dict[str, Any]:
    """What the page's address says."""
    return json.loads(unquote(session.address_data()))


def test_a_repeated_estimate_replaces_the_one_before(
    server: ExplorerServer, client: Client
) -> None:
    """All names are there once, and of the board that was chosen last; the view stays."""
    session, listener = server.session, server.listen()
    first = shown(session)["nodeDataTargets"]
    view = {"paneStates": [{"selectedGraphId": "net"}]}
    page = f"http://127.0.0.1:{server.port}/?data={quote(json.dumps({'uiState': view}))}"
    run = {"cmdId": "run", "extensionId": "tt_estimate", "graphId": "net"}
    for board in ("p150", "n300"):
        body = json.dumps({**CONVERT, **run, "configValues": {"board": board}}).encode()
        assert client.ask("POST", "/apipost/v1/send_command", body, Referer=page)[0] == 200
    listener.get(timeout=10)
    event = json.loads(listener.get(timeout=10))
    server.forget(listener)
    data = json.loads(unquote(event["url"].partition("=")[2]))
    assert (data["nodeDataTargets"], data["uiState"]) == (first, view)
    times = [each for each in data["nodeData"] if "time on" in each]
    assert len(times) == 2, "of the program and of its source"
    assert all("time on n300" in each for each in times)


@pytest.mark.parametrize("referer", ["", "[", "http://x/?data=[", "/?data=[1]", "/?data={}"])
def test_addresses_that_say_nothing_of_the_view(
    server: ExplorerServer, client: Client, referer: str
) -> None:
    """Change nothing."""
    before = server.session.view
    body = json.dumps(CONVERT).encode()
    assert client.ask("POST", "/apipost/v1/send_command", body, Referer=referer)[0] == 200
    assert server.session.view == before


def test_numbers_that_json_lacks() -> None:
    """Become words."""
    assert finite({"a": [float("nan"), float("inf"), 1.5, "x"]}) == {"a": ["nan", "inf", 1.5, "x"]}


def test_only_this_machine_can_connect(server: ExplorerServer) -> None:
    """The loopback address."""
    assert server.server_address[0] == "127.0.0.1"


def test_two_explorers_have_two_ports(server: ExplorerServer) -> None:
    """And a port that is asked for is not shared."""
    with open_server(Session([]), {}, None) as first, open_server(Session([]), {}, None) as second:
        assert first.port != second.port
    with pytest.raises(OSError, match="use"):
        ExplorerServer(Session([]), {}, server.port)
