"""Games that people play: sessions, participants' slots, event log, waiting rooms, and what browsers are shown."""
