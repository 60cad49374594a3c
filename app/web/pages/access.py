"""Who may do what: tokens, users, projects, invitations of runners, and who did what."""

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError
from starlette.datastructures import FormData

from app.access.deeds import Deed, Deeds, deeds_service
from app.access.principal import Admin
from app.access.schemas import EnrolmentIn, ProjectIn, TokenIn
from app.access.service import Access, access_service
from app.access.tokens import SCOPES, Token
from app.access.users import Users, users_service
from app.errors import AppError, InvalidInput
from app.reports.format import decimal, moment
from app.reports.retold import retell
from app.reports.translate import gettext, ngettext
from app.reports.words import mark
from app.web.pages.imports import import_field
from app.web.preferences import locale_of
from app.web.render import page

router = APIRouter(include_in_schema=False)
Service = Annotated[Access, Depends(access_service)]
People = Annotated[Users, Depends(users_service)]
Log = Annotated[Deeds, Depends(deeds_service)]
Cursor = Annotated[int | None, Query(ge=1, le=2**53)]
T = TypeVar("T", TokenIn, EnrolmentIn, ProjectIn)
EVERY = "*"
DEEDS_SHOWN = 25
LONG_UNUSED = timedelta(days=90)
DEEDS: dict[str, str] = {
    "token made": mark("made the token %(name)s"),
    "token revoked": mark("revoked the token %(name)s"),
    "project made": mark("made the project %(project)s"),
    "enrolment made": mark("invited the runner %(name)s"),
    "runner enrolled": mark("joined as a runner, invited by %(invited_by)s"),
    "user made": mark("made the user %(name)s"),
    "user removed": mark("removed the user %(name)s"),
    "password changed": mark("set a new password for %(name)s"),
    "login": mark("logged in from %(address)s"),
    "login failed": mark("failed to log in from %(address)s"),
    "logout": mark("logged out"),
    "queued": mark("submitted run %(run)s"),
    "cancelled": mark("cancelled run %(run)s"),
    "suite uploaded": mark("uploaded the suite %(suite)s"),
    "import made": mark("imported results of %(format)s as import %(import)s"),
    "import completed": mark("changed what is known of import %(import)s: %(changed)s"),
    "webhook made": mark("made webhook %(webhook)s, which leads to %(host)s"),
    "webhook removed": mark("removed webhook %(webhook)s"),
}


@dataclass(frozen=True)
class Act:
    """One line of the log."""

    at: str
    actor: str
    said: str
    project: str
    run: int | None


@dataclass(frozen=True)
class Made:
    """A token, the only time that it is shown."""

    name: str
    token: str
    enrolment: bool


class _Rooms:
    """What the page is drawn from."""

    def __init__(self, who: Admin, access: Service, users: People, deeds: Log) -> None:
        self.who, self.access, self.users, self.deeds = who, access, users, deeds


Rooms = Annotated[_Rooms, Depends(_Rooms)]


@router.get("/access")
async def access_page(request: Request, rooms: Rooms, cursor: Cursor = None) -> Response:
    return await _page(request, rooms, cursor=cursor)


@router.post("/access/tokens")
async def make_token(request: Request, rooms: Rooms) -> Response:
    form = await request.form()

    async def work() -> Made:
        asked = _read(TokenIn, form, scopes=[scope for scope in SCOPES if scope in form.getlist("scopes")])
        return Made(asked.name, await rooms.access.create(asked.name, asked.scopes, asked.place(rooms.who.home), by=rooms.who.name), False)

    return await _done(request, rooms, work())


@router.post("/access/enrolments")
async def invite(request: Request, rooms: Rooms) -> Response:
    form = await request.form()

    async def work() -> Made:
        asked = _read(EnrolmentIn, form)
        token = await rooms.access.invite(asked.name, asked.place(rooms.who.home), minutes=asked.minutes, by=rooms.who.name)
        return Made(asked.name, token, True)

    return await _done(request, rooms, work())


@router.post("/access/projects")
async def make_project(request: Request, rooms: Rooms) -> Response:
    form = await request.form()

    async def work() -> None:
        await rooms.access.add_project(_read(ProjectIn, form).name, by=rooms.who.name)

    return await _done(request, rooms, work())


