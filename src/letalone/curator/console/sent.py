"""Forms as they are sent: counted and bounded before anything of them is read.

Who has no visit that holds is counted by address first, and so is whoever sends a wrong secret.
Of files nothing is read here, so the secret of their form stands in its address.

  Tested:   tests/curator/console/test_sent.py
"""

from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request

from letalone.curator.console.secrets import check_form, is_from_here
from letalone.curator.console.visitors import holds, visitor_of
from letalone.curator.http.middleware import CONSOLE_UPLOADS, is_files
from letalone.curator.http.problems import Problem, Refused
from letalone.curator.http.who import count_address

TYPED = "application/x-www-form-urlencoded"
FIELDS, FIELDS_DECLARED = 2_000, 20_000
DECLARING = "/register/declare"
LARGE = 1 << 15  # bytes; from here on others do not wait while a form is read
NOT_A_FORM = (
    "This address takes a form as a browser sends it, and no files. Files go to the page where a"
    " data set is registered or renewed."
)
NO_FILES = "This address takes a file: send the form as multipart/form-data."


async def check_sent(request: Request) -> None:
    """Reads a form into `request.state.form`, if its secret is right; Refused.

    One of another visit, sent from a page of this service, is left in `request.state.late`: it is
    shown again, and nothing else is done with it.
    """
    service = request.app.state.service
    held = await run_in_threadpool(holds, request, service)
    if not held:
        count_address(request, service)
    form = await _form(request)
    secret = request.query_params.get("csrf", "") if form is None else form.get("csrf", "")
    try:
        check_form(request, str(secret))
    except Refused:
        count_address(request, service)
        if form is not None and is_from_here(request):
            request.state.late = form
            await run_in_threadpool(visitor_of, request, service)
        raise
    if form is not None:
        _check_no_file_expected(request)
        request.state.form = form


async def _form(request: Request) -> FormData | None:
    """What was typed; None of a file, which its route reads."""
    kind = request.headers.get("content-type", "")
    if is_files(kind):
        if request.url.path != CONSOLE_UPLOADS:
            raise Refused(Problem("http", NOT_A_FORM, status=415))
        return None
    body = await request.body() if kind.lower().startswith(TYPED) else b""
    most = FIELDS_DECLARED if request.url.path == DECLARING else FIELDS
    if body.count(b"&") >= most:
        raise Refused(Problem("body-too-large", f"The form has more than {most:,} fields."))
    return await run_in_threadpool(_read, body) if len(body) > LARGE else _read(body)


def _check_no_file_expected(request: Request) -> None:
    if request.url.path == CONSOLE_UPLOADS:
        raise Refused(Problem("http", NO_FILES, status=415))


def _read(body: bytes) -> FormData:
    pairs = parse_qsl(body.decode("latin-1"), keep_blank_values=True)
    return FormData([(name, value) for name, value in pairs])
