"""Random compositions of what the library offers: operators inside operators, rules inside loops, constants that share.

Faults hide where two things meet that were tested apart. `python -m adinterface_conformance compositions --minutes 5`.
"""
