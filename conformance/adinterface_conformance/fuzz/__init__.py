"""Random programs, differentiated by every operator on every engine, compared with extended-precision differences and among
engines.

It finds errors that hand-written scenarios miss. `python -m adinterface_conformance fuzz --minutes 5 --seed 1`.
"""
