"""Tokens, projects, enrolments and the log over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from app.access.deeds import DeedPage, Deeds, deeds_service
from app.access.principal import Admin
from app.access.schemas import AccessOut, EnrolmentIn, EnrolmentOut, ProjectIn, RunnerMade, TokenIn, TokenMade, TokenOut, UserOut
from app.access.service import Access, access_service, enrolled
from app.access.tokens import Token
from app.access.users import Users, users_service

router = APIRouter(prefix="/api/v1", tags=["access"])
Service = Annotated[Access, Depends(access_service)]
People = Annotated[Users, Depends(users_service)]
Enrolled = Annotated[tuple[str, str], Depends(enrolled)]
TokenId = Annotated[int, Path(ge=1, le=2**53)]


@router.get("/access")
async def access(_: Admin, service: Service, users: People) -> AccessOut:
    """Tokens, users, open invitations and projects. Secrets are not among it."""
    return AccessOut(
        projects=await service.projects(),
        tokens=[shown(token) for token in await service.listed()],
        users=[UserOut(id=u.id, name=u.name, scopes=u.scopes, project=u.project, created_at=u.created_at) for u in await users.listed()],
        enrolments=[EnrolmentOut(**vars(enrolment)) for enrolment in await service.enrolments()],
    )


@router.get("/access/events")
async def events(
    _: Admin,
    deeds: Annotated[Deeds, Depends(deeds_service)],
    cursor: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> DeedPage:
    """Who did what, newest first; only ever added to."""
    return await deeds.page(cursor, limit)


@router.post("/access/tokens", status_code=201)
async def create(body: TokenIn, principal: Admin, service: Service) -> TokenMade:
    """Makes a token, which is in this answer and nowhere else."""
    project = body.place(principal.home)
    token = await service.create(body.name, body.scopes, project, by=principal.name)
    return TokenMade(name=body.name, token=token, project=project)


@router.post("/access/tokens/{token}/revoke")
async def revoke(token: TokenId, principal: Admin, service: Service) -> TokenOut:
    """Ends a token at once."""
    return shown(await service.revoke_one(token, by=principal.name))


@router.post("/access/projects", status_code=201)
async def add_project(body: ProjectIn, principal: Admin, service: Service) -> ProjectIn:
    """Adds a project; one that is there already is no error."""
    await service.add_project(body.name, by=principal.name)
    return body


@router.post("/access/enrolments", status_code=201)
async def invite(body: EnrolmentIn, principal: Admin, service: Service) -> TokenMade:
    """A token that `bezmen runner --enrol` exchanges for a runner's own, once."""
    project = body.place(principal.home)
    token = await service.invite(body.name, project, minutes=body.minutes, by=principal.name)
    return TokenMade(name=body.name, token=token, project=project)


@router.post("/runners/enrol", status_code=201)
async def enrol(made: Enrolled) -> RunnerMade:
    """Takes an enrolment token as the bearer, and ends it."""
    name, token = made
    return RunnerMade(name=name, token=token)


def shown(token: Token) -> TokenOut:
    return TokenOut(**{name: value for name, value in vars(token).items() if name != "hash"})
