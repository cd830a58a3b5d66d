"""A project of somebody else, in this folder: `test_plugin.py` copies it and runs its tests as its
owner would.
"""

collect_ignore = ["lighthouse"]
