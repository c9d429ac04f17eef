"""The curator's service: many analysts ask, one budget holds, everything is written down."""
