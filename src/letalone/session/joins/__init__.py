"""Tables beside the one that is asked: private ones and public ones."""
