"""What tests of the studio's server share: a studio in a folder, a page that talks to it, tables of a scene."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from pliant.benchmarks._studio_page import Page
from pliant.studio.server import application, cookie_name
from pliant.studio.session import Session

TOKEN = "the-token-of-these-tests"
HOME = "http://127.0.0.1:8700"
START = """format = 1
[run]
dt = 0.01
[[soft]]
name = "cube"
material = { law = "corotated", young = 1e6, poisson = 0.4, density = 1000 }
"""
"""The first tables of a scene file, up to the soft body `cube`, which still needs a mesh."""
ARM = """[[rigid]]
name = "arm"
shape = { box = [0.4, 0.1, 0.1] }
density = 500
position = [3, 0, 0]
[[joint]]
type = "hinge"
name = "shoulder"
a = "world"
b = "arm"
at = [2.8, 0, 0]
axis = [0, 0, 1]
motor = { velocity = 1, max_torque = 100 }
"""
"""Its last tables: a rigid body on a hinge with a motor."""


def page_of(socket) -> Page:
    """The page at the other end of a WebSocket of the test client."""

    def receive() -> str | bytes:
        message = socket.receive()
        return message["text"] if message.get("text") is not None else message["bytes"]

    return Page(receive, socket.send_text)


@contextmanager
def serving(home: Path) -> Iterator[TestClient]:
    """A studio with the file scene.toml of a folder, for a browser that has its token."""
    session = Session(home)
    session.load("scene.toml")
    headers = {"cookie": f"{cookie_name(TOKEN)}={TOKEN}"}
    with TestClient(application(session, TOKEN), base_url=HOME, headers=headers) as client:
        yield client


@contextmanager
def looking(server: TestClient) -> Iterator[Page]:
    """A page that has opened scene.toml and sees it."""
    with server.websocket_connect("/talk", headers={"origin": HOME, "host": "127.0.0.1:8700"}) as socket:
        page = page_of(socket)
        page.until(lambda: page.state.get("phase") not in (None, "starting") and page.frame)
        page.ask("open", file="scene.toml")
        page.until(lambda: page.frame.get("revision") == page.state["revision"])
        yield page
