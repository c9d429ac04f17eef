"""The curves, one file each: what a kind of noise, or a way of using it, reveals."""
