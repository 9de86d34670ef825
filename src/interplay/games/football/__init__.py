"""Football: three attackers against a defender and a keeper, in the real engine and in a light one."""
