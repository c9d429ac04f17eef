"""Signing in at a provider: only linked accounts, only tokens that the provider signed for us."""

import re
import warnings
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import suppress
from json import dumps, loads
from pathlib import Path
from threading import Event, Thread
from time import time
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from letalone.curator.http.limits import RateLimits
from letalone.curator.people.identities import Identity
from letalone.curator.people.provider import MAX_WAITING, PAUSE_SECONDS, Provider
from letalone.curator.people.provider_settings import ProviderSettings, read_provider
from letalone.curator.people.provider_sign_in import BACK
from letalone.curator.storage.refusals import NotRecognised
from letalone.errors import ParameterError, ServiceUnavailable

Console = Any
ISSUER, CLIENT, SECRET = "https://login.example", "letalone", "a secret of 32 letters, or nearly"
MAIL = "Ann@Example.org"
KEY = RSAKey.generate_key(2048, {"kid": "one"})
OTHER = RSAKey.generate_key(2048, {"kid": "one"})


class Fake:
    """A provider in this process; tests change what it says."""

    def __init__(self) -> None:
        self.journeys: dict[str, dict[str, str]] = {}
        self.claims: dict[str, Any] = {}
        self.key, self.algorithm, self.down = KEY, "RS256", False
        self.published = [KEY]
        self.sent: dict[str, str] = {}

    def answer(self, request: httpx.Request) -> httpx.Response:
        if self.down:
            raise httpx.ConnectError("no such host")
        at = request.url.path
        if at.endswith("openid-configuration"):
            names = {
                "authorization_endpoint": "/go",
                "token_endpoint": "/token",
                "jwks_uri": "/keys",
            }
            ours = {name: ISSUER + path for name, path in names.items()}
            return httpx.Response(200, json={"issuer": ISSUER, **ours})
        if at == "/keys":
            keys = [one.as_dict(private=False) for one in self.published]
            return httpx.Response(200, json={"keys": keys})
        return self._token(request)

    def _token(self, request: httpx.Request) -> httpx.Response:
        self.sent = {name: one[0] for name, one in parse_qs(request.content.decode()).items()}
        asked = self.journeys.pop(self.sent["code"], None)
        if asked is None or "authorization" not in request.headers:
            return httpx.Response(400, json={"error": "invalid_grant"})
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        if create_s256_code_challenge(self.sent["code_verifier"]) != asked["code_challenge"]:
            return httpx.Response(400, json={"error": "invalid_grant"})
        now = int(time())
        usual = {
            "iss": ISSUER, "aud": CLIENT, "sub": "s-1", "iat": now, "exp": now + 300,
            "nonce": asked["nonce"], "email": MAIL, "email_verified": True, "auth_time": now,
        }  # fmt: skip
        claims = {name: one for name, one in (usual | self.claims).items() if one is not None}
        header = {"alg": self.algorithm, "kid": "one"}
        token = jwt.encode(header, claims, self.key, algorithms=["RS256", "HS256", "none"])
        return httpx.Response(200, json={"id_token": token, "access_token": "x"})

    def visit(self, address: str, **more: str) -> str:
        """What a browser does there: it signs in, and is sent back."""
        asked = {name: one[0] for name, one in parse_qs(urlsplit(address).query).items()}
        code = f"code-{len(self.journeys)}"
        self.journeys[code] = asked
        answer = {"code": code, "state": asked["state"], "iss": ISSUER} | more
        back = urlsplit(asked["redirect_uri"])
        assert back.netloc == "testserver"
        return f"{back.path}?{urlencode(answer)}"


@pytest.fixture
def fake(console: Console) -> Iterator[Fake]:
    """A provider that is set up, and nobody is linked."""
    found, identities = Fake(), console.curator.identities
    settings = ProviderSettings(ISSUER, CLIENT, SECRET, "St. Mary's")
    with httpx.Client(transport=httpx.MockTransport(found.answer)) as client:
        console.app.state.provider = Provider(settings, client=client)
        yield found
    console.app.state.provider = None
    for one in identities.links(by="olga"):
        identities.unlink(one.person, by="olga")


