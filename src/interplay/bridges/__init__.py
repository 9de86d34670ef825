"""Places where people play, and our agents with them."""
