"""Games of ours for other toolkits, and other toolkits' games for ours. Each module needs its optional package."""
