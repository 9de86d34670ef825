"""A relay: one runner brings parcels to a shelf, the other takes them on. Neither can do it alone."""