def link(console: Console, person: str = "ann", account: str = MAIL) -> None:
    console.curator.identities.link(person, account, issuer=ISSUER, by="olga")


def come(console: Console, fake: Fake, browser: Any = None, at: str = "", **more: str) -> Any:
    """The whole journey of a browser; the answer to its coming back."""
    browser = browser or console.anybody()
    leaving = browser.see(f"/sign-in/provider{at}")
    assert leaving.status_code == 303, leaving.text
    return browser.see(fake.visit(leaving.headers["location"], **more))


def test_a_linked_account_signs_in_and_goes_where_it_wanted(console: Console, fake: Fake) -> None:
    link(console)
    browser = console.anybody()
    assert "Sign in with St. Mary" in browser.see("/sign-in").text
    answer = come(console, fake, browser, at="?next=/history")
    assert (answer.status_code, answer.headers["location"]) == (303, "/history")
    assert browser.see("/").text.count("ann") > 0
    assert browser.see("/sign-in").status_code == 303, "signed in"
    assert set(browser.client.cookies) == {"__Host-letalone"}, "the journey is over"


def test_nobody_is_made_by_signing_in(console: Console, fake: Fake) -> None:
    before = console.curator.people.everybody(by="olga")
    answer = come(console, fake)
    assert answer.status_code == 401
    assert "not linked to anybody here" in answer.text
    assert console.curator.people.everybody(by="olga") == before


def test_after_the_first_time_the_subject_counts_and_not_the_address(
    console: Console, fake: Fake
) -> None:
    link(console)
    assert come(console, fake).status_code == 303
    fake.claims = {"sub": "s-2"}  # somebody else has the address now
    assert come(console, fake).status_code == 401
    fake.claims = {"email": "new@example.org"}
    assert come(console, fake).status_code == 303


def test_an_address_that_is_not_verified_does_not_count(console: Console, fake: Fake) -> None:
    link(console)
    for verified in (False, None, "true", 1):
        fake.claims = {"email_verified": verified}
        assert come(console, fake).status_code == 401
    link(console, account="s-1")
    assert come(console, fake).status_code == 303


FORGED = {
    "another nonce": {"nonce": "x"},
    "no nonce": {"nonce": None},
    "for another service": {"aud": "other"},
    "for several, by another": {"aud": [CLIENT, "other"], "azp": "other"},
    "for another, by us": {"aud": "other", "azp": CLIENT},
    "another issuer": {"iss": "https://evil.example"},
    "ended": {"exp": 1},
    "no end": {"exp": None},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a subject that is no text": {"sub": 1},
}


@pytest.mark.parametrize("name", FORGED)
def test_claims_that_are_wrong_sign_nobody_in(console: Console, fake: Fake, name: str) -> None:
    link(console)
    fake.claims = FORGED[name]
    answer = come(console, fake)
    assert answer.status_code == 401
    assert "cannot be trusted" in answer.text


def test_a_token_of_another_key_or_a_secret_one_or_none_is_refused(
    console: Console, fake: Fake
) -> None:
    link(console)
    fake.key = OTHER
    assert come(console, fake).status_code == 401
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library warns of what is tried here
        fake.algorithm, fake.key = "HS256", OctKey.import_key(SECRET)
        assert come(console, fake).status_code == 401
        fake.algorithm = "none"
        assert come(console, fake).status_code == 401
    fake.algorithm, fake.key = "RS256", KEY
    assert come(console, fake).status_code == 303, "all else was right"


def test_keys_that_were_changed_are_read_anew_but_not_at_every_try(
    console: Console, fake: Fake
) -> None:
    link(console)
    assert come(console, fake).status_code == 303
    fake.published, fake.key = [OTHER], OTHER
    provider = console.app.state.provider
    assert come(console, fake).status_code == 401, "the old ones are a moment old"
    since, keys = provider._known["keys"]
    provider._known["keys"] = since - 61, keys
    assert come(console, fake).status_code == 303


