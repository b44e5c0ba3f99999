"""Number problems: flags of one cause and class over the runs of a model on a dataset."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0022_problems"
down_revision = "0021_promotions"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

KNOWN = """
INSERT INTO problem (dataset_id, model, cause, class_label, opened_at)
SELECT dataset_id, model, cause, class_label, min(first_seen)
FROM (
    SELECT run.dataset_id, coalesce(run.model, '') AS model, flag.class_label, flag.first_seen,
        CASE
            WHEN flag.rule IN ('F2', 'F3', 'F4', 'F10') THEN 'missed'
            WHEN flag.rule = 'F9' THEN 'imprecise'
            WHEN flag.rule = 'F14' THEN 'drop'
            WHEN flag.rule IN ('F1', 'F5') THEN 'worthless'
            WHEN flag.rule IN ('F6', 'F7', 'F8') THEN 'hides'
            WHEN flag.rule IN ('F11', 'F15') THEN 'cost'
            WHEN flag.rule = 'F13' THEN 'orientation'
            WHEN flag.rule = 'F12' THEN 'few_labels'
        END AS cause
    FROM flag JOIN run ON run.id = flag.run_id
) AS known
WHERE cause IS NOT NULL
GROUP BY dataset_id, model, cause, class_label
ORDER BY min(first_seen), dataset_id, model, cause, class_label
"""


def upgrade() -> None:
    op.create_table(
        "problem",
        sa.Column("id", ID, nullable=False),
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("model", TEXT, nullable=False),
        sa.Column("cause", TEXT, nullable=False),
        sa.Column("class_label", TEXT, nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "cause IN ('missed', 'imprecise', 'drop', 'worthless', 'hides', 'cost', "
            "'orientation', 'few_labels')",
            name=op.f("ck_problem_cause"),
        ),
        sa.ForeignKeyConstraint(
            ["dataset_id"],
            ["dataset.id"],
            name=op.f("fk_problem_dataset_id_dataset"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_problem")),
        sa.UniqueConstraint(
            "dataset_id",
            "model",
            "cause",
            "class_label",
            name=op.f("uq_problem_dataset_id_model_cause_class_label"),
        ),
        sqlite_autoincrement=True,
    )
    op.execute(KNOWN)


def downgrade() -> None:
    op.drop_table("problem")
