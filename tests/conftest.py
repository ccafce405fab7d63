"""Fixtures that several files of tests share."""

import pytest


@pytest.fixture(scope="module")
def server(home):
    """A studio in the folder `home` of a file of tests, for a browser that has its token."""
    from studio_support import serving

    with serving(home) as client:
        yield client


@pytest.fixture
def page(server):
    """A page of that studio which has opened scene.toml."""
    from studio_support import looking

    with looking(server) as page:
        yield page
