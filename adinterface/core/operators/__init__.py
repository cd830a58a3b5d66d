"""The operators, one file each, and `prepare`, which keeps what a call can decide once.

May import everything in the core.
"""
