"""How exact finite differences are, and what they cost: on published problems, beside what others give."""
