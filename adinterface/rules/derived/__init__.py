"""Rules that are made of operators: crossings from engine to engine, implicit functions,
recomputation.

May import everything but tools. Each is a few lines on the public `rule`.
"""
