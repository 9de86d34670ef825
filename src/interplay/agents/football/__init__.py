"""Scripted football players."""
