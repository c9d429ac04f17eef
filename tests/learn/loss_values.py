"""What each loss is, by its formula: the library computes with its derivatives alone."""

import numpy as np

from letalone.learn.convex.losses import Margin, PseudoHuber, Softmax
from letalone.learn.noisy_sums.wholes import BITS


def value(loss: Margin | Softmax | PseudoHuber, scores: np.ndarray, codes: np.ndarray):
    if isinstance(loss, Softmax):
        chosen = np.take_along_axis(scores, codes[:, None], axis=1)[:, 0]
        return np.logaddexp.reduce(scores, axis=1) - chosen
    width = float(loss.width)
    if isinstance(loss, Margin):
        margins = (2 * codes - 1) * scores[:, 0]
        return width * np.logaddexp(0.0, (float(loss.offset) - margins) / width)
    return width * (np.hypot(1.0, (scores[:, 0] - codes / 2.0**BITS) / width) - 1)
