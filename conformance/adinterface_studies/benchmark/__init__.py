"""The cost of a call compared with hand-written engine code: `python -m adinterface_studies
benchmark`.
"""
