"""What differs between engines, one file for each: how the same plan is written down."""
