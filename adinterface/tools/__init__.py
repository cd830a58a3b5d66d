"""What people do with operators: compare backends, check gradients and neutral code, explain a call.

A wing above the operators: it may import everything, and nothing imports it but the front door.
"""
