"""What the service does by itself, every hour: overdue rows and unused uploads are removed.

Rows that should be there and are not are told to whoever reads the log, by the data set's name.

Nothing is answered about them from the first moment of the next day; this removes the rows.
"""

import asyncio
from typing import Any

from starlette.concurrency import run_in_threadpool

from letalone.curator.curator import Curator
from letalone.curator.http.logs import where_it_failed

EVERY_SECONDS = 3600.0


async def keep_house(curator: Curator, log: Any, every_seconds: float = EVERY_SECONDS) -> None:
    """Goes on until it is cancelled; a failure is logged without words and tried again."""
    while True:
        try:
            retired = await run_in_threadpool(curator.data_sets.retire_overdue)
            await run_in_threadpool(curator.sweep)
            if retired:
                log.info("retired", data_sets=len(retired))
            if missing := await run_in_threadpool(curator.without_rows):
                log.error("rows are missing: restore the folder data", data_sets=missing)
        except Exception as error:  # such as another worker that was faster
            log.warning("retirement failed", **where_it_failed(error))
        await asyncio.sleep(every_seconds)
