"""The papers that interplay reproduces: one module each, its tables and figures, published values beside ours."""
