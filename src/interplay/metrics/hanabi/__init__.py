"""What Hanabi alone can tell: what a player knew of the card it used, what it told, and by which convention."""
