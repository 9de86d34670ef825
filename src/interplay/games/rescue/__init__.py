"""Search and rescue: a team of nurses, firefighters and police searches a burning house."""
