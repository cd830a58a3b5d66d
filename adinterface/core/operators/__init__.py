"""The operators, one file each, and `prepare`, which keeps what one of them decided.

They may import everything but the tools, which stand above them.
"""
