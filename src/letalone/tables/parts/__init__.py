"""The parts of an answer: what each measures, its noise, and its intervals."""
