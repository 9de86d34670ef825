"""The study's database: schema, migrations, and the reads and writes of each kind of row."""
