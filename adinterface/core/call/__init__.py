"""One call: from the user's arguments to native arrays, and from results to their structure.

Data flows one way. May import everything in the core except operators.
"""
