"""`python -m adinterface_studies in-place`: classical programs that fill arrays, beside the same written for an engine."""
