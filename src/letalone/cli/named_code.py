"""`module:name` as people type it, for code of their own that is to run here."""

import sys
from ast import literal_eval
from functools import reduce
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

from letalone.errors import LetaloneError, ParameterError

TRACEBACK = "LETALONE_TRACEBACK=1 shows where."


def named(words: str) -> Any:
    """What `module:name` or `file.py:name` stands for; the module runs as it is imported."""
    module, colon, name = words.rpartition(":")
    if not colon or not module or not name:
        raise ParameterError(
            f"The mechanism is {words!r}, but must be written as module:name or file.py:name, such"
            " as mycode:noisy_count."
        )
    found = _imported(module)
    try:
        return reduce(getattr, name.split("."), found)
    except AttributeError:
        raise ParameterError(
            f"{module} has no {name!r}. It has: {', '.join(_offered(found))}."
        ) from None


def literal(option: str, words: str) -> Any:
    """A Python value that was typed: a number, a text, a list of these."""
    try:
        return literal_eval(words)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise ParameterError(
            f"{option} {words!r} is not a value: write a number, a list such as [1, 0, 0], or a"
            " text in quotes."
        ) from None


def _imported(module: str) -> ModuleType:
    try:
        return _from_file(Path(module)) if module.endswith(".py") else _from_here(module)
    except ModuleNotFoundError as error:
        if error.name in (module, module.partition(".")[0]):
            raise ParameterError(f"There is no module {module}, here or installed.") from None
        raise ParameterError(f"{module} needs {error.name}, which is not installed.") from None
    except LetaloneError:
        raise
    except Exception as error:
        raise ParameterError(
            f"{module} could not be imported: {type(error).__name__}. {TRACEBACK}"
        ) from error


def _from_here(module: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return import_module(module)


def _from_file(path: Path) -> ModuleType:
    spec = util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise ParameterError(f"There is no file {path}.")
    module = util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses of the file look it up
    spec.loader.exec_module(module)
    return module


def _offered(module: ModuleType) -> list[str]:
    public = (
        name for name, thing in vars(module).items() if callable(thing) or hasattr(thing, "release")
    )
    return sorted(name for name in public if not name.startswith("_"))[:12] or ["nothing to call"]
