"""The local server of the viewer: what it answers, to whom, and what it does not read."""

from __future__ import annotations

import http.client
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from demur.report import ReportServer, serve_run
from evals.run import Run
from programs.errors import InputError
from tests.demur.report_runs import IMAGE, KINDS, SCRIPT, case_id, make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("served") / "run")


@pytest.fixture(scope="module")
def server(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReportServer]:
    images = tmp_path_factory.mktemp("images")
    (images / "somewhere").mkdir()
    Image.new("RGB", (40, 20), "teal").save(images / "somewhere" / "else.jpg")
    with serve_run(run, images=images) as running:
        yield running


def ask(server: ReportServer, path: str, *, host: str | None = None, method: str = "GET") -> tuple[int, str, bytes]:
    """Status, content type and body. The path is sent as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{server.port}")
    connection.endheaders()
    response = connection.getresponse()
    answer = response.status, response.headers["Content-Type"], response.read()
    connection.close()
    return answer


def data(server: ReportServer, path: str) -> Any:
    status, kind, body = ask(server, path)
    assert (status, kind) == (200, "application/json; charset=utf-8"), body
    return json.loads(body)


def test_the_page_has_the_figures_and_asks_for_the_cases(server: ReportServer) -> None:
    status, kind, body = ask(server, "/")
    page = body.decode()
    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert "7 of 8 answered" in page
    assert '"served":true' in page and "connect-src &#39;self&#39;" in page
    assert 'id="rows-0"' not in page and SCRIPT not in page and IMAGE not in page


def test_rows_come_by_page_and_debates_one_by_one(server: ReportServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demur.report.serve.PAGE_OF_ROWS", 3)
    first, last = data(server, "/api/rows?run=0&from=0"), data(server, "/api/rows?run=0&from=6")
    assert [row["id"] for row in first["rows"]] == [case_id(kind) for kind in list(KINDS)[:3]]
    assert [row["id"] for row in last["rows"]] == [case_id(kind) for kind in list(KINDS)[6:]]
    assert data(server, "/api/rows?from=99")["rows"] == []
    debate = data(server, "/api/debate?number=5")
    assert debate["turns"][0]["output"]["reason"] == SCRIPT
    assert debate["picture"] == {"src": "picture?number=5"}


def test_search_finds_what_was_said(server: ReportServer) -> None:
    assert data(server, "/api/search?text=SNAKE")["numbers"] == [1]
    assert data(server, "/api/search?text=%3C/script%3E")["numbers"] == [5]
    assert data(server, "/api/search?text=a+shelf")["numbers"] == [1, 2, 3]
    assert data(server, "/api/search?text=nobody+said+this")["numbers"] == []


def test_pictures(server: ReportServer, run: Run) -> None:
    status, kind, body = ask(server, "/picture?number=1")
    assert (status, kind, body[:3]) == (200, "image/jpeg", b"\xff\xd8\xff")
    with Image.open(io.BytesIO(ask(server, "/picture?number=7")[2])) as picture:
        assert picture.size == (40, 20)
    with serve_run(run) as bare:
        assert ask(bare, "/picture?number=7")[0] == 404
        assert "make the report with --images" in data(bare, "/api/debate?number=7")["picture"]["missing"]


def test_only_its_own_name_is_answered(server: ReportServer) -> None:
    port = server.port
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", f"localhost.evil:{port}"):
        status, _, body = ask(server, "/api/debate?number=1", host=host)
        assert status == 403 and b"snake" not in body
    assert ask(server, "/", host=f"localhost:{port}")[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/run.json", "/records.jsonl", "/../run.json", "/%2e%2e/run.json", "//etc/passwd", "/api", "/api/rows/../..",
        "/picture?number=../1", "/picture?number=99", "/api/debate?number=-1", "/api/debate?number=8",
        "/api/debate?number=%EF%BC%91", "/api/debate?number=" + "9" * 400, "/api/rows?from=x",
    ],
)  # fmt: skip
def test_nothing_else_is_there(server: ReportServer, path: str) -> None:
    status, kind, body = ask(server, path)
    assert status == 404 and kind.startswith("application/json")
    assert json.loads(body)["error"].startswith("not found")


def test_nothing_can_be_sent(server: ReportServer) -> None:
    assert ask(server, "/", method="POST")[0] == 501
    status, _, body = ask(server, "/", method="HEAD")
    assert (status, body) == (200, b"")


def test_damage_is_reported_and_the_server_goes_on(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    with serve_run(run) as server:
        turns = run.folder / "turns.jsonl"
        turns.write_bytes(turns.read_bytes().replace(b'"role"', b'!role"'))
        status, _, body = ask(server, "/api/debate?number=1")
        assert status == 500 and ": the line is damaged" in json.loads(body)["error"]
        assert ask(server, "/")[0] == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.1", "example.org", "", "::"])
def test_only_this_computer_is_served(run: Run, host: str) -> None:
    with pytest.raises(InputError, match="is no loopback address"):
        serve_run(run, host)


def test_a_port_that_is_taken_is_refused(server: ReportServer, run: Run) -> None:
    with pytest.raises(InputError, match=f"cannot listen on 127.0.0.1:{server.port}"):
        serve_run(run, port=server.port)
