"""The pages, in a real browser and over HTTP."""
