"""Where randomness comes from, and laws drawn from it exactly.

Exact means the stated law with no statistical distance at all. Each law has a reference
that draws one value with integers and, where a real number must be compared, with balls
and further bits on demand. The plural form draws many with numpy: floats decide where
they provably agree with the reference, and hand over to it where they might not.
"""
