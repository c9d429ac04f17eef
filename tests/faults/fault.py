"""One fault: a piece of a file, what is written there instead, and the tests that must fail."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "letalone"


@dataclass(frozen=True)
class Fault:
    """`file` is below src/letalone; `tests` are files or node ids, run without LETALONE_ALL."""

    name: str
    file: str
    old: str  # must occur exactly once in the file
    new: str
    tests: tuple[str, ...]

    @property
    def stale(self) -> str:
        """Why it cannot be put in as it is written; empty where it can."""
        path = SOURCE / self.file
        if not path.is_file():
            return f"there is no file {self.file}"
        if (found := path.read_text("utf-8").count(self.old)) != 1:
            return f"the old text occurs {found} times in {self.file}, not once"
        absent = [test for test in self.tests if not _exists(test)]
        return (
            f"there is no test {absent[0]}" if absent else "" if self.tests else "no test is named"
        )

    def put_into(self, source: Path) -> None:
        """Into a copy of src."""
        path = source / "letalone" / self.file
        path.write_text(path.read_text("utf-8").replace(self.old, self.new), "utf-8")


def _exists(test: str) -> bool:
    file, *names = test.split("::")
    if not (ROOT / file).is_file():
        return False
    text = (ROOT / file).read_text("utf-8")
    return all(f" {name.partition('[')[0]}" in text for name in names)
