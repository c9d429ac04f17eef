"""How far long work is, for the owner of the file: on a terminal's standard error only."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def bar(words: str = "Drawing random ranks") -> Generator[Callable[[float], None] | None]:
    """What to call with fractions of the work done; None where nobody would see it.

    It appears with the first call and is gone at the end.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(words, total=1.0, visible=False)
        yield lambda done: shown.update(task, completed=done, visible=done < 1)


@contextmanager
def waiting(words: str) -> Generator[None]:
    """Says what is waited for, until the end of the block."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{words} …"):
        yield
