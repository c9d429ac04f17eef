"""A service that holds data sets for others to ask, as an analyst sees it.

    client = la.Client("https://curator.example.org")  # its token is in LETALONE_TOKEN
    visits = client.open("visits", purpose="research")
    visits.agg(n=la.count()).release(epsilon=0.1)

The privacy is the service's: what comes here is released already. The client adds that an answer is
shown only if its signature holds, and answers the question that was asked.

  Tested:   tests/client
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from getpass import getpass
from os import PathLike
from types import TracebackType
from typing import Any, NoReturn, Self, cast

from letalone.answers import views
from letalone.client.address import read_address, read_secret
from letalone.client.connection import ServiceConnection
from letalone.client.listing import Listing, PastRelease, RemoteDataSet, read_all, read_one
from letalone.client.remote_pricing import read_signed
from letalone.client.remote_table import RemoteSession, RemoteTable, no_grant
from letalone.errors import LedgerDamaged, LetaloneError, NotAllowed, ParameterError
from letalone.errors.spelling import did_you_mean
from letalone.exact.typed import Number, refusal
from letalone.ledger.chain.receipts import verify_receipt
from letalone.ledger.chain.signing_key import fingerprint, is_key
from letalone.privacy import Budget
from letalone.session.release import Release
from letalone.wire.records import AccessRequest, Grant

Json = dict[str, Any]
TIMEOUT_SECONDS = 60
ID = re.compile(r"[0-9A-Za-z_-]{1,100}")


class Client:
    """A connection to a curator's service; a context manager.

    The token is given, or read from `token_file` (which nobody else may read), or from the
    environment, LETALONE_TOKEN. `public_key` is the service's key or its fingerprint, as its owner
    gives it: then only answers that this key has signed are shown.
    """

    __slots__ = ("_link", "_public_key")

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        token_file: str | PathLike[str] | None = None,
        public_key: str | None = None,
        timeout_seconds: Number = TIMEOUT_SECONDS,
        allow_insecure: bool = False,
        transport: object = None,
    ) -> None:
        address = read_address(url, allow_insecure=allow_insecure)
        secret = read_secret(token, token_file=token_file)
        self._link = ServiceConnection(
            address, secret, timeout_seconds=timeout_seconds, transport=transport
        )
        self._public_key = public_key

    @classmethod
    def log_in(
        cls,
        url: str,
        name: str,
        password: str | None = None,
        *,
        new_password: str | None = None,
        days: int | None = None,
        allow_insecure: bool = False,
        transport: Any = None,
        **more: Any,
    ) -> Self:
        """A client with a fresh token for a name and a password, which is asked for if not given.

        `new_password` replaces a one-time password first. The other arguments are the client's.
        """
        word = getpass(f"Password of {name}: ") if password is None else password
        address = read_address(url, allow_insecure=allow_insecure)
        link = ServiceConnection(
            address, None, timeout_seconds=TIMEOUT_SECONDS, transport=transport
        )
        try:
            secret = _request_token(link, name, word, new=new_password, days=days)
        finally:
            if transport is None:  # one that was given is used further
                link.close()
        return cls(url, secret, allow_insecure=allow_insecure, transport=transport, **more)

    @property
    def url(self) -> str:
        """Where the service is."""
        return str(self._link.address)

    @property
    def me(self) -> str:
        """Whose token this is."""
        return str(cast("Json", self._link.get("/me").get("person"))["name"])

    @property
    def public_key(self) -> str:
        """The key that the service says it signs with: compare it with what its owner gives."""
        return str(self._link.get("/ledger/key").get("public_key"))

    def data_sets(self) -> Listing[RemoteDataSet]:
        """What there is, and what is public about it."""
        return read_all(RemoteDataSet, self._link.get("/data-sets").get("data_sets"))

    def grants(self) -> Listing[Grant]:
        """What one may ask, and what is left of it."""
        return read_all(Grant, self._link.get("/budgets").get("grants"))

    def open(self, name: str, *, purpose: str | None = None) -> RemoteSession:
        """A data set, to be asked for a purpose that was granted; left out, it is the only one."""
        data_sets = {data_set.name: data_set for data_set in self.data_sets()}
        if name not in data_sets:
            names = ", ".join(data_sets) or "none"
            raise ParameterError(
                f"There is no data set {name!r} at {self.url}. There are: {names}."
                + did_you_mean(str(name), data_sets)
            )
        opened = data_sets[name]
        if opened.retired:
            raise NotAllowed(f"{name!r} was retired: nothing is answered any more.")
        chosen = self._purpose(name, purpose)
        self._check_key()
        table = RemoteTable(self._link, opened.schema, purpose=chosen, public_key=self._public_key)
        table.look_up_limit()
        return RemoteSession(table)

    def request_access(
        self,
        data_set: str,
        *,
        purpose: str,
        columns: Sequence[str],
        budget: Budget,
        why: str,
        expires: datetime | None = None,
    ) -> AccessRequest:
        """Asks for a grant; a steward decides. `client.requests()` shows how it stands."""
        body: Json = {
            "data_set": data_set,
            "purpose": purpose,
            "columns": _read_columns(columns),
            "budget": {"epsilon": str(budget.epsilon), "delta": str(budget.delta)},
            "why": why,
        }
        if expires is not None:
            body["expires"] = _in_utc(expires)
        return read_one(AccessRequest, self._link.post("/requests", body))

    def requests(self) -> Listing[AccessRequest]:
        """The own requests, the newest first; all of them for stewards, owners and auditors."""
        return read_all(AccessRequest, self._link.get("/requests").get("requests"))

    def history(self, data_set: str | None = None, *, most: int = 100) -> Listing[PastRelease]:
        """The own answers, the newest first, each read from its signed receipt."""
        wanted = {} if data_set is None else {"data_set": data_set}
        answer = self._link.get("/questions/history", limit=most, receipts="true", **wanted)
        return read_all(PastRelease, [self._checked(past) for past in answer.get("releases", ())])

    def receipt(self, answer: PastRelease | Release | str) -> Json:
        """The signed receipt of an own answer: what `letalone verify` and `Release.load` check."""
        if isinstance(answer, Release) and answer.standing.receipt is not None:
            return answer.standing.receipt
        name = answer.id if isinstance(answer, PastRelease) else answer
        if not isinstance(name, str) or not ID.fullmatch(name):
            raise ParameterError(
                "This is not an answer of the history. Give one of client.history()."
            )
        receipt = self._link.get(f"/questions/history/{name}/receipt")
        verify_receipt(receipt, public_key=self._public_key)
        return receipt

    def close(self) -> None:
        """Closes the connections; what was spent stays spent."""
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("A client is not pickled: call la.Client where it is needed.")

    def __repr__(self) -> str:
        return f"Client({self.url!r}, token hidden)"

    def _repr_html_(self) -> str:
        try:
            lines = [repr(self), *(str(grant) for grant in self.grants())]
        except LetaloneError as error:
            lines = [repr(self), str(error)]
        return views.lines_as_html("\n".join(lines))

    def _checked(self, said: Json) -> Json:
        """What was said of an answer, with the answer and its question as they were signed."""
        release = read_signed(said, public_key=self._public_key)
        signed = {"data_set": release.asked.data_set, "question": release.asked.question}
        return {**said, **signed, "release": release}

    def _check_key(self) -> None:
        """Before anything is asked, and so charged: that the service signs with the key given."""
        if self._public_key is None:
            return
        key = self.public_key
        if not is_key(key, self._public_key):
            raise LedgerDamaged(
                f"{self.url} signs with another key than the one given: with"
                f" {_fingerprint_of(key)}. Nothing was asked. Compare the key with what the owner"
                " of the data gives."
            )

    def _purpose(self, name: str, purpose: str | None) -> str:
        granted = [grant.purpose for grant in self.grants() if grant.data_set == name]
        if not granted:
            raise no_grant(name, purpose)
        if purpose is None and len(granted) == 1:
            return granted[0]
        if purpose in granted:
            return purpose
        which = "Several purposes are granted" if purpose is None else f"{purpose!r} is not granted"
        raise NotAllowed(
            f"{which} for {name!r}. Your purposes are: {', '.join(granted)}. Give one of them:"
            f" client.open({name!r}, purpose={granted[0]!r})."
        )


def _fingerprint_of(key: str) -> str:
    try:
        return fingerprint(key)
    except LetaloneError:
        return "what is not a key"


def _request_token(
    link: ServiceConnection, name: str, password: str, *, new: str | None, days: int | None
) -> str:
    if new is not None:
        link.post("/passwords", {"name": name, "password": password, "new": new})
    body: Json = {"name": name, "password": new or password, "label": "la.Client"}
    return str(link.post("/tokens", body if days is None else {**body, "days": days})["secret"])


def _read_columns(columns: object) -> list[str]:
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise refusal("columns", columns, "a list of columns")
    return list(cast("Sequence[str]", columns))


def _in_utc(moment: datetime) -> str:
    if moment.tzinfo is None:
        raise refusal("expires", moment, "a datetime with its time zone")
    return moment.astimezone(UTC).isoformat(timespec="seconds")
