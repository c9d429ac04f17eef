"""A command that is offered to be copied: on a line of its own, quoted for the shell."""

import shlex
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, cast, get_type_hints

from letalone.cli.screen import number_text, program_name


def to_type(*words: str) -> str:
    """A command on a line of its own, quoted for the shell."""
    return f"\n  {' '.join(shell_word(word) for word in (program_name(), *words))}"


def shell_word(word: str) -> str:
    """In double quotes where the word has single ones and nothing that these would change."""
    readable = "'" in word and not set(word) & set('"$`\\!')
    return f'"{word}"' if readable else shlex.quote(word)


def to_type_again(command: str, options: Any, **changes: Any) -> str:
    """The command with some of its options changed, on a line of its own."""
    changed = replace(options, **changes)
    given = (word for flag, value in given_options(changed) for word in _option(flag, value))
    return to_type(command, *given)


def given_options(options: Any) -> Iterator[tuple[str, Any]]:
    """What is not as it is by default, by the name of its option; an argument has none."""
    hints = get_type_hints(cast("type", options.__class__), include_extras=True)
    for field in fields(options):
        value, (declared,) = getattr(options, field.name), hints[field.name].__metadata__
        if type(declared).__name__ == "ArgumentInfo":
            yield "", value
        elif value != field.default:
            yield _flag(declared, field.name), value


def _flag(declared: Any, name: str) -> str:
    """What the option is called: in `Annotated`, typer keeps the first of its names as default."""
    names = [word for word in (declared.default, *declared.param_decls) if isinstance(word, str)]
    return names[0] if names else f"--{name.replace('_', '-')}"


def _option(flag: str, value: Any) -> list[str]:
    if not flag:
        return [str(value)]
    if value is True:
        return [flag]
    if isinstance(value, tuple):
        return [word for each in cast("tuple[str, ...]", value) for word in (flag, each)]
    return [flag, number_text(value) if isinstance(value, float) else str(value)]
