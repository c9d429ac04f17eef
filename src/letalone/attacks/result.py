"""What the result of every attack has, so that one report and one page can show any of them."""

from typing import Any, Protocol

Line = tuple[str, str, str]  # what was measured; published today; through letalone


class AttackResult(Protocol):
    """The result of an attack: numbers, words, a picture."""

    @property
    def epsilon(self) -> float:
        """The ε of the private release beside it."""
        ...

    @property
    def words(self) -> str:
        """A paragraph for a privacy officer."""
        ...

    def lines(self) -> list[Line]:
        """The numbers to compare: at most a dozen."""
        ...

    def to_json(self) -> dict[str, object]:
        """The numbers, for programs."""
        ...

    def plot(self, path: object = None) -> Any:
        """A matplotlib figure, written to a file where a path is given."""
        ...
