"""The types of the operators, for type checkers, which read the stub beside this file.

See `core/operators/typed.py`.
"""
