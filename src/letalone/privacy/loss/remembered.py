"""Curves that were computed are remembered: an epsilon and its delta come from the same ones.

Of each composition, one order and one side, the newest curves are kept, the one that gave the last
epsilon among them; of older compositions as many as there is room for.

  Proven:   nothing depends on it but speed; every curve is certified
  Tested:   tests/laws/test_curves.py, tests/privacy/loss
"""

from collections import OrderedDict
from threading import RLock

from letalone.privacy.loss.tilted import Curve

MOST_CURVES = 8  # of one composition
MOST_POINTS = 3 << 20  # of all curves: 24 bytes each
FEWEST_KNOWN, MOST_KNOWN = 2, 16  # compositions

Key = tuple[object, bool]  # the releases, and whether from above


class Memory:
    """Curves by what they are the curves of."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, list[Curve]] = OrderedDict()
        self._lock = RLock()  # threads of a service share it

    def curves(self, key: Key) -> list[Curve]:
        """Those that are known, what was used last first."""
        with self._lock:
            found = self._known.setdefault(key, [])
            self._known.move_to_end(key)
            return list(found)

    def add(self, key: Key, curve: Curve) -> list[Curve]:
        """All that are known now."""
        with self._lock:
            known = [curve, *self.curves(key)][:MOST_CURVES]
            while len(known) > 2 and _points(known) > MOST_POINTS // 4:
                known.pop()
            self._known[key] = known
            while len(self._known) > FEWEST_KNOWN and self._is_full():
                self._known.popitem(last=False)
            return list(known)

    def use(self, key: Key, curve: Curve) -> None:
        """A known curve that shall be forgotten last."""
        with self._lock:
            self._known[key] = sorted(self.curves(key), key=lambda one: one is not curve)

    def _is_full(self) -> bool:
        points = sum(_points(curves) for curves in self._known.values())
        return points > MOST_POINTS or len(self._known) > MOST_KNOWN


def _points(curves: list[Curve]) -> int:
    return sum(curve.losses.size for curve in curves)
