"""Studies of this project: tables and measurements that its documentation quotes. They are not part of the wheel.

They may import `adinterface` and the judge, `adinterface_conformance`; nothing imports them but tests.
"""
