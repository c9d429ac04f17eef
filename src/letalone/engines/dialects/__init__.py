"""Dialects hold what differs between engines, one file for each: how a plan is written down."""
