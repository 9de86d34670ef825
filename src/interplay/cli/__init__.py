"""The command line. It holds no logic: it reads arguments, calls the library and prints."""
