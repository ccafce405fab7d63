"""With PLIANT_REACH the tests are traced, and the share of the code that they reached is printed at the end."""

import os
import sys

REACH = os.environ.get("PLIANT_REACH")


def pytest_sessionstart(session):
    if REACH:
        from reach import Reach

        session.config.reach = Reach()
        session.config.reach.start()


def pytest_terminal_summary(terminalreporter, config):
    if REACH:
        sys.settrace(None)
        terminalreporter.write_line("\n" + config.reach.table())
        if REACH == "functions":
            terminalreporter.write_line("\n".join(config.reach.unreached()))
