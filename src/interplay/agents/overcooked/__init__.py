"""Scripted chefs for any kitchen. All of them are one kind of policy; they differ in a price list (`roles.py`)."""