@router.post("/access/tokens/{token}/revoke")
async def revoke(token: int, rooms: Rooms) -> Response:
    await rooms.access.revoke_one(token, by=rooms.who.name)
    return RedirectResponse("/access", status_code=303)


def _read(kind: type[T], form: FormData, **more: Any) -> T:
    """What a form says, as the body of the API would say it. Raises InvalidInput."""
    placed = {"every_project": True} if form.get("project") == EVERY else {"project": form.get("project")} if form.get("project") else {}
    try:
        return kind.model_validate({"name": str(form.get("name", "")).strip()} | placed | more)
    except ValidationError as wrong:
        raise _invalid(wrong) from wrong


def _invalid(wrong: ValidationError) -> InvalidInput:
    return InvalidInput.of([dict(each) | {"loc": ("body", *each["loc"])} for each in wrong.errors()])


async def _done(request: Request, rooms: _Rooms, work: Awaitable[Made | None]) -> Response:
    """The page with the new token, which is why it is no redirect; or with what was wrong."""
    try:
        made = await work
    except AppError as refusal:
        return await _page(request, rooms, problems=[("", retell(refusal.detail, locale_of(request)))], status=refusal.status)
    return await _page(request, rooms, made=made) if made else RedirectResponse("/access", status_code=303)


async def _page(
    request: Request,
    rooms: _Rooms,
    *,
    cursor: int | None = None,
    made: Made | None = None,
    problems: list[tuple[str, str]] | None = None,
    status: int = 200,
) -> Response:
    locale = locale_of(request)
    found = await rooms.access.listed()
    log = await rooms.deeds.page(cursor, DEEDS_SHOWN)
    context = {
        "sentence": sentence([token for token in found if token.revoked_at is None], datetime.now(UTC), locale),
        "tokens": [token for token in found if token.revoked_at is None],
        "revoked": [token for token in found if token.revoked_at is not None],
        "users": await rooms.users.listed(),
        "projects": await rooms.access.projects(),
        "enrolments": await rooms.access.enrolments(),
        "acts": [act(deed, locale) for deed in log.items],
        "older": f"/access?cursor={log.next_cursor}#log" if log.next_cursor else None,
        "everywhere": rooms.who.project is None,
        "home": rooms.who.home,
        "scopes": SCOPES,
        "made": made,
        "problems": problems or [],
    }
    shown = page(request, "access.html", status=status, **context)
    if made is not None:
        shown.headers["Cache-Control"] = "no-store"
    return shown


def sentence(alive: list[Token], now: datetime, locale: str) -> str:
    """How many tokens are alive, and how many of them nobody uses."""
    n = len(alive)
    said = ngettext("%(n)s token is alive.", "%(n)s tokens are alive.", n, locale) % {"n": decimal(n, 0, locale)}
    stale = sum((token.last_used_at or token.created_at) < now - LONG_UNUSED for token in alive)
    if not stale:
        return said
    text = ngettext("%(n)s has not been used for 90 days.", "%(n)s have not been used for 90 days.", stale, locale)
    return f"{said} {text % {'n': decimal(stale, 0, locale)}}"


def _changed(deed: Deed, locale: str) -> str:
    """Fields of an import, what they were where they had been told, and what they were changed to."""
    if deed.kind != "import completed":
        return ""
    untold = gettext("not told", locale)
    said = ((import_field(name, locale), old, untold if new is None else new) for name, (old, new) in deed.body["changed"].items())
    return ", ".join(f"{name}: {new}" if old is None else f"{name}: {old} → {new}" for name, old, new in said)


def act(deed: Deed, locale: str) -> Act:
    known = {"name": "", "address": "", "invited_by": "", "suite": ""} | {k: str(v) for k, v in deed.body.items()}
    known["changed"] = _changed(deed, locale)
    said = gettext(DEEDS[deed.kind], locale) % (known | {"project": deed.project or "", "run": deed.run}) if deed.kind in DEEDS else deed.kind
    return Act(moment(deed.at, locale), deed.actor, said, deed.project or gettext("every project", locale), deed.run)
