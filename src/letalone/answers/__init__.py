"""What comes back: a value with its interval."""

from letalone.answers.estimate import Estimate as Estimate

__all__ = ["Estimate"]
