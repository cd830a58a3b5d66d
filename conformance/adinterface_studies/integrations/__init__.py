"""Other packages' own tests, through `adinterface.integrations`."""
