"""Connections on which an answer does not wait for the acknowledgement of its own head.

Workers share a socket that their parent has bound, and of such a socket asyncio does not say
that small packets are to be sent at once: each answer would wait 40 ms for its reader.

  Tested:   tests/curator/http/test_prompt.py
"""

from asyncio import BaseTransport
from socket import IPPROTO_TCP, TCP_NODELAY
from typing import Any, cast

from uvicorn.protocols.http.auto import AutoHTTPProtocol

Usual = cast("Any", AutoHTTPProtocol)


class PromptProtocol(Usual):
    """The web server's usual protocol, with packets that are sent at once."""

    def connection_made(self, transport: BaseTransport) -> None:
        """Says so of each connection that came over the network."""
        found = transport.get_extra_info("socket")
        if found is not None and transport.get_extra_info("peername"):
            found.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        super().connection_made(transport)  # pyright: ignore[reportUnknownMemberType]
