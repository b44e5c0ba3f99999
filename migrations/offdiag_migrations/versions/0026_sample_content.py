"""Store what samples look like: small images, text and fields, and where else to find them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0026_sample_content"
down_revision = "0025_share_links"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.add_column("dataset", sa.Column("image_template", TEXT, nullable=True))
    op.add_column("dataset", sa.Column("link_template", TEXT, nullable=True))
    op.add_column(
        "dataset",
        sa.Column("content_hidden", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.create_table(
        "sample_content",
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("sample", TEXT, nullable=False),
        sa.Column("logged_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("text", TEXT, nullable=True),
        sa.Column("fields", JSON, nullable=True),
        sa.Column("audio", TEXT, nullable=True),
        sa.Column("image_digest", TEXT, nullable=True),
        sa.Column("image_type", TEXT, nullable=True),
        sa.Column("thumbnail", sa.LargeBinary(), nullable=True),
        sa.Column("image", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["dataset_id"],
            ["dataset.id"],
            name=op.f("fk_sample_content_dataset_id_dataset"),
            ondelete="CASCADE",
        ),
        sa.CheckConstraint(
            "(image_digest IS NULL) = (thumbnail IS NULL) "
            "AND (image_digest IS NULL) = (image_type IS NULL)",
            name=op.f("ck_sample_content_whole_image"),
        ),
        sa.PrimaryKeyConstraint("dataset_id", "sample", name=op.f("pk_sample_content")),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Encoded images do not shrink.
        for column in ("thumbnail", "image"):
            op.execute(f"ALTER TABLE sample_content ALTER COLUMN {column} SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_table("sample_content")
    for column in ("content_hidden", "link_template", "image_template"):
        op.drop_column("dataset", column)
