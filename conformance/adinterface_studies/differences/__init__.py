"""How exact finite differences are, and what they cost: on published problems, compared with other
methods.
"""
