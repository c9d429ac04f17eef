"""How long a server of PostgreSQL is waited for, in seconds; `connecting` keeps to it.

A host without power, a firewall that forgot, a server that is stopped: they say nothing, and TCP
alone waits for minutes or for ever. All together a request is told within 15 seconds that a store
is away: a look, a place in the pool, a look at a kept connection, another one.
"""

CONNECT_SECONDS = 5
BELIEVED_SECONDS = 3.0  # for so long nobody else tries a server to which connecting was in vain
LOOK_SECONDS = 2.0  # at what was written, and whether a kept connection still answers
POOL_SECONDS = 5
TRUSTED_SECONDS = 0.2  # a connection that was used so lately is used again without a look
LOCK_SECONDS = 8  # the server ends the wait
STATEMENT_SECONDS = 9.0  # of silence, not of length; longer than what the server itself ends
IDLE_SECONDS = 30  # the server ends a transaction that was left alone, and lets go of its locks
USUAL: dict[str, int] = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,  # milliseconds for what was sent and not acknowledged
}
IN_TURN = (  # before a lock that others may hold, sent together with it
    "SET LOCAL synchronous_commit = on",
    f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'",
    f"SET LOCAL idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'",
)
