"""Processor seconds of other processes: a server's, Spark's. Others on the machine disturb these
less than they disturb the clock."""

import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

Job = Callable[[], object]
TICK = os.sysconf("SC_CLK_TCK")
PAUSE = 0.05  # seconds until workers that have ended are counted by their parent


class ServerMeter:
    """Processor seconds of a PostgreSQL connection's process and of the workers that it had.

    Workers are children of the server's first process, which counts those that have ended.
    """

    def __init__(self, backend: int) -> None:
        self._backend = backend

    def read(self) -> float | None:
        """None where the server is on another machine."""
        try:
            own = _fields(self._backend)
            parent = _fields(int(own[1]))
            spent = int(Path(f"/proc/{self._backend}/schedstat").read_text().split()[0]) / 1e9
        except OSError:
            return None
        return spent + (int(parent[13]) + int(parent[14])) / TICK


class TreeMeter:
    """Processor seconds of this process and all below it: Spark's Java machine and its workers.

    Workers come and go, and their parent does not always count them: each is read every second.
    """

    def __init__(self) -> None:
        self._spent: dict[tuple[int, str], int] = {}

    def read(self) -> float:
        parents: dict[int, int] = {}
        found: dict[tuple[int, str], int] = {}
        for place in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                number = int(place.parent.name)
                fields = _fields(number)
                parents[number] = int(fields[1])
                found[number, fields[19]] = int(fields[11]) + int(fields[12])
        mine = os.getpid()
        self._spent |= {
            one: spent for one, spent in found.items() if mine in _above(one[0], parents)
        }
        return sum(self._spent.values()) / TICK


def taken(job: Job, read: Callable[[], float | None]) -> tuple[float, float]:
    """Seconds by the clock, and processor seconds; those of the clock where nobody can tell."""
    before, start = read(), time.perf_counter()
    job()
    seconds = time.perf_counter() - start
    time.sleep(PAUSE)
    after = read()
    return seconds, seconds if before is None or after is None else after - before


def side_by_side(
    ours: tuple[Job, Callable[[], float | None]],
    theirs: tuple[Job, Callable[[], float | None]],
    rounds: int,
    warm: int = 1,
) -> dict[str, float]:
    """The first of ours, then medians; they take turns, so that both meet the same disturbances.

    warm: how many rounds are not counted.
    """
    first = taken(*ours)
    taken(*theirs)
    for _ in range(warm - 1):
        taken(*ours), taken(*theirs)
    pairs = [(taken(*ours), taken(*theirs)) for _ in range(rounds)]
    found: dict[str, float] = {"first_seconds": first[0], "first_cpu_seconds": first[1]}
    for unit, place in (("seconds", 0), ("cpu_seconds", 1)):
        mine, plain = (statistics.median(pair[side][place] for pair in pairs) for side in (0, 1))
        found |= {unit: mine, f"plain_{unit}": plain}
    found["ratio"] = found["cpu_seconds"] / found["plain_cpu_seconds"]
    found["wall_ratio"] = found["seconds"] / found["plain_seconds"]
    return found


def show_rows(exact: Mapping[str, Mapping[str, float]], asked: Mapping[str, float]) -> None:
    head = ("first", "ours", "plain", "ratio", "asked", "wall")
    print(f"\n{'exact part, processor seconds':36}" + "".join(f"{word:>9}" for word in head))
    for name, row in exact.items():
        spent = [row[key] for key in ("first_cpu_seconds", "cpu_seconds", "plain_cpu_seconds")]
        goal = f"≤ {asked[name]}" if name in asked else ""
        ratio, wall = f"{row['ratio']:9.2f}", f"{row['wall_ratio']:9.2f}"
        print(f"{name:36}{''.join(f'{one:9.3f}' for one in spent)}{ratio}{goal:>9}{wall}")


def _fields(number: int) -> list[str]:
    return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()


def _above(number: int, parents: Mapping[int, int]) -> Iterator[int]:
    """A process and those that started it."""
    while number in parents:
        yield number
        number = parents[number]
