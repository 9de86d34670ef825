"""Analyses of a study: the tables and tests that its file names, and how many participants a next one needs."""
