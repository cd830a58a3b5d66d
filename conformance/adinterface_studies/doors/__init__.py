"""Other packages' own tests, through `adinterface.doors`."""
