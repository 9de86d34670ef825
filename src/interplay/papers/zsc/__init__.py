"""ZSC-Eval (Wang et al., NeurIPS 2024): its figures and tables from our agents and from its public results."""
