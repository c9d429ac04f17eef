"""What can be typed after `letalone demo`; the work is done in `cli.demo` and `cli.scenes`."""

from typing import Annotated

from letalone.cli.typed import AsJson, command, new_app, switch

app = new_app()


@command(app)
def demo(
    attacks: Annotated[
        bool, switch("--attacks", "Play the attacks instead, in under a minute.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask a made-up hospital two questions, privately, on DuckDB."""
    if attacks:
        from letalone.cli.scenes import play_attacks

        play_attacks(as_json=as_json)
    else:
        from letalone.cli.demo import demo

        demo(as_json=as_json)
