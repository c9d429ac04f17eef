"""The address of a table on a PostgreSQL server.

    postgresql://user@host:5432/database/table
    postgresql://host/database/schema.table?sslmode=verify-full

What follows the database is the table; without a schema it is in `public`. A dot, a slash or
another sign in a name is written as in addresses (%2E, %2F). The rest is libpq's. A password is
never in an address: PGPASSWORD, ~/.pgpass or a service file (?service=…) have it.

  Tested:   tests/engines/conformance/test_server.py
"""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote

from letalone.errors import ParameterError

PREFIXES = ("postgresql://", "postgres://")
PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a table is; `server` is what libpq is told, without the table."""

    server: str
    database: str
    table: tuple[str, str] | None

    @property
    def words(self) -> str:
        """The database and the table, for people."""
        return self.database if self.table is None else f"{self.database}/{called(*self.table)}"


def is_address(source: object) -> bool:
    """Whether this is the address of a PostgreSQL server."""
    return isinstance(source, str) and source.startswith(PREFIXES)


def read_address(source: str, table: str | None = None) -> Address:
    """The parts of an address; `table` may name the table instead."""
    rest, _, options = source.partition("://")[2].partition("?")
    who, _, path = rest.partition("/")
    database, _, named = path.partition("/")
    _check_address(who, options, database, named)
    if named and table is not None:
        raise ParameterError("The address names a table, and so does table=. Leave one out.")
    parts = table.split(".", 1) if table else [unquote(one) for one in named.split(".", 1)]
    found = (PUBLIC, parts[0]) if len(parts) == 1 else (parts[0], parts[1])
    server = f"postgresql://{who}/{database}" + (f"?{options}" if options else "")
    return Address(server, unquote(database), found if found[1] else None)


def with_table(source: str, table: str) -> str:
    """The same address with another table, which is called "schema.name" or "name"."""
    address, mark, options = source.partition("?")
    prefix, _, rest = address.partition("://")
    who, _, path = rest.partition("/")
    parts = [quote(part, safe="").replace(".", "%2E") for part in table.split(".", 1)]
    return f"{prefix}://{who}/{path.partition('/')[0]}/{'.'.join(parts)}{mark}{options}"


def stand_in(source: str) -> Path:
    """A path in the working folder beside which the schema files and the ledger of a database lie:
    DATABASE.TABLE.letalone.toml and DATABASE.letalone.db.
    """
    return Path(f"{quote(read_address(source).database, safe=' ')}.postgresql")


def _check_address(who: str, options: str, database: str, named: str) -> None:
    login = who.rpartition("@")[0]
    secret = [name for name, _ in parse_qsl(options) if name in ("password", "sslpassword")]
    if login.partition(":")[2] or secret:
        raise ParameterError(
            "The address has a password in it, which would be shown and stored with it. Leave it"
            " out: PGPASSWORD, ~/.pgpass or a service file can have it."
        )
    if not database or "/" in named:
        raise ParameterError(
            "The address must name a database and a table:"
            " postgresql://user@host:5432/database/schema.table. A / in a name is written %2F."
        )


def called(schema: str, name: str) -> str:
    """What a table is called, however it was named: a budget belongs to a name."""
    return name if schema == PUBLIC else f"{schema}.{name}"
