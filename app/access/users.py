"""People with a password, for bindings that other machines can reach, and the sessions of their browsers."""

import asyncio

from fastapi import Request

from app.access import accounts, passwords, tokens
from app.access.accounts import User
from app.access.principal import Principal
from app.access.seen import Seen, Who, narrowed
from app.access.service import CLI
from app.access.tokens import Scope
from app.errors import Conflict, InvalidInput, NotFound, TooMany
from app.storage.database import Database
from app.storage.journal import append
from app.storage.view import DEFAULT

SESSION_HOURS = 12
WINDOW_MINUTES = 15
# Failed logins in a window: of one name from one address, of one name from anywhere, of one address.
MOST_FAILURES = ((5, ("name", "address")), (30, ("name",)), (30, ("address",)))


class WrongPassword(InvalidInput):
    """Not logged in"""


class NoSuchUser(NotFound):
    """There is no such user"""


class UserExists(Conflict):
    """There is a user of this name"""


class Users(Seen):
    def __init__(self, database: Database) -> None:
        self._database = database
        # A guess takes 32 MiB.
        self._guesses = asyncio.Semaphore(2)

    async def add(self, name: str, password: str, scopes: tuple[Scope, ...], project: str | None = DEFAULT, *, by: str = CLI) -> None:
        """Raises InvalidInput for a short password, UserExists."""
        known = await self._hashed(password)
        async with self._database.transaction() as connection:
            if not await accounts.add(connection, name, scopes, project, known):
                raise UserExists(f"There is a user {name} already; `bezmen user password {name}` changes the password.")
            await append(connection, None, "user made", by, project=project, name=name, scopes=list(scopes))

    async def set_password(self, name: str, password: str, *, by: str = CLI) -> None:
        """Ends every session of this user. Raises InvalidInput, NoSuchUser."""
        known = await self._hashed(password)
        async with self._database.transaction() as connection:
            user = await accounts.find(connection, name)
            if user is None:
                raise NoSuchUser(f"There is no user {name}.")
            await accounts.set_password(connection, user.id, known)
            await append(connection, None, "password changed", by, project=user.project, name=name)

    async def remove(self, name: str, *, by: str = CLI) -> None:
        """Raises NoSuchUser."""
        async with self._database.transaction() as connection:
            user = await accounts.find(connection, name)
            if user is None:
                raise NoSuchUser(f"There is no user {name}.")
            await accounts.remove(connection, user.id)
            await append(connection, None, "user removed", by, project=user.project, name=name)

    async def listed(self) -> list[User]:
        async with self._database.transaction() as connection:
            return await accounts.listed(connection, self.view)

    async def _hashed(self, password: str) -> passwords.Hashed:
        if not passwords.LEAST <= len(password) <= passwords.MOST:
            raise InvalidInput(f"A password has {passwords.LEAST} to {passwords.MOST} characters.")
        return await asyncio.to_thread(passwords.hashed, password)

    # --- sessions -------------------------------------------------------------------------------------------------------------------------

    async def login(self, name: str, password: str, address: str) -> str:
        """The token of a new session. Raises WrongPassword, whatever was wrong, and TooMany after too many of them."""
        name, password = name.strip()[:256], password[: passwords.MOST]
        async with self._guesses, self._database.transaction() as connection:
            await accounts.one_guess_at_a_time(connection, name)
            for most, by in MOST_FAILURES:
                same = {field: value for field, value in (("name", name), ("address", address)) if field in by}
                if await accounts.failures(connection, WINDOW_MINUTES, **same) >= most:
                    said = f"Too many attempts failed; wait {WINDOW_MINUTES} minutes and try again."
                    raise TooMany(said, headers={"Retry-After": str(WINDOW_MINUTES * 60)})
            user = await accounts.find(connection, name)
            right = await asyncio.to_thread(passwords.matches, password, user.password if user else None)
            if user is not None and right:
                token = tokens.make("bzs")
                await accounts.open_session(connection, user.id, tokens.digest(token), SESSION_HOURS)
                await append(connection, None, "login", user.name, project=user.project, address=address)
                return token
            await append(connection, None, accounts.FAILED, name or "nobody", project=user.project if user else None, name=name, address=address)
        raise WrongPassword("No user has this name and this password.")

    async def principal(self, session: str) -> Principal | None:
        """Whose session this is; None once it is over."""
        async with self._database.transaction() as connection:
            user = await accounts.of_session(connection, tokens.digest(session))
        return None if user is None else Principal(user.name, frozenset(user.scopes), user=user.id, project=user.project)

    async def logout(self, session: str) -> None:
        async with self._database.transaction() as connection:
            user = await accounts.of_session(connection, tokens.digest(session))
            await accounts.close_session(connection, tokens.digest(session))
            if user is not None:
                await append(connection, None, "logout", user.name, project=user.project)

    async def sweep(self) -> None:
        """Forgets sessions that are over."""
        async with self._database.transaction() as connection:
            await accounts.sweep(connection)


def users_service(request: Request, who: Who) -> Users:
    return narrowed(request, Users, who)
