"""`python -m adinterface_conformance in-place`: classical programs that fill arrays, beside the same written for an engine."""
