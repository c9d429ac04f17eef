"""Reads the address of a table on a PostgreSQL server.

    postgresql://user@host:5432/database/table
    postgresql://host/database/schema.table?sslmode=verify-full

What follows the database is the table; without a schema it is in `public`. A dot, a slash or
another sign in a name is written as in addresses (%2E, %2F). The rest is libpq's, which lets an
option take the place of what stands before it (?dbname=, ?host=): an address that says two things
is refused. A password is never in an address: PGPASSWORD, ~/.pgpass or a service file (?service=…)
have it.

  Theorem (rule 14 of docs/explanation/soundness.md).  A table has one ledger in a folder and one
  name in it, however its address is written: both are made of the database, the schema and the
  table, and the server is asked whether the database is called so (postgres_connection.py).
  Tested:   tests/engines/conformance/test_addresses.py
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from urllib.parse import quote, unquote

from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.installing import not_installed
from letalone.errors.problem import Problem, Spelled, problem

PREFIXES = ("postgresql://", "postgres://")
PUBLIC = "public"
USUAL_PORT = "5432"
SECRETS = {"password", "sslpassword"}
NAMES = {"dbname": "database"}
PLACE = ("host", "hostaddr", "port")


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """Where a table is; `server` is what libpq is told, without the table.

    given: what libpq makes of that, by its names for options.
    """

    server: str
    database: str
    table: tuple[str, str] | None
    given: Mapping[str, str]

    @property
    def words(self) -> str:
        return self.database if self.table is None else f"{self.database}/{table_name(*self.table)}"


def is_address(source: object) -> bool:
    """Whether this is the address of a PostgreSQL server."""
    return isinstance(source, str) and source.startswith(PREFIXES)


def two_tables_named() -> Problem:
    """What is wrong where an address names a table, and an argument does, too."""
    what, leave = "The address names a table, and so does", "Leave one out."
    spelled = Spelled(f"{what} table=. {leave}", f"{what} --table. {leave}")
    return problem(Code.VALUE_NOT_ALLOWED, words=spelled)


def read_address(source: str, table: str | None = None) -> PostgresAddress:
    """The parts of an address; `table` may name the table instead."""
    rest, _, options = source.partition("://")[2].partition("?")
    who, _, path = rest.partition("/")
    database, _, named = path.partition("/")
    if not database or "/" in named:
        raise ParameterError(
            "The address must name a database and a table:"
            " postgresql://user@host:5432/database/schema.table. A / in a name is written %2F."
        )
    plain = f"postgresql://{who}/{database}"
    server = f"{plain}?{options}" if options else plain
    given = _as_read(server)
    _check_says_one_thing(_as_read(plain), given)
    if named and table is not None:
        raise ParameterError(two_tables_named())
    parts = table.split(".", 1) if table else [unquote(part) for part in named.split(".", 1)]
    place = (PUBLIC, parts[0]) if len(parts) == 1 else (parts[0], parts[1])
    return PostgresAddress(server, given["dbname"], place if place[1] else None, given)


def with_table(source: str, table: str) -> str:
    """The same address with another table, which is called "schema.name" or "name"."""
    address, mark, options = source.partition("?")
    prefix, _, rest = address.partition("://")
    who, _, path = rest.partition("/")
    parts = [quote(part, safe="").replace(".", "%2E") for part in table.split(".", 1)]
    return f"{prefix}://{who}/{path.partition('/')[0]}/{'.'.join(parts)}{mark}{options}"


def stand_in(database: str) -> Path:
    """A path in the working folder beside which the schema files and the ledger of a database lie:
    DATABASE.TABLE.letalone.toml and DATABASE.letalone.db.
    """
    return Path(f"{quote(database, safe=' ')}.postgresql")


def server_of(address: PostgresAddress) -> str:
    """The server, in one spelling. Two of one host (a name and a number, a socket) are two here."""
    known = {**({} if "service" in address.given else _defaults()), **address.given}
    return ",".join([*_hosts(known), *_service(known)])


def identity(address: PostgresAddress) -> str:
    """Which table this is, however its address is written; nothing is connected to."""
    names = [quote(name, safe=" ") for name in (address.database, *(address.table or ()))]
    table = ".".join(name.replace(".", "%2E") for name in names[1:])
    return f"postgresql://{server_of(address)}/{names[0]}/{table}"


def places_of(given: Mapping[str, str]) -> list[str]:
    """All hosts that libpq would try, with their port where it is not the usual one, or a service.

    Empty where it is not clear which: no host, ports that do not go with them, or a service with a
    host or a port beside it, which take the place of its own.
    """
    if "service" in given:
        return [] if given.keys() & set(PLACE) else _service(given)
    return _hosts(given)


def fold_host(host: str) -> str:
    """Names of hosts do not differ by case; folders of sockets and services do."""
    return host if host.startswith(("/", "@", "service=")) else host.lower()


def _hosts(given: Mapping[str, str]) -> list[str]:
    named = given.get("hostaddr", given.get("host"))
    hosts = named.split(",") if named is not None else []
    ports = given.get("port", USUAL_PORT).split(",")
    if len(ports) not in (1, len(hosts)):
        return []
    return [_place(host, port) for host, port in zip(hosts, cycle(ports), strict=False)]


def _place(host: str, port: str) -> str:
    number = port.strip().removeprefix("+").lstrip("0")  # libpq reads 05432 as 5432
    return fold_host(host if number in ("", USUAL_PORT) else f"{host}:{number}")


def _service(given: Mapping[str, str]) -> list[str]:
    return [f"service={given['service']}"] if "service" in given else []


def _defaults() -> dict[str, str]:
    """What libpq takes from the environment where an address does not say it."""
    from psycopg import pq

    values = {option.keyword.decode(): option.val for option in pq.Conninfo.get_defaults()}
    return {name: value.decode() for name in PLACE if (value := values.get(name))}


def _as_read(server: str) -> Mapping[str, str]:
    """What libpq makes of an address. Its own words could repeat a password."""
    try:
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise ParameterError(not_installed("PostgreSQL", "psycopg", "postgres")) from None
    try:
        options = {name: str(value) for name, value in conninfo_to_dict(server).items()}
    except Exception:
        options = {}  # raised below, without a cause
    if not options or "" in options.values():
        raise ParameterError(
            "The address is none that libpq can read. Write postgresql://user@host/database/table,"
            " a blank as %20, and after a ? only options that libpq has, each with a value."
        )
    if options.keys() & SECRETS:
        raise ParameterError(
            "The address has a password in it, which would be shown and stored with it. Leave it"
            " out: PGPASSWORD, ~/.pgpass or a service file can have it."
        )
    return options


def _check_says_one_thing(plain: Mapping[str, str], given: Mapping[str, str]) -> None:
    """A budget belongs to the table that is read: an option must not lead to another one."""
    twice = [NAMES.get(name, name) for name, value in plain.items() if given[name] != value]
    if twice:
        raise ParameterError(
            f"The address says two things about the {' and the '.join(sorted(twice))}: before the ?"
            " and in an option after it. Write it once, before the ?."
        )


def table_name(schema: str, name: str) -> str:
    """What a table is called, however it was named: a budget belongs to a name."""
    return name if schema == PUBLIC else f"{schema}.{name}"
