"""A token is found where it was put, is kept from others, and is shown nowhere."""

import pickle

import pytest

from letalone.client.address import read_secret
from letalone.errors import ParameterError

TOKEN = "la_" + "Q7" * 21
PLACES = ("LETALONE_TOKEN", "LETALONE_TOKEN_FILE")


@pytest.fixture(autouse=True)
def no_token(monkeypatch):
    for name in PLACES:
        monkeypatch.delenv(name, raising=False)


def kept(path, mode=0o600, text=TOKEN + "\n"):
    path.write_text(text)
    path.chmod(mode)
    return path


def bearer(secret):
    return secret.header()["Authorization"]


def test_a_token_is_given_or_in_a_file_or_in_the_environment(tmp_path, monkeypatch):
    path = kept(tmp_path / "token")
    assert bearer(read_secret(TOKEN)) == f"Bearer {TOKEN}"
    assert bearer(read_secret(token_file=path)) == f"Bearer {TOKEN}"
    monkeypatch.setenv("LETALONE_TOKEN_FILE", str(path))
    assert bearer(read_secret()) == f"Bearer {TOKEN}"
    monkeypatch.setenv("LETALONE_TOKEN", TOKEN[::-1].replace("_al", "la_") + "x")
    with pytest.raises(ParameterError, match="LETALONE_TOKEN has no token"):
        read_secret()
    monkeypatch.setenv("LETALONE_TOKEN", "la_" + "x" * 40)
    assert bearer(read_secret()) == "Bearer la_" + "x" * 40


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644, 0o610])
def test_a_file_that_others_can_reach_is_refused(tmp_path, mode):
    with pytest.raises(ParameterError, match="chmod 600") as caught:
        read_secret(token_file=kept(tmp_path / "token", mode))
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    "token", ["", "hunter2", "la_short", TOKEN + " ", TOKEN + "\r\nX: y", "la_" + "ä" * 30, 7, b"x"]
)
def test_what_is_no_token_is_refused_and_not_repeated(token):
    with pytest.raises(ParameterError) as caught:
        read_secret(token)
    assert not str(token).strip() or str(token) not in str(caught.value) or token in (7,)


def test_nothing_given_says_what_to_give(tmp_path):
    with pytest.raises(ParameterError, match="LETALONE_TOKEN"):
        read_secret()
    with pytest.raises(ParameterError, match="not both"):
        read_secret(TOKEN, token_file=tmp_path)
    with pytest.raises(ParameterError, match="cannot be read"):
        read_secret(token_file=tmp_path / "none")
    with pytest.raises(ParameterError, match="nobody here is called"):
        read_secret(token_file="~nobody_here/token")


def test_a_token_hides_itself():
    secret = read_secret(TOKEN)
    assert TOKEN not in repr(secret) + str(secret)
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(secret)
