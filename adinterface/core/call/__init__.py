"""One call: from the user's arguments to native arrays, and from an engine's results back to the arguments' form.

It may import everything but operators and tools; data flows one way through it, and nothing here knows an operator.
"""
