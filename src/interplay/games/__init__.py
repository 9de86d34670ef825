"""Games, and the contract that every game keeps."""
