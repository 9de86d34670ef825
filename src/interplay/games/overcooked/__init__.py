"""Overcooked: chefs who share a kitchen and deliver soups."""
