"""A command that is offered to be copied: on a line of its own, quoted for the shell."""

import shlex

from letalone.cli.screen import program_name


def to_type(*words: str) -> str:
    """A command on a line of its own, quoted for the shell."""
    return f"\n  {' '.join(quoted(word) for word in (program_name(), *words))}"


def quoted(word: str) -> str:
    """In double quotes where the word has single ones and nothing that these would change."""
    readable = "'" in word and not set(word) & set('"$`\\!')
    return f'"{word}"' if readable else shlex.quote(word)
