"""Adapters between our games and other toolkits. Each module needs its optional package."""
