"""Records of a study as tables and files."""
