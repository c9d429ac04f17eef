"""One file a command: what can be typed after its name. `cli.app` has the table of them."""
