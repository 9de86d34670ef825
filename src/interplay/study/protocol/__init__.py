"""The study file: its model, its checks, the order of pages, the payment and the answers."""
