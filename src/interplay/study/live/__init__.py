"""Games that people play: sessions, clocks, participants' places, and what their browsers see."""
