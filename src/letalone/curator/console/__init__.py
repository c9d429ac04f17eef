"""The console: pages for people in a browser, over the same curator as the API.

No second logic: a page calls the parts of `Curator` that the API calls, and shows their words.
Everything works without script; htmx only swaps parts of a page. How to add a page:

1. A module in the folder of its use case with `routes = console_routes()` (of `pages`), named in
   `routes.ROUTES`; its link stands in `pages.LINKS`, with the roles that see it, its template in
   `templates` beside it.
2. Looking. A dependency of `visitors` says who may: Visiting, Analyst, Steward, Owner, Auditor,
   Overseer (the scopes of the API). Who is not signed in is sent to /sign-in and comes back.

       @routes.get("/people")
       def people(request: Request, visitor: Overseer) -> Response:
           everybody = visitor.curator.people.everybody(by=visitor.name)
           return page(request, "people.html", everybody=everybody)

3. Acting is always a POST of a form with `{{ secret() }}` in it, checked before the route begins
   (CSRF, Origin). `act_or_show` shows the page again, with the problem and with all that was
   typed, if the act is refused; `acting=True` asks for the password again where it was not given
   lately (put `{{ password_again() }}` into the form). An act ends in `see_other`, so a reload
   repeats nothing. A form that only looks something up ends so, too: `drafted` keeps what was
   typed, and the page is made from that. What may name a person is never put into an address.

       @routes.post("/people")
       @act_or_show(people, acting=True)
       def add(request: Request, visitor: Owner, form: Form) -> Response:
           sent = form.read(NewPerson, "name", roles=form.all("roles"))
           visitor.curator.people.add(sent.name, sent.roles, by=visitor.name)
           return see_other(request, "/people", said="The person was added.")

4. A template extends layout.html and imports the macros of parts.html `with context`; they fill
   fields from `typed`, which is the form that was sent, or the query of a GET. `problem`,
   `visitor` and `said` are there on every page. Every ε goes through `epsilon(…)`.
5. No inline style or script, no `on…` attribute: the policy forbids them.
6. Files are sent as multipart/form-data, with `?csrf={{ csrf }}` in the action of the
   form, since nothing of such a body is read before the route reads it.
"""
