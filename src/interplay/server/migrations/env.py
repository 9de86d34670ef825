"""Run by Alembic; `interplay.server.database.migrate` gives the connection and the table that counts versions."""

from alembic import context

_attributes = context.config.attributes
context.configure(
    connection=_attributes["connection"],
    version_table=_attributes["version_table"],
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
