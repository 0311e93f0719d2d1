"""Addresses of indexes: what they may say, and that none may hold a password."""

import pytest

from programs.errors import InputError
from programs.retrieval.remote.address import is_remote, parse_address


@pytest.mark.parametrize(
    ("url", "base", "index"),
    [
        ("opensearch://localhost/wiki", "http://localhost:9200", "wiki"),
        ("opensearchs://search.example:443/wiki", "https://search.example:443", "wiki"),
        ("elasticsearch://10.0.0.1:9201/wiki/", "http://10.0.0.1:9201", "wiki"),
        ("elasticsearchs://[::1]/wiki-2", "https://[::1]:9200", "wiki-2"),
        ("qdrant://localhost/my%20passages", "http://localhost:6333", "my passages"),
        ("qdrants://q.example/p?embedder=openai/m&timeout_s=5", "https://q.example:6333", "p"),
    ],
)
def test_what_an_address_says(url: str, base: str, index: str) -> None:
    address = parse_address(url)
    assert (address.base, address.index) == (base, index)


def test_options_and_their_defaults() -> None:
    plain = parse_address("qdrant://h/p")
    assert (plain.timeout_s, plain.fields) == (30, ("title", "text"))
    set_ = parse_address("qdrant://h/p?timeout_s=2.5&title=&text=page_content")
    assert (set_.timeout_s, set_.fields) == (2.5, ("", "page_content"))


def test_folders_are_no_addresses() -> None:
    assert [is_remote(place) for place in ("indexes/wiki", "C:\\wiki", "qdrant://h/p")] == [False, False, True]


@pytest.mark.parametrize(
    "url", ["opensearch://ann:wonderland@h/i", "qdrants://wonderland@h/i", "qdrant://:wonderland@h/i"]
)
def test_credentials_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(
        InputError, match=r"must not hold credentials; set .*(OPENSEARCH_PASSWORD|QDRANT_API_KEY)"
    ) as raised:
        parse_address(url)
    assert "wonderland" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("solr://h/i", "'solr'"),
        ("https://h/i", "'https'"),
        ("opensearch://h", "expected opensearch://HOST:9200/INDEX"),
        ("opensearch:///i", "expected opensearch://HOST"),
        ("opensearch://h/i/j", "expected opensearch://HOST"),
        ("qdrant://h:port/i", "cannot be read"),
        ("qdrant://h/i?embeder=x", "unknown option 'embeder' .* known are embedder, text, timeout_s, title"),
        ("opensearch://h/i?embedder=x", "unknown option 'embedder'"),
        ("qdrant://h/i?timeout_s=0", "above 0"),
        ("qdrant://h/i?timeout_s=soon", "above 0"),
        ("qdrant://h/i?timeout_s=nan", "above 0"),
    ],
)
def test_what_is_no_address(url: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        parse_address(url)


def test_credentials_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENSEARCH_USERNAME", "ann")
    monkeypatch.setenv("QDRANT_API_KEY", "")
    assert parse_address("opensearch://h/i").credentials == {"OPENSEARCH_USERNAME": "ann"}
    assert parse_address("qdrant://h/i").credentials == {}
    assert "ann" not in str(parse_address("opensearch://h/i"))
