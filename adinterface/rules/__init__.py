"""Functions that bring their own derivatives, and values that are not differentiated.

A floor above `namespace`: it may import that, the contract and `tree`, and knows no operator. What an engine makes of a rule
is the engine's, behind `Library.custom`; here a rule is taken from trees to flat arrays, and what its author's code returns
is checked, so that a mistake is the same error on every engine.
"""
