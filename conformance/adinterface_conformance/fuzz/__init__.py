"""Random programs, differentiated by every operator on every engine, judged by differences of 64 bits and by one another.

A scenario is written by hand; a fuzzer finds the rest. `python -m adinterface_conformance fuzz --minutes 5 --seed 1`.
"""
