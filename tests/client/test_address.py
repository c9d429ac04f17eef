"""A token is sent in the clear to no other machine, unless that is said to be wanted."""

import pytest

from letalone.client.address import read_address
from letalone.errors import ParameterError


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://curator.example.org", "https://curator.example.org"),
        ("https://curator.example.org/team/", "https://curator.example.org/team"),
        ("https://curator.example.org/api/v1/", "https://curator.example.org"),
        ("http://localhost:8400", "http://localhost:8400"),
        ("http://127.0.0.1:8400/", "http://127.0.0.1:8400"),
        ("http://[::1]:8400", "http://[::1]:8400"),
    ],
)
def test_what_is_encrypted_or_local_is_allowed(url, read):
    assert str(read_address(url)) == read


@pytest.mark.parametrize(
    "url",
    [
        "http://curator.example.org",
        "http://10.0.0.7:8400",
        "http://localhost.example.org",
        "http://127.0.0.1.example.org",
        "http://notlocalhost",
        "http://0.0.0.0:8400",
    ],
)
def test_http_to_another_machine_needs_a_word(url):
    with pytest.raises(ParameterError, match="allow_insecure=True"):
        read_address(url)
    assert str(read_address(url, allow_insecure=True)) == url


@pytest.mark.parametrize(
    "url",
    [
        "", "curator.example.org", "ftp://x.org", "https://", "file:///etc/passwd", None, 7,
        "https://x.org:port", "https://x.org/\nHost: y", "https://x.org\\@y.org", "https://[::1",
        "https://x.org?a=1", "https://x.org#a", "https://x .org",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(url):
    with pytest.raises(ParameterError, match="url "):
        read_address(url, allow_insecure=True)


def test_a_password_in_an_address_is_refused_and_not_repeated():
    with pytest.raises(ParameterError) as caught:
        read_address("https://ann:hunter2@curator.example.org")
    assert "hunter2" not in str(caught.value)
