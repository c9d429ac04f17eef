"""Noise that is a function of a secret key, the step and the number it is added to.

Many processors can draw it at once, each its own part, and a graphics card does: the words come
from a cipher that can be asked for any place, not from a stream. The numbers are those of an ideal
Gaussian added to the exact value and rounded once, whichever processor computed them.
"""
