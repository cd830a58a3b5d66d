"""The project beside this file is somebody else's: tests/test_plugin.py copies it and runs its tests as its owner would."""

collect_ignore = ["lighthouse"]
