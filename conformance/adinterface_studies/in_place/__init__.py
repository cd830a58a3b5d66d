"""`python -m adinterface_studies in-place`: classical programs that fill arrays, and the same for an engine."""
