"""What can be typed after `letalone doctor`; the work is done in `cli.doctor`."""

from letalone.cli.typed import AsJson, command, new_app

app = new_app()


@command(app)
def doctor(as_json: AsJson = False) -> None:
    """Check this installation: versions, extras, random bits."""
    from letalone.cli.doctor import doctor

    doctor(as_json=as_json)
