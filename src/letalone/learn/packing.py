"""First centres of clusters: spread over the cube from −1 to 1, without looking at data.

Balls of one radius are put at random into the cube without touching each other; the radius
shrinks until all fit. The random numbers are public.

Su, Cao, Li, Bertino, Jin: Differentially private k-means clustering (2016), section 3.
"""

import numpy as np

from letalone.learn.wholes import Floats

SHRINK = 0.95
TRIES = 50  # places for one ball before the radius is given up


def packed(number: int, width: int, *, seed: int) -> Floats:
    """So many centres, each as far from the others and from the walls as was found."""
    generator = np.random.default_rng(seed)
    radius = 1.0
    while True:
        centres = _tried(number, width, radius, generator)
        if centres is not None:
            return centres
        radius *= SHRINK


def _tried(number: int, width: int, radius: float, generator: np.random.Generator) -> Floats | None:
    centres = np.empty((0, width))
    for _ in range(number):
        places = generator.uniform(-1 + radius, 1 - radius, (TRIES, width))
        apart = np.linalg.norm(places[:, np.newaxis] - centres, axis=2).min(axis=1, initial=np.inf)
        free = np.flatnonzero(apart >= 2 * radius)
        if not free.size:
            return None
        centres = np.vstack([centres, places[free[0]]])
    return centres
