"""Rules made of operators: crossings between engines, implicit functions, recomputation.

May import everything but tools. Each is a few lines on the public `rule`.
"""