def test_a_journey_that_was_not_begun_here_ends_nowhere(console: Console, fake: Fake) -> None:
    """Somebody is sent an address with another's code: their browser has no such journey."""
    link(console)
    mine, theirs = console.anybody(), console.anybody()
    back = fake.visit(mine.see("/sign-in/provider").headers["location"])
    assert theirs.see(back).status_code == 401
    theirs.see("/sign-in/provider")
    assert theirs.see(back).status_code == 401, "another state"
    assert mine.see(back).status_code == 303
    assert mine.see(back).status_code == 401, "once only"


def test_an_answer_from_elsewhere_without_a_code_or_too_late_is_refused(
    console: Console, fake: Fake
) -> None:
    link(console)
    assert come(console, fake, code="", error="access_denied").status_code == 401
    assert come(console, fake, iss="https://evil.example").status_code == 401
    assert come(console, fake, code="code-9").status_code == 401
    browser = console.anybody()
    back = fake.visit(browser.see("/sign-in/provider").headers["location"])
    console.app.state.provider._clock = lambda: time() + 601
    assert browser.see(back).status_code == 401


def test_who_comes_from_the_providers_site_is_sent_on_once(console: Console, fake: Fake) -> None:
    link(console)
    browser = console.anybody()
    back = fake.visit(browser.see("/sign-in/provider").headers["location"])
    first = browser.see(back, headers={"Sec-Fetch-Site": "cross-site"})
    assert first.status_code == 200
    assert 'http-equiv="refresh"' in first.text
    assert browser.see(back).status_code == 303


