"""The curator over HTTP: `http.app.make_app(curator)` is the service that `letalone serve` runs."""
