"""A provider of OpenID Connect: where people are sent to sign in, and what it says of them.

The code flow with PKCE, `state` and `nonce`. An answer counts if the ID token is signed by a key
of the provider with an algorithm that needs its private half, is meant for this service, has not
ended, and holds the nonce of this journey; where somebody was asked to sign in again, if that
was after the journey began.

  Tested:   tests/curator/console/test_oidc.py, against a provider in the same process
  Assumed:  TLS; the provider's keys are its own

OpenID Connect Core 1.0; RFC 7636 (PKCE); RFC 9207 (the issuer in the answer).
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hmac import compare_digest
from math import inf
from secrets import token_urlsafe
from threading import BoundedSemaphore, Lock
from time import time
from typing import Any, cast
from urllib.parse import quote_plus, urlencode

import httpx
from authlib.oauth2.rfc7636 import (
    create_s256_code_challenge,  # pyright: ignore[reportUnknownVariableType]
)
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from letalone.curator.people.identities import Identity
from letalone.curator.people.provider_settings import ProviderSettings, check_address
from letalone.curator.storage.refusals import NotRecognised
from letalone.errors import ParameterError, ServiceUnavailable

Json = dict[str, Any]
# Those of a public key: with the others, whoever knows this service's secret could sign.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
DISCOVERY = "/.well-known/openid-configuration"
BASIC, POST = "client_secret_basic", "client_secret_post"
SECRET_BYTES = 32
LEEWAY = 60  # seconds by which clocks may differ
MAX_JOURNEY_SECONDS = 600  # seconds from the journey's begin to its end
KEEP_SECONDS, KEEP_KEYS_SECONDS = 3600, 60
TIMEOUT = 3.0
MAX_WAITING = 8  # who wait for the provider at once: others of this service do not wait for it
PAUSE_SECONDS = 10  # seconds for which a provider that did not answer is not asked again
EARLIER = 5  # seconds by which the provider's clock may be behind when somebody signs in again
OVER = "The way to your organisation and back took too long, or was not begun here. Begin again."
NOT_TRUSTED = "What your organisation sent cannot be trusted, so nobody was signed in. Begin again."
DENIED = "Your organisation did not sign you in. Begin again, or ask it why."
NOT_NOW = "Your organisation's sign-in cannot be reached now. Try again later."


@dataclass(frozen=True, slots=True)
class Journey:
    """What is remembered of somebody who was sent to the provider."""

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    began: int
    to: str
    again: bool


class Provider:
    """One provider; what it says of itself is read when it is needed, and kept for a while."""

    def __init__(
        self,
        settings: ProviderSettings,
        *,
        client: httpx.Client | None = None,
        clock: Callable[[], float] = time,
    ) -> None:
        self._settings, self._clock = settings, clock
        self._turn, self._places, self._failed = Lock(), BoundedSemaphore(MAX_WAITING), -inf
        self._client = client or httpx.Client(timeout=TIMEOUT, follow_redirects=False)
        self._known: dict[str, tuple[float, Any]] = {}  # by what it is: since when, and what
        self.name, self.issuer = settings.name, settings.issuer

    def begin(self, *, back: str, to: str, again: bool) -> tuple[str, Journey]:
        """Where to send somebody, and what to remember of it; `again`: though signed in there."""
        made = [token_urlsafe(SECRET_BYTES) for _ in range(3)]
        journey = Journey(*made, began=int(self._clock()), to=to, again=again)
        parameters: dict[str, str] = {
            "response_type": "code",
            "client_id": self._settings.client,
            "redirect_uri": back,
            "scope": "openid email",
            "state": journey.state,
            "nonce": journey.nonce,
            "code_challenge": str(create_s256_code_challenge(journey.verifier)),  # pyright: ignore
            "code_challenge_method": "S256",
        }
        if again:
            parameters |= {"prompt": "login", "max_age": "0"}
        at = self._address("authorization_endpoint")
        return f"{at}{'&' if '?' in at else '?'}{urlencode(parameters)}", journey

    def arrived(self, journey: Journey | None, answer: Json, *, back: str) -> Identity:
        """Who came back; NotRecognised."""
        if journey is None or not 0 <= self._clock() - journey.began <= MAX_JOURNEY_SECONDS:
            raise NotRecognised(OVER)
        if not compare_digest(str(answer.get("state", "")).encode(), journey.state.encode()):
            raise NotRecognised(OVER)
        if answer.get("iss", self.issuer) != self.issuer:
            raise NotRecognised(NOT_TRUSTED)
        if not answer.get("code"):
            raise NotRecognised(DENIED)
        claims = self._claims(self._token(str(answer["code"]), journey, back=back), journey)
        email = claims.get("email")
        return Identity(
            self.issuer,
            str(claims["sub"]),
            email=email if isinstance(email, str) else None,
            verified=claims.get("email_verified") is True,
        )

    def _token(self, code: str, journey: Journey, *, back: str) -> str:
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "code_verifier": journey.verifier,
        }
        at = self._address("token_endpoint")
        signed = self._signed(sent)
        with self._waiting():
            token = self._json("POST", at, **signed).get("id_token")
        if not isinstance(token, str):
            raise NotRecognised(NOT_TRUSTED)
        return token

    def _signed(self, sent: dict[str, str]) -> Json:
        """With this service's secret: in the header, or in the body where only that is taken."""
        client, secret = self._settings.client, self._settings.secret
        methods = self._self_said().get("token_endpoint_auth_methods_supported")
        if isinstance(methods, list) and BASIC not in methods and POST in methods:
            return {"data": {**sent, "client_id": client, "client_secret": secret}}
        return {"data": sent, "auth": httpx.BasicAuth(quote_plus(client), quote_plus(secret))}

    def _claims(self, token: str, journey: Journey) -> Json:
        now = int(self._clock())
        try:
            token_claims = self._decoded(token)
            claims = CodeIDToken(
                token_claims.claims,
                token_claims.header,
                options={
                    "iss": {"essential": True, "value": self.issuer},
                    "aud": {"essential": True, "value": self._settings.client},
                    "sub": {"essential": True},
                },
                params={"nonce": journey.nonce, "client_id": self._settings.client},
            )
            claims.validate(now, LEEWAY)  # pyright: ignore[reportUnknownMemberType]
        except (JoseError, ValueError, TypeError):
            raise NotRecognised(NOT_TRUSTED) from None
        if not isinstance(claims["sub"], str) or not 1 <= len(claims["sub"]) <= 255:
            raise NotRecognised(NOT_TRUSTED)
        if journey.again and not _is_since(claims.get("auth_time"), journey.began):
            raise NotRecognised(NOT_TRUSTED)
        return cast("Json", claims)

    def _decoded(self, token: str) -> jwt.Token:
        """With the keys that are known; with new ones where the provider may have changed them."""
        try:
            return jwt.decode(token, self._key_set(KEEP_SECONDS), algorithms=ALGORITHMS)
        except (JoseError, ValueError):
            return jwt.decode(token, self._key_set(KEEP_KEYS_SECONDS), algorithms=ALGORITHMS)

    def _key_set(self, keep: float) -> KeySet:
        at = self._address("jwks_uri")
        return self._cached(
            "keys", keep, lambda: KeySet.import_key_set(cast("Any", self._json("GET", at)))
        )

    def _address(self, name: str) -> str:
        """An address that the provider says is its own."""
        try:
            return check_address(str(self._self_said().get(name)), what=name)
        except ParameterError:
            raise ServiceUnavailable(NOT_NOW) from None

    def _self_said(self) -> Json:
        return self._cached("about", KEEP_SECONDS, self._discovered)

    def _discovered(self) -> Json:
        document = self._json("GET", self.issuer.rstrip("/") + DISCOVERY)
        if document.get("issuer") != self.issuer:
            raise ServiceUnavailable(NOT_NOW)
        return document

    def _cached(self, what: str, keep: float, read: Callable[[], Any]) -> Any:
        """What the provider said, at most so many seconds ago."""

        def is_fresh() -> bool:
            since, _ = self._known.get(what, (-inf, None))
            return 0 <= self._clock() - since <= keep

        if not is_fresh():
            with self._waiting(), self._turn:
                if not is_fresh():
                    self._known[what] = self._clock(), read()
        return self._known[what][1]

    @contextmanager
    def _waiting(self) -> Generator[None]:
        """A place among those who wait; refused at once where all are taken."""
        if not self._places.acquire(blocking=False):
            raise ServiceUnavailable(NOT_NOW)
        try:
            yield
        finally:
            self._places.release()

    def _json(self, method: str, at: str, **more: Any) -> Json:
        if 0 <= self._clock() - self._failed < PAUSE_SECONDS:
            raise ServiceUnavailable(NOT_NOW)
        document, refused = None, False
        try:
            answer = self._client.request(method, at, **more)
            refused = answer.is_client_error
            document = answer.json() if answer.is_success else None
        except httpx.HTTPError:
            self._failed = self._clock()
        except ValueError:
            pass  # no JSON: said below
        if refused:
            raise NotRecognised(NOT_TRUSTED)
        if not isinstance(document, dict):
            raise ServiceUnavailable(NOT_NOW)
        return cast("Json", document)


def _is_since(signed_in: object, began: int) -> bool:
    """Whether somebody signed in after the journey began; not long before, at least."""
    if not isinstance(signed_in, int | float) or isinstance(signed_in, bool):
        return False
    return signed_in >= began - EARLIER
