"""Page types of studies, one module each; packages of others add theirs by the entry point `interplay.study_pages`."""
