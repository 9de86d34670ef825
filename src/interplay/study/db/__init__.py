"""The study's database: schema, migrations, and functions that read and write each kind of row."""
