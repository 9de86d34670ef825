"""What is worked out about the partner before a decision. A scaffold adds to the prompt and to nothing else."""
