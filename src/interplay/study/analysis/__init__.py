"""What a study says: the tables and tests that its file names, and how many people a next one needs."""
