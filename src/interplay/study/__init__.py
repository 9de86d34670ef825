"""The browser platform: people as players in seats, protocols as files."""
