"""Rules that are made of operators: crossings from engine to engine, implicit functions, recomputation.

A wing above `operators`: it may import everything but tools. Each is a few lines on the public `rule`.
"""
