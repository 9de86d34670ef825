"""What messages achieve: requests read from talk, each settled by what the partner then did."""
