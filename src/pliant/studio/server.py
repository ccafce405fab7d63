"""The server of the studio: the page, one WebSocket, and who may use them.

As in Jupyter: it listens on this machine alone; a random token, which the address it prints carries, lets a browser
in and stays there as a cookie; Host and Origin are checked on everything, so that pages of others, also behind names
that lead to this machine, get nothing.
"""

import asyncio
import contextlib
import hashlib
import hmac
import re
from collections.abc import AsyncIterator
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from pliant.errors import PliantError
from pliant.studio.clients import Client
from pliant.studio.folder import PAGE, examples, store
from pliant.studio.session import Session

LOOPBACK = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?")
"""Names of this machine, with any port: a tunnel may have another one than the server."""

MOST_CLIENTS = 32
MOST_UPLOADED = 64 * 2**20
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
FILES = {"": "index.html", "studio.js": "studio.js", "studio.css": "studio.css"}


def cookie_name(token: str) -> str:
    """Studios on one machine share its cookies, so each has a name of its own."""
    return f"pliant-studio-{hashlib.sha256(token.encode()).hexdigest()[:12]}"


class Guard:
    """Lets only this machine's browser through, with the token."""

    def __init__(self, app, token: str):
        self.app, self.token, self.cookie = app, token, cookie_name(token)

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        if refusal and scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 4403})
            return

        async def send_guarded(message) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", ()), *extra]
            await send(message)

        app = PlainTextResponse(refusal, status_code=403) if refusal else self.app
        await app(scope, receive, send if scope["type"] == "websocket" else send_guarded)

    def refusal(self, scope) -> str | None:
        """Why a request is refused; None if it is not."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or not LOOPBACK.fullmatch(hosts[0].lower()):
            return "the studio answers to names of this machine only, such as localhost"
        if scope["type"] == "websocket" and not origins:
            return "the studio answers to its own page only"
        if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
            return "the studio answers to its own page only"
        if not any(self.fits(token) for token in self.tokens(scope, headers)):
            return "the address of the studio carries a token, which is printed where it was started"
        return None

    def fits(self, token: str) -> bool:
        """Whether that is the token; it takes as long for every wrong one."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def tokens(self, scope, headers: dict[str, list[str]]) -> list[str]:
        """What a request offers as token."""
        found = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        for line in headers.get("cookie", ()):
            with contextlib.suppress(CookieError):
                found += [morsel.value for name, morsel in SimpleCookie(line).items() if name == self.cookie]
        return found


async def page(request: Request) -> Response:
    """A file of the page; the token in the address becomes a cookie and leaves the address."""
    name = request.path_params.get("name", "")
    files = FILES | {example["picture"]: example["picture"] for example in examples(PAGE) if example["picture"]}
    if name not in files:
        return PlainTextResponse("there is no such page", status_code=404)
    if "token" in request.query_params:
        response = RedirectResponse("/", status_code=303)
        token = request.query_params["token"]
        response.set_cookie(cookie_name(token), token, httponly=True, samesite="strict")
        return response
    return FileResponse(PAGE / files[name])


async def upload(request: Request) -> Response:
    """Put a mesh file into the folder of the studio; it is not read here, but by the worker that builds the scene."""
    session: Session = request.app.state.session
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MOST_UPLOADED:
            return PlainTextResponse(f"the file is larger than {MOST_UPLOADED >> 20} MiB", status_code=413)
    try:
        name, new = store(session.home, request.path_params["name"], bytes(data))
        if new:
            session.uploads.add(name)
    except (PliantError, OSError) as error:
        text = str(error) if isinstance(error, PliantError) else "the file cannot be written"
        return PlainTextResponse(text, status_code=400)
    return PlainTextResponse(name)


async def talk(websocket: WebSocket) -> None:
    """The one WebSocket of a page: requests as text, answers as text, surfaces and frames as binary messages."""
    session: Session = websocket.app.state.session
    await websocket.accept()
    if len(session.clients) >= MOST_CLIENTS:
        await websocket.close(4429)
        return
    client = Client()
    session.join(client)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_send, websocket, client, group.cancel_scope)
            await _receive(websocket, session, client)
            group.cancel_scope.cancel()
    finally:
        session.clients.discard(client)


async def _send(websocket: WebSocket, client: Client, scope: anyio.CancelScope) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while not client.overrun:
            message = await client.next()
            await (websocket.send_text(message) if isinstance(message, str) else websocket.send_bytes(message))
    scope.cancel()


MOST_REQUESTS = 16
"""How many requests of one page are worked on at once; it is not listened to before one of them is done."""


async def _receive(websocket: WebSocket, session: Session, client: Client) -> None:
    room, running = asyncio.Semaphore(MOST_REQUESTS), set()

    async def work(text: str) -> None:
        async with room:
            await session.answer(client, text)

    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                break
            async with room:
                pass
            task = asyncio.create_task(work(message.get("text") or ""))
            running.add(task)
            task.add_done_callback(running.discard)


def application(session: Session, token: str, start: bool = True) -> Guard:
    """The studio as an ASGI application; start: begin with the scene that the session has."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        starting = asyncio.create_task(session.start()) if start else None
        try:
            yield
        finally:
            if starting is not None:
                starting.cancel()
                await asyncio.gather(starting, return_exceptions=True)
            await session.close()

    upload_route = Route("/upload/{name}", upload, methods=["POST"])
    routes = [Route("/", page), WebSocketRoute("/talk", talk), upload_route, Route("/{name}", page)]
    app = Starlette(routes=routes, lifespan=lifespan)
    app.state.session = session
    return Guard(app, token)
