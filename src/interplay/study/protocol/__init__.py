"""The study file: its model, its checks, the order of pages, what is paid and what is asked."""
