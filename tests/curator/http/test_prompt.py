"""An answer of a worker leaves at once: a shared socket would hold it back for 40 ms."""

import asyncio
import socket

from uvicorn import Config
from uvicorn.server import ServerState

from letalone.curator.http.serving import PROTOCOL


async def _no_delay() -> int:
    """What is set on a connection that came in over a socket like that of the workers."""

    async def app(scope, receive, send):
        raise AssertionError("nothing is asked")

    config = Config(app, http=PROTOCOL, lifespan="off", log_config=None)
    config.load()
    state, seen = ServerState(), []
    loop = asyncio.get_running_loop()

    def made():
        seen.append(config.http_protocol_class(config=config, server_state=state, app_state={}))
        return seen[-1]

    with socket.socket(socket.AF_INET) as bound:  # as uvicorn's parent process binds it
        bound.bind(("127.0.0.1", 0))
        server = await loop.create_server(made, sock=bound)
        _, writer = await asyncio.open_connection(*bound.getsockname())
        while not seen or seen[0].transport is None:
            await asyncio.sleep(0.01)
        found = seen[0].transport.get_extra_info("socket")
        value = found.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writer.close()
        seen[0].transport.abort()
        server.close()
        await asyncio.sleep(0.05)
        return value


def test_packets_of_an_answer_do_not_wait_for_one_another() -> None:
    assert asyncio.run(_no_delay()) != 0