def test_the_journey_is_asked_for_with_proof_and_its_cookie_is_for_this_host(
    console: Console, fake: Fake
) -> None:
    leaving = console.anybody().see("/sign-in/provider?next=//evil.example")
    asked = parse_qs(urlsplit(leaving.headers["location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == ["https://testserver/sign-in/provider/back"]
    assert len({asked["state"][0], asked["nonce"][0], asked["code_challenge"][0]}) == 3
    assert "prompt" not in asked
    cookie = leaving.headers["set-cookie"].lower()
    for word in ("__host-letalone-provider", "secure", "httponly", "samesite=strict"):
        assert word in cookie
    assert SECRET not in str(leaving.headers)


def test_addresses_of_others_are_not_gone_to(console: Console, fake: Fake) -> None:
    link(console)
    answer = come(console, fake, at="?next=//evil.example")
    assert answer.headers["location"] == "/"


def test_a_provider_that_is_down_is_said_to_be(console: Console, fake: Fake) -> None:
    fake.down = True
    answer = console.anybody().see("/sign-in/provider")
    assert answer.status_code == 503
    assert "Try again later" in answer.text


def test_without_a_provider_there_is_no_button(console: Console) -> None:
    browser = console.anybody()
    assert "/sign-in/provider" not in browser.see("/sign-in").text
    assert browser.see("/sign-in/provider").status_code == 404
    assert "/identities" not in console.by("olga").see("/").text


def test_signing_in_there_again_lets_act_and_only_if_it_was_now(
    console: Console, fake: Fake
) -> None:
    link(console, "stan", "s-1")
    browser = console.anybody()
    come(console, fake, browser)
    asked = browser.see("/sign-in/provider?again=1").headers["location"]
    assert "prompt=login" in asked
    assert "max_age=0" in asked
    for stale in (int(time()) - 3600, int(time()) - 30, None, "now", True):
        fake.claims = {"auth_time": stale}
        answer = come(console, fake, browser, at="?again=1")
        assert answer.status_code == 401, stale
    fake.claims = {}
    assert come(console, fake, browser, at="?again=1&next=/requests").status_code == 303
    secret = browser.client.cookies["__Host-letalone"].strip('"').partition("~")[0]
    assert console.curator.visits.visitor(secret).elevated


def test_the_account_of_another_person_does_not_let_act(console: Console, fake: Fake) -> None:
    link(console, "ben", "s-2")
    link(console, "stan", "s-1")
    browser = console.anybody()
    come(console, fake, browser)
    fake.claims = {"sub": "s-2"}
    assert come(console, fake, browser, at="?again=1").status_code == 401


def test_a_journey_that_the_browser_wrote_itself_is_none(console: Console, fake: Fake) -> None:
    """Whoever writes cookies could else say that a journey to sign in again began long ago."""
    link(console, "stan", "s-1")
    browser, name = console.anybody(), "__Host-letalone-provider"
    come(console, fake, browser)
    fake.claims = {"auth_time": int(time()) - 300}
    back = fake.visit(browser.see("/sign-in/provider?again=1").headers["location"])
    body, _, seal = browser.client.cookies[name].strip('"').partition(".")
    journey = loads(urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    older = dumps(journey | {"began": journey["began"] - 300})
    fuller = urlsafe_b64encode(older.encode()).decode().rstrip("=")
    for wrong in (f"{fuller}.{seal}", fuller, f"{body}.", "x.y", ""):
        browser.client.cookies.set(name, wrong, domain="testserver.local", path="/")
        answer = browser.see(back)
        assert answer.status_code == 401, wrong
        assert "was not begun here" in answer.text


def test_a_journey_to_sign_in_again_is_of_the_visit_that_began_it(
    console: Console, fake: Fake
) -> None:
    link(console, "stan", "s-1")
    one, other = console.anybody(), console.anybody()
    for browser in (one, other):
        assert come(console, fake, browser).status_code == 303
    back = fake.visit(one.see("/sign-in/provider?again=1").headers["location"])
    name = "__Host-letalone-provider"
    cookie = one.client.cookies[name].strip('"')
    other.client.cookies.set(name, cookie, domain="testserver.local", path="/")
    assert other.see(back).status_code == 401
    assert one.see(back).status_code == 303


def test_letters_that_fold_to_the_same_are_not_the_same_address(
    console: Console, fake: Fake
) -> None:
    """ "ß" folds to "ss", and the sign for kelvin to "k": accounts of others would fit."""
    link(console, account="strasse.k@example.org")
    for other in ("stra\u00dfe.k@example.org", "strasse.\u212a@example.org"):
        fake.claims = {"email": other}
        assert come(console, fake).status_code == 401
        with pytest.raises(ParameterError, match="subject"):
            link(console, account=other)
    fake.claims = {"email": "Strasse.K@Example.org"}
    assert come(console, fake).status_code == 303


def test_a_link_that_ended_meanwhile_begins_no_visit(console: Console, fake: Fake) -> None:
    identities, visits = console.curator.identities, console.curator.visits
    link(console, "ann", "s-1")
    proof = identities.recognised(Identity(ISSUER, "s-1"))
    visits.end(visits.begin(proof))
    identities.unlink("ann", by="olga")
    with pytest.raises(NotRecognised, match="not linked"):
        visits.begin(proof)


def test_pictures_of_another_site_use_up_no_tries(fresh: Console, fake: Fake) -> None:
    rates = RateLimits(log_ins_of_an_address=2, of_an_address=10)
    app = type(fresh)(fresh.curator, fresh.clock, rates=rates)
    browser = app.anybody()
    picture = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    for path in ("/sign-in/provider", BACK):
        codes = {browser.client.get(path, headers=picture).status_code for _ in range(20)}
        assert codes == {403}
    for _ in range(3):
        browser.see("/sign-in/provider")
    assert browser.sign_in("ann").status_code == 303


def test_a_slow_provider_is_asked_once_and_does_not_hold_up_the_service() -> None:
    """Of many at once all but a few are told at once, and those after a failure for a while."""
    asked, go, now = list[str](), Event(), [1000.0]

    def slow(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        go.wait(10)
        raise httpx.ConnectTimeout("slow")

    def begin(provider: Provider) -> None:
        with suppress(ServiceUnavailable):
            provider.begin(back="https://x/", to="/", again=False)

    settings = ProviderSettings(ISSUER, CLIENT, SECRET)
    with httpx.Client(transport=httpx.MockTransport(slow)) as client:
        provider = Provider(settings, client=client, clock=lambda: now[0])
        waiting = [Thread(target=begin, args=(provider,)) for _ in range(20)]
        for one in waiting:
            one.start()
        while sum(one.is_alive() for one in waiting) > MAX_WAITING:
            waiting[0].join(0.01)
        go.set()
        for one in waiting:
            one.join()
        assert len(asked) == 1
        now[0] += PAUSE_SECONDS - 1
        begin(provider)
        assert len(asked) == 1
        now[0] += 2
        begin(provider)
        assert len(asked) == 2


def test_a_disabled_person_does_not_sign_in(console: Console, fake: Fake) -> None:
    link(console)
    console.curator.people.disable("ann", by="olga")
    assert come(console, fake).status_code == 401
    console.curator.people.enable("ann", by="olga")


def test_an_owner_links_with_the_password_again_and_others_do_not(
    console: Console, fake: Fake
) -> None:
    assert console.by("stan").see("/identities").status_code == 403
    owner = console.by("olga")
    owner.see("/identities")
    refused = owner.send("/identities", person="ann", account=MAIL)
    assert refused.status_code == 401
    assert "onfirm your password" in refused.text
    assert MAIL in refused.text, "what was typed is kept"
    owner = console.by("olga", elevated=True)
    for wrong in ("", "a b", "x@", "x" * 256):
        assert owner.send("/identities", person="ann", account=wrong).status_code == 422
    assert owner.send("/identities", person="nobody", account=MAIL).status_code == 404
    assert owner.send("/identities", person="ann", account=MAIL).status_code == 303
    assert owner.send("/identities", person="ben", account=MAIL).status_code == 422, "taken"
    assert MAIL.casefold() in owner.see("/identities").text
    assert come(console, fake).status_code == 303
    assert owner.send("/identities/end", person="ann").status_code == 303
    assert come(console, fake).status_code == 401


def test_a_link_is_an_entry_ends_tokens_and_makes_the_account_wait(
    console: Console, fake: Fake
) -> None:
    """An owner who links another owner's account to their own cannot raise budgets with it now."""
    visiting = console.by("oskar")
    before = console.curator.people.person("oskar").handed
    link(console, "oskar", "s-1")
    person = console.curator.people.person("oskar")
    assert person.handed > before
    assert person.handed_by == "olga"
    assert visiting.see("/account").status_code == 303, "the visit is over"
    entry = console.curator.ledger.newest(limit=1)[0]
    assert (entry.body["what"], entry.body["by"]) == ("sign-in linked", ["olga"])
    assert "s-1" not in str(entry.body)


def test_a_one_time_password_is_over_once_an_account_is_linked(
    console: Console, fake: Fake
) -> None:
    once = console.curator.people.add("eve", console.curator.people.person("ann").roles, by="olga")
    link(console, "eve")
    assert console.anybody().sign_in("eve", once).status_code == 401
    assert come(console, fake).headers["location"] == "/"
    link(console, "ann", "ann@example.org.uk")
    assert console.anybody().sign_in("ann").status_code == 303, "a password of one's own stays"


def test_the_file_is_read_and_what_is_wrong_with_it_is_said(tmp_path: Any) -> None:
    path = tmp_path / "sign-in.toml"
    assert read_provider(path) is None
    (tmp_path / "secret").write_text("hush\n")
    good = f'issuer = "{ISSUER}"\nclient = "c"\nsecret_file = "secret"\n'
    path.write_text(good)
    found = read_provider(path)
    assert found == ProviderSettings(ISSUER, "c", "hush")
    assert "hush" not in repr(found)
    for bad in (
        "issuer", good + "more = 1", good.replace("https", "http"), good.replace('"c"', "7"),
        good.replace('"secret"', '"none"'), "",
    ):  # fmt: skip
        path.write_text(bad)
        with pytest.raises(ParameterError):
            read_provider(path)


def test_the_file_in_the_documentation_is_accepted(tmp_path: Any) -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "sign-in.md").read_text("utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.S)
    (tmp_path / "sign-in.toml").write_text(example)
    (tmp_path / "provider.secret").write_text("hush")
    found = read_provider(tmp_path / "sign-in.toml")
    assert found is not None
    assert found.name == "St. Mary's"
    assert BACK in page
