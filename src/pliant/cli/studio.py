"""`pliant studio`."""

import secrets
import socket
import webbrowser
from pathlib import Path

import click

from pliant.cli.tools import INPUT, verbose_option

EXAMPLES = """\b
Examples:
  pliant studio
  pliant studio examples/scenes/beam.toml
  pliant studio --port 8700 --no-browser     then, elsewhere: ssh -L 8700:localhost:8700 this-machine
"""


@click.command(epilog=EXAMPLES)
@click.argument("scene", required=False, type=INPUT)
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port; left out, one that is free.")
@click.option("--no-browser", is_flag=True, help="Print the address and open no browser.")
@verbose_option
def studio(scene: Path | None, port: int, no_browser: bool) -> None:
    """Set up, run and look at a scene in the browser.

    It reads and writes scene files in the folder of SCENE, or in the present folder, and nowhere else. It listens on
    this machine alone and needs no network.
    """
    from pliant.errors import PliantError

    try:
        import uvicorn

        from pliant.studio.folder import PAGE
        from pliant.studio.server import application
        from pliant.studio.session import Session
    except ModuleNotFoundError as error:
        raise PliantError(f"the studio needs {error.name}: pip install 'pliant[studio]'") from None
    if not (PAGE / "studio.js").is_file():
        raise PliantError("the page of the studio is not built; in a clone of the repository, `make studio` builds it")
    session = Session((scene.parent if scene else Path()).resolve())
    if scene is not None:
        session.load(scene.name)
    token = secrets.token_urlsafe(24)
    listener = _listener(port)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/?token={token}"
    click.echo(f"The studio is at {address}\nCtrl-C ends it.")
    if not no_browser:
        webbrowser.open(address)
    config = uvicorn.Config(
        application(session, token),
        log_level="warning",
        ws_max_size=2**20,
        ws_per_message_deflate=False,  # floats do not compress
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listener])


def _listener(port: int) -> socket.socket:
    """A socket on this machine alone."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        raise click.ClickException(f"port {port} cannot be used: {error.strerror}") from None
    listener.listen(64)
    return listener
