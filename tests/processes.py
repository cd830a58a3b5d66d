"""Programs for a group of processes, which import no engine."""

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
