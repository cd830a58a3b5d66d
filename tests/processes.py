"""Programs for a group of processes, which import no engine."""

import contextlib
import io
import os
import time


def ranks(member, add):
    return member.rank + add, member.size


def fails(member):
    if member.rank:
        raise ValueError("of its own")
    return "fine"


def sleeps(member, seconds, path=None):
    if path is not None:
        (path / str(os.getpid())).touch()
    time.sleep(seconds)


def leaves(member):
    if member.rank:
        os._exit(3)
    time.sleep(60)


def member(arguments):
    """What the command prints in a process that somebody else has started, whose environment says to which group it belongs."""
    from adinterface_studies.__main__ import main

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(arguments) == 0
    return printed.getvalue()
