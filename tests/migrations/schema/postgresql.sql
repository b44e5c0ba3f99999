CREATE TABLE api_token (
    id BIGSERIAL NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    prefix TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    owner_id BIGINT NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    project_id BIGINT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    used_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT ck_api_token_role CHECK (role = ANY (ARRAY['viewer'::text, 'labeler'::text, 'logger'::text, 'editor'::text, 'admin'::text])),
    CONSTRAINT fk_api_token_owner_id_user_account FOREIGN KEY(owner_id) REFERENCES user_account (id) ON DELETE CASCADE,
    CONSTRAINT fk_api_token_project_id_project FOREIGN KEY(project_id) REFERENCES project (id) ON DELETE CASCADE,
    CONSTRAINT pk_api_token PRIMARY KEY (id),
    CONSTRAINT uq_api_token_digest UNIQUE NULLS DISTINCT (digest)
);

CREATE INDEX ix_api_token_owner_id ON api_token (owner_id);

CREATE TABLE audit_event (
    id BIGSERIAL NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    actor_kind TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    object TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C",
    request_id TEXT COLLATE "C",
    detail JSONB NOT NULL,
    CONSTRAINT ck_audit_event_actor_kind CHECK (actor_kind = ANY (ARRAY['user'::text, 'token'::text, 'cli'::text, 'system'::text])),
    CONSTRAINT pk_audit_event PRIMARY KEY (id)
);

CREATE TABLE baseline (
    dataset_id BIGINT NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    author TEXT COLLATE "C",
    pinned_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT fk_baseline_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id) ON DELETE CASCADE,
    CONSTRAINT fk_baseline_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT pk_baseline PRIMARY KEY (dataset_id)
);

CREATE TABLE class_values (
    evaluation_id BIGINT NOT NULL,
    n_classes INTEGER NOT NULL,
    keys JSONB NOT NULL,
    reasons JSONB NOT NULL,
    data BYTEA NOT NULL,
    CONSTRAINT ck_class_values_n_classes CHECK (n_classes >= 1 AND n_classes <= 2147483647),
    CONSTRAINT fk_class_values_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE,
    CONSTRAINT pk_class_values PRIMARY KEY (evaluation_id)
);

ALTER TABLE class_values ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE comment (
    id BIGSERIAL NOT NULL,
    run_id TEXT COLLATE "C",
    dataset_id BIGINT,
    flag_id BIGINT,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    author TEXT COLLATE "C",
    text TEXT COLLATE "C" NOT NULL,
    CONSTRAINT ck_comment_about_one_thing CHECK ((,
    CONSTRAINT fk_comment_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id) ON DELETE CASCADE,
    CONSTRAINT fk_comment_flag_id_flag FOREIGN KEY(flag_id) REFERENCES flag (id) ON DELETE CASCADE,
    CONSTRAINT fk_comment_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT pk_comment PRIMARY KEY (id)
    CASE
    WHEN run_id IS NULL THEN 0
    ELSE 1
    END +
    CASE
    WHEN dataset_id IS NULL THEN 0
    ELSE 1
    END +
    CASE
    WHEN flag_id IS NULL THEN 0
    ELSE 1
    END) = 1)
);

CREATE INDEX ix_comment_dataset_id ON comment (dataset_id);

CREATE INDEX ix_comment_flag_id ON comment (flag_id);

CREATE INDEX ix_comment_run_id ON comment (run_id);

CREATE TABLE confusion_matrix (
    evaluation_id BIGINT NOT NULL,
    label_set_id BIGINT NOT NULL,
    n_classes INTEGER NOT NULL,
    cells BYTEA NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    CONSTRAINT ck_confusion_matrix_n_classes CHECK (n_classes >= 1 AND n_classes <= 2147483647),
    CONSTRAINT fk_confusion_matrix_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE,
    CONSTRAINT fk_confusion_matrix_label_set_id_label_set FOREIGN KEY(label_set_id) REFERENCES label_set (id),
    CONSTRAINT pk_confusion_matrix PRIMARY KEY (evaluation_id)
);

ALTER TABLE confusion_matrix ALTER COLUMN cells SET STORAGE EXTERNAL;

CREATE TABLE cost_matrix (
    id BIGSERIAL NOT NULL,
    project_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    label_set_id BIGINT NOT NULL,
    weights BYTEA NOT NULL,
    currency TEXT COLLATE "C",
    author TEXT COLLATE "C",
    note TEXT COLLATE "C",
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT ck_cost_matrix_version CHECK (version >= 1 AND version <= 2147483647),
    CONSTRAINT fk_cost_matrix_label_set_id_label_set FOREIGN KEY(label_set_id) REFERENCES label_set (id),
    CONSTRAINT fk_cost_matrix_project_id_project FOREIGN KEY(project_id) REFERENCES project (id),
    CONSTRAINT pk_cost_matrix PRIMARY KEY (id),
    CONSTRAINT uq_cost_matrix_project_id_name_version UNIQUE NULLS DISTINCT (project_id, name, version)
);

ALTER TABLE cost_matrix ALTER COLUMN weights SET STORAGE EXTERNAL;

CREATE TABLE counted_cases (
    run_id TEXT COLLATE "C" NOT NULL,
    n_kinds INTEGER NOT NULL,
    dtype TEXT COLLATE "C" NOT NULL,
    codec TEXT COLLATE "C" NOT NULL,
    actual BYTEA NOT NULL,
    predicted BYTEA NOT NULL,
    sizes BYTEA NOT NULL,
    scores BYTEA,
    CONSTRAINT ck_counted_cases_n_kinds CHECK (n_kinds >= 1 AND n_kinds <= 2147483647),
    CONSTRAINT fk_counted_cases_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT pk_counted_cases PRIMARY KEY (run_id)
);

ALTER TABLE counted_cases ALTER COLUMN actual SET STORAGE EXTERNAL;

ALTER TABLE counted_cases ALTER COLUMN predicted SET STORAGE EXTERNAL;

ALTER TABLE counted_cases ALTER COLUMN sizes SET STORAGE EXTERNAL;

ALTER TABLE counted_cases ALTER COLUMN scores SET STORAGE EXTERNAL;

CREATE TABLE counted_slice (
    run_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    levels JSONB NOT NULL,
    dtype TEXT COLLATE "C" NOT NULL,
    codec TEXT COLLATE "C" NOT NULL,
    codes BYTEA NOT NULL,
    CONSTRAINT fk_counted_slice_run_id_counted_cases FOREIGN KEY(run_id) REFERENCES counted_cases (run_id) ON DELETE CASCADE,
    CONSTRAINT pk_counted_slice PRIMARY KEY (run_id, name)
);

ALTER TABLE counted_slice ALTER COLUMN codes SET STORAGE EXTERNAL;

CREATE TABLE dataset (
    id BIGSERIAL NOT NULL,
    project_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    label_set_id BIGINT NOT NULL,
    labels_inferred BOOLEAN NOT NULL,
    positive_label TEXT COLLATE "C",
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    default_cost_matrix_id BIGINT,
    hierarchy JSONB,
    positive_by_convention BOOLEAN DEFAULT false NOT NULL,
    primary_metric TEXT COLLATE "C",
    image_template TEXT COLLATE "C",
    link_template TEXT COLLATE "C",
    content_hidden BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT ck_dataset_task CHECK (task = ANY (ARRAY['binary'::text, 'multiclass'::text, 'multilabel'::text])),
    CONSTRAINT fk_dataset_default_cost_matrix_id_cost_matrix FOREIGN KEY(default_cost_matrix_id) REFERENCES cost_matrix (id),
    CONSTRAINT fk_dataset_label_set_id_label_set FOREIGN KEY(label_set_id) REFERENCES label_set (id),
    CONSTRAINT fk_dataset_project_id_project FOREIGN KEY(project_id) REFERENCES project (id),
    CONSTRAINT pk_dataset PRIMARY KEY (id),
    CONSTRAINT uq_dataset_project_id_name UNIQUE NULLS DISTINCT (project_id, name)
);

CREATE TABLE delivery (
    id BIGSERIAL NOT NULL,
    issue_id BIGINT NOT NULL,
    target JSONB NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    error TEXT COLLATE "C",
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT ck_delivery_attempts CHECK (attempts >= 0 AND attempts <= 2147483647),
    CONSTRAINT ck_delivery_sent_at CHECK ((state = 'sent'::text) = (sent_at IS NOT NULL)),
    CONSTRAINT ck_delivery_state CHECK (state = ANY (ARRAY['pending'::text, 'sent'::text, 'failed'::text, 'refused'::text])),
    CONSTRAINT fk_delivery_issue_id_report_issue FOREIGN KEY(issue_id) REFERENCES report_issue (id) ON DELETE CASCADE,
    CONSTRAINT pk_delivery PRIMARY KEY (id)
);

CREATE INDEX ix_delivery_issue_id ON delivery (issue_id);

CREATE TABLE evaluation (
    id BIGSERIAL NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    truth_version_id BIGINT,
    suite_version INTEGER NOT NULL,
    engine_version TEXT COLLATE "C" NOT NULL,
    input_digest TEXT COLLATE "C" NOT NULL,
    n_cases BIGINT NOT NULL,
    is_current BOOLEAN NOT NULL,
    computed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    duration_s DOUBLE PRECISION NOT NULL,
    slice TEXT COLLATE "C",
    n_labelled BIGINT NOT NULL,
    hides_minority BOOLEAN,
    rules_digest TEXT COLLATE "C",
    cost_matrix_id BIGINT,
    baseline_run_id TEXT COLLATE "C",
    lowest_recall DOUBLE PRECISION,
    CONSTRAINT ck_evaluation_duration_s CHECK (duration_s >= '-1e+300'::double precision AND duration_s <= '1e+300'::double precision),
    CONSTRAINT ck_evaluation_n_cases CHECK (n_cases >= 0 AND n_cases <= '9223372036854775807'::bigint),
    CONSTRAINT ck_evaluation_n_labelled CHECK (n_labelled >= 0 AND n_labelled <= n_cases),
    CONSTRAINT ck_evaluation_suite_version CHECK (suite_version >= 1 AND suite_version <= 2147483647),
    CONSTRAINT fk_evaluation_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT fk_evaluation_truth_version_id_truth_version FOREIGN KEY(truth_version_id) REFERENCES truth_version (id),
    CONSTRAINT pk_evaluation PRIMARY KEY (id),
    CONSTRAINT uq_evaluation_run_id_input_digest UNIQUE NULLS DISTINCT (run_id, input_digest)
);

CREATE INDEX ix_evaluation_lowest_recall_run_id_current ON evaluation (lowest_recall, run_id) WHERE (is_current AND (slice IS NULL));

CREATE INDEX ix_evaluation_truth_version_id_run_id_current ON evaluation (truth_version_id, run_id) WHERE (is_current AND (slice IS NULL));

CREATE UNIQUE INDEX uq_evaluation_run_id_current ON evaluation (run_id) WHERE (is_current AND (slice IS NULL));

CREATE UNIQUE INDEX uq_evaluation_run_id_slice_current ON evaluation (run_id, slice) WHERE (is_current AND (slice IS NOT NULL));

CREATE TABLE flag (
    id BIGSERIAL NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    rule TEXT COLLATE "C" NOT NULL,
    rule_version INTEGER NOT NULL,
    class_label TEXT COLLATE "C" NOT NULL,
    severity TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C" NOT NULL,
    evidence JSONB NOT NULL,
    fired JSONB NOT NULL,
    thresholds JSONB NOT NULL,
    in_badge BOOLEAN NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    settled_severity TEXT COLLATE "C",
    snoozed_until TIMESTAMP WITH TIME ZONE,
    reason TEXT COLLATE "C",
    assignee TEXT COLLATE "C",
    first_seen TIMESTAMP WITH TIME ZONE NOT NULL,
    last_seen TIMESTAMP WITH TIME ZONE NOT NULL,
    closed_at TIMESTAMP WITH TIME ZONE,
    evaluation_id BIGINT,
    slice TEXT COLLATE "C" DEFAULT ''::text NOT NULL,
    CONSTRAINT ck_flag_closed_at CHECK ((state = 'closed'::text) = (closed_at IS NOT NULL)),
    CONSTRAINT ck_flag_dismissed_for_reason CHECK (state <> 'dismissed'::text OR reason IS NOT NULL),
    CONSTRAINT ck_flag_rule_version CHECK (rule_version >= 1 AND rule_version <= 2147483647),
    CONSTRAINT ck_flag_settled_severity CHECK (settled_severity = ANY (ARRAY['info'::text, 'medium'::text, 'high'::text, 'critical'::text])),
    CONSTRAINT ck_flag_severity CHECK (severity = ANY (ARRAY['info'::text, 'medium'::text, 'high'::text, 'critical'::text])),
    CONSTRAINT ck_flag_snoozed_until CHECK ((state = 'snoozed'::text) = (snoozed_until IS NOT NULL)),
    CONSTRAINT ck_flag_state CHECK (state = ANY (ARRAY['open'::text, 'acknowledged'::text, 'snoozed'::text, 'dismissed'::text, 'closed'::text])),
    CONSTRAINT fk_flag_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE SET NULL,
    CONSTRAINT fk_flag_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT pk_flag PRIMARY KEY (id)
);

CREATE INDEX ix_flag_evaluation_id ON flag (evaluation_id);

CREATE INDEX ix_flag_run_id_class_label_badge ON flag (run_id, class_label) WHERE (in_badge AND (state <> ALL (ARRAY['closed'::text, 'dismissed'::text])));

CREATE INDEX ix_flag_run_id_state ON flag (run_id, state);

CREATE INDEX ix_flag_state_severity_id ON flag (state, severity, id);

CREATE UNIQUE INDEX uq_flag_slice ON flag (run_id, rule, class_label, slice);

CREATE TABLE flag_event (
    id BIGSERIAL NOT NULL,
    flag_id BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    author TEXT COLLATE "C",
    kind TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C",
    CONSTRAINT ck_flag_event_kind CHECK (kind = ANY (ARRAY['opened'::text, 'acknowledged'::text, 'snoozed'::text, 'dismissed'::text, 'reopened'::text, 'closed'::text, 'assigned'::text, 'commented'::text, 'updated'::text])),
    CONSTRAINT fk_flag_event_flag_id_flag FOREIGN KEY(flag_id) REFERENCES flag (id) ON DELETE CASCADE,
    CONSTRAINT pk_flag_event PRIMARY KEY (id)
);

CREATE INDEX ix_flag_event_flag_id ON flag_event (flag_id);

CREATE TABLE heartbeat (
    name TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    host TEXT COLLATE "C" NOT NULL,
    pid INTEGER NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    seen_at DOUBLE PRECISION NOT NULL,
    CONSTRAINT ck_heartbeat_kind CHECK (kind = ANY (ARRAY['worker'::text, 'scheduler'::text])),
    CONSTRAINT ck_heartbeat_pid CHECK (pid >= 0 AND pid <= 2147483647),
    CONSTRAINT ck_heartbeat_seen_at CHECK (seen_at >= '-1e+300'::double precision AND seen_at <= '1e+300'::double precision),
    CONSTRAINT pk_heartbeat PRIMARY KEY (name)
);

CREATE TABLE kept_answer (
    scope TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    claimed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    status INTEGER,
    body TEXT COLLATE "C",
    CONSTRAINT pk_kept_answer PRIMARY KEY (scope, key)
);

CREATE INDEX ix_kept_answer_claimed_at ON kept_answer (claimed_at);

CREATE TABLE label_answer (
    dataset_id BIGINT NOT NULL,
    published_in INTEGER NOT NULL,
    sample TEXT COLLATE "C" NOT NULL,
    author TEXT COLLATE "C" NOT NULL,
    is_final BOOLEAN NOT NULL,
    label TEXT COLLATE "C",
    note TEXT COLLATE "C",
    answered_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT fk_label_answer_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id) ON DELETE CASCADE,
    CONSTRAINT pk_label_answer PRIMARY KEY (dataset_id, published_in, sample, author, is_final)
);

CREATE TABLE label_set (
    id BIGSERIAL NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    names JSONB NOT NULL,
    n_classes INTEGER NOT NULL,
    ordinal BOOLEAN NOT NULL,
    CONSTRAINT ck_label_set_n_classes CHECK (n_classes >= 1 AND n_classes <= 2147483647),
    CONSTRAINT pk_label_set PRIMARY KEY (id),
    CONSTRAINT uq_label_set_digest UNIQUE NULLS DISTINCT (digest)
);

CREATE TABLE membership (
    id BIGSERIAL NOT NULL,
    user_id BIGINT NOT NULL,
    project_id BIGINT,
    role TEXT COLLATE "C" NOT NULL,
    CONSTRAINT ck_membership_role CHECK (role = ANY (ARRAY['viewer'::text, 'labeler'::text, 'logger'::text, 'editor'::text, 'admin'::text])),
    CONSTRAINT fk_membership_project_id_project FOREIGN KEY(project_id) REFERENCES project (id) ON DELETE CASCADE,
    CONSTRAINT fk_membership_user_id_user_account FOREIGN KEY(user_id) REFERENCES user_account (id) ON DELETE CASCADE,
    CONSTRAINT pk_membership PRIMARY KEY (id),
    CONSTRAINT uq_membership_user_id_project_id UNIQUE NULLS DISTINCT (user_id, project_id)
);

CREATE UNIQUE INDEX uq_membership_user_id_everywhere ON membership (user_id) WHERE (project_id IS NULL);

CREATE TABLE metric_value (
    evaluation_id BIGINT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    class_index INTEGER NOT NULL,
    value DOUBLE PRECISION,
    reason TEXT COLLATE "C",
    tends_to TEXT COLLATE "C",
    ci_low DOUBLE PRECISION,
    ci_high DOUBLE PRECISION,
    ci_method TEXT COLLATE "C",
    CONSTRAINT ck_metric_value_ci_high CHECK (ci_high >= '-1e+300'::double precision AND ci_high <= '1e+300'::double precision),
    CONSTRAINT ck_metric_value_ci_low CHECK (ci_low >= '-1e+300'::double precision AND ci_low <= '1e+300'::double precision),
    CONSTRAINT ck_metric_value_class_index CHECK (class_index >= '-1'::integer AND class_index <= 2147483647),
    CONSTRAINT ck_metric_value_interval_has_a_method CHECK (ci_method IS NOT NULL OR ci_low IS NULL AND ci_high IS NULL),
    CONSTRAINT ck_metric_value_value CHECK (value >= '-1e+300'::double precision AND value <= '1e+300'::double precision),
    CONSTRAINT ck_metric_value_value_or_reason CHECK ((value IS NULL) = (reason IS NOT NULL)),
    CONSTRAINT fk_metric_value_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE,
    CONSTRAINT pk_metric_value PRIMARY KEY (evaluation_id, key, class_index)
);

CREATE INDEX ix_metric_value_key_class_index_value_evaluation_id ON metric_value (key, class_index, value, evaluation_id);

CREATE TABLE paired_counts (
    id TEXT COLLATE "C" NOT NULL,
    n_kinds INTEGER NOT NULL,
    dtype TEXT COLLATE "C" NOT NULL,
    codec TEXT COLLATE "C" NOT NULL,
    actual BYTEA NOT NULL,
    sizes BYTEA NOT NULL,
    slices JSONB NOT NULL,
    slice_codes BYTEA NOT NULL,
    CONSTRAINT ck_paired_counts_n_kinds CHECK (n_kinds >= 1 AND n_kinds <= 2147483647),
    CONSTRAINT pk_paired_counts PRIMARY KEY (id)
);

ALTER TABLE paired_counts ALTER COLUMN actual SET STORAGE EXTERNAL;

ALTER TABLE paired_counts ALTER COLUMN sizes SET STORAGE EXTERNAL;

ALTER TABLE paired_counts ALTER COLUMN slice_codes SET STORAGE EXTERNAL;

CREATE TABLE paired_run (
    run_id TEXT COLLATE "C" NOT NULL,
    paired_id TEXT COLLATE "C" NOT NULL,
    predicted BYTEA NOT NULL,
    CONSTRAINT fk_paired_run_paired_id_paired_counts FOREIGN KEY(paired_id) REFERENCES paired_counts (id),
    CONSTRAINT fk_paired_run_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT pk_paired_run PRIMARY KEY (run_id, paired_id)
);

CREATE INDEX ix_paired_run_paired_id ON paired_run (paired_id);

ALTER TABLE paired_run ALTER COLUMN predicted SET STORAGE EXTERNAL;

CREATE TABLE pending_slice (
    run_id TEXT COLLATE "C" NOT NULL,
    seq INTEGER NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    levels JSONB NOT NULL,
    dtype TEXT COLLATE "C" NOT NULL,
    codec TEXT COLLATE "C" NOT NULL,
    codes BYTEA NOT NULL,
    CONSTRAINT fk_pending_slice_run_id_seq_prediction_chunk FOREIGN KEY(run_id, seq) REFERENCES prediction_chunk (run_id, seq) ON DELETE CASCADE,
    CONSTRAINT pk_pending_slice PRIMARY KEY (run_id, seq, name)
);

ALTER TABLE pending_slice ALTER COLUMN codes SET STORAGE EXTERNAL;

CREATE TABLE pending_truth (
    run_id TEXT COLLATE "C" NOT NULL,
    seq INTEGER NOT NULL,
    dtype TEXT COLLATE "C",
    codes BYTEA,
    id_kind TEXT COLLATE "C" NOT NULL,
    sample_ids BYTEA,
    CONSTRAINT ck_pending_truth_id_kind CHECK (id_kind = ANY (ARRAY['position'::text, 'int'::text, 'text'::text])),
    CONSTRAINT fk_pending_truth_run_id_seq_prediction_chunk FOREIGN KEY(run_id, seq) REFERENCES prediction_chunk (run_id, seq) ON DELETE CASCADE,
    CONSTRAINT pk_pending_truth PRIMARY KEY (run_id, seq)
);

ALTER TABLE pending_truth ALTER COLUMN codes SET STORAGE EXTERNAL;

ALTER TABLE pending_truth ALTER COLUMN sample_ids SET STORAGE EXTERNAL;

CREATE TABLE prediction_chunk (
    run_id TEXT COLLATE "C" NOT NULL,
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
    dtype TEXT COLLATE "C" NOT NULL,
    codec TEXT COLLATE "C" NOT NULL,
    codes BYTEA NOT NULL,
    positions BYTEA,
    counts BYTEA,
    sha256 TEXT COLLATE "C" NOT NULL,
    weights BYTEA,
    CONSTRAINT ck_prediction_chunk_n CHECK (n >= 1 AND n <= 2147483647),
    CONSTRAINT ck_prediction_chunk_seq CHECK (seq >= 0 AND seq <= 2147483647),
    CONSTRAINT fk_prediction_chunk_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT pk_prediction_chunk PRIMARY KEY (run_id, seq)
);

ALTER TABLE prediction_chunk ALTER COLUMN codes SET STORAGE EXTERNAL;

ALTER TABLE prediction_chunk ALTER COLUMN positions SET STORAGE EXTERNAL;

ALTER TABLE prediction_chunk ALTER COLUMN counts SET STORAGE EXTERNAL;

ALTER TABLE prediction_chunk ALTER COLUMN weights SET STORAGE EXTERNAL;

CREATE TABLE problem (
    id BIGSERIAL NOT NULL,
    dataset_id BIGINT NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    cause TEXT COLLATE "C" NOT NULL,
    class_label TEXT COLLATE "C" NOT NULL,
    opened_at TIMESTAMP WITH TIME ZONE NOT NULL,
    slice TEXT COLLATE "C" DEFAULT ''::text NOT NULL,
    CONSTRAINT ck_problem_cause CHECK (cause = ANY (ARRAY['missed'::text, 'imprecise'::text, 'drop'::text, 'worthless'::text, 'hides'::text, 'cost'::text, 'orientation'::text, 'few_labels'::text, 'slice'::text])),
    CONSTRAINT fk_problem_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id) ON DELETE CASCADE,
    CONSTRAINT pk_problem PRIMARY KEY (id)
);

CREATE UNIQUE INDEX uq_problem_slice ON problem (dataset_id, model, cause, class_label, slice);

CREATE TABLE project (
    id BIGSERIAL NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_project PRIMARY KEY (id),
    CONSTRAINT uq_project_name UNIQUE NULLS DISTINCT (name)
);

CREATE TABLE promotion (
    id BIGSERIAL NOT NULL,
    dataset_id BIGINT NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C",
    run_name TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    author TEXT COLLATE "C",
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    truth_number INTEGER,
    metrics JSONB NOT NULL,
    gate JSONB,
    undefined JSONB,
    CONSTRAINT ck_promotion_champion_for_reason CHECK (role <> 'champion'::text OR reason IS NOT NULL),
    CONSTRAINT ck_promotion_role CHECK (role = ANY (ARRAY['champion'::text, 'candidate'::text])),
    CONSTRAINT fk_promotion_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id) ON DELETE CASCADE,
    CONSTRAINT pk_promotion PRIMARY KEY (id)
);

CREATE INDEX ix_promotion_dataset_id_role_id ON promotion (dataset_id, role, id);

CREATE TABLE report_file (
    issue_id BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    content_type TEXT COLLATE "C" NOT NULL,
    content BYTEA NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    CONSTRAINT ck_report_file_kind CHECK (kind = ANY (ARRAY['html'::text, 'markdown'::text, 'json'::text, 'csv'::text])),
    CONSTRAINT fk_report_file_issue_id_report_issue FOREIGN KEY(issue_id) REFERENCES report_issue (id) ON DELETE CASCADE,
    CONSTRAINT pk_report_file PRIMARY KEY (issue_id, kind)
);

CREATE TABLE report_issue (
    id BIGSERIAL NOT NULL,
    schedule_id BIGINT,
    project_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    number INTEGER NOT NULL,
    fire_time TEXT COLLATE "C" NOT NULL,
    due DOUBLE PRECISION NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    covers_missed INTEGER DEFAULT 0 NOT NULL,
    scope JSONB NOT NULL,
    delivery JSONB NOT NULL,
    headline TEXT COLLATE "C",
    data_digest TEXT COLLATE "C",
    error TEXT COLLATE "C",
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    computed_at TIMESTAMP WITH TIME ZONE,
    summary JSONB,
    CONSTRAINT ck_report_issue_computed_at CHECK ((state = 'computed'::text) = (computed_at IS NOT NULL)),
    CONSTRAINT ck_report_issue_computed_says_something CHECK ((state = 'computed'::text) = (headline IS NOT NULL AND data_digest IS NOT NULL)),
    CONSTRAINT ck_report_issue_covers_missed CHECK (covers_missed >= 0 AND covers_missed <= 2147483647),
    CONSTRAINT ck_report_issue_due CHECK (due >= '-1e+300'::double precision AND due <= '1e+300'::double precision),
    CONSTRAINT ck_report_issue_failed_says_why CHECK ((state = 'failed'::text) = (error IS NOT NULL)),
    CONSTRAINT ck_report_issue_number CHECK (number >= 1 AND number <= 2147483647),
    CONSTRAINT ck_report_issue_state CHECK (state = ANY (ARRAY['pending'::text, 'computed'::text, 'failed'::text])),
    CONSTRAINT fk_report_issue_project_id_project FOREIGN KEY(project_id) REFERENCES project (id),
    CONSTRAINT fk_report_issue_schedule_id_schedule FOREIGN KEY(schedule_id) REFERENCES schedule (id) ON DELETE SET NULL,
    CONSTRAINT pk_report_issue PRIMARY KEY (id),
    CONSTRAINT uq_report_issue_project_id_name_number UNIQUE NULLS DISTINCT (project_id, name, number),
    CONSTRAINT uq_report_issue_schedule_id_fire_time UNIQUE NULLS DISTINCT (schedule_id, fire_time)
);

CREATE TABLE run (
    id TEXT COLLATE "C" NOT NULL,
    project_id BIGINT NOT NULL,
    dataset_id BIGINT NOT NULL,
    truth_version_id BIGINT,
    name TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C",
    state TEXT COLLATE "C" NOT NULL,
    client_key TEXT COLLATE "C",
    params JSONB NOT NULL,
    tags JSONB NOT NULL,
    author TEXT COLLATE "C",
    git_sha TEXT COLLATE "C",
    source_orientation TEXT COLLATE "C" NOT NULL,
    orientation_evidence JSONB,
    orientation_verdict TEXT COLLATE "C",
    n_predictions BIGINT DEFAULT 0 NOT NULL,
    score_columns INTEGER DEFAULT 0 NOT NULL,
    content_digest TEXT COLLATE "C",
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    deleted_at TIMESTAMP WITH TIME ZONE,
    deleted_by TEXT COLLATE "C",
    derived_from TEXT COLLATE "C",
    derivation JSONB,
    note TEXT COLLATE "C",
    is_weighted BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT ck_run_n_predictions CHECK (n_predictions >= 0 AND n_predictions <= '9223372036854775807'::bigint),
    CONSTRAINT ck_run_open_until_finished_at CHECK ((state = 'open'::text) = (finished_at IS NULL)),
    CONSTRAINT ck_run_orientation_verdict CHECK (orientation_verdict = ANY (ARRAY['canonical'::text, 'transposed'::text, 'ambiguous'::text, 'inconsistent'::text, 'unverified'::text])),
    CONSTRAINT ck_run_score_columns CHECK (score_columns >= 0 AND score_columns <= 2147483647),
    CONSTRAINT ck_run_source_orientation CHECK (source_orientation = ANY (ARRAY['predictions'::text, 'actual_rows'::text, 'actual_columns'::text])),
    CONSTRAINT ck_run_state CHECK (state = ANY (ARRAY['open'::text, 'finished'::text, 'evaluated'::text, 'failed'::text])),
    CONSTRAINT fk_run_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id),
    CONSTRAINT fk_run_project_id_project FOREIGN KEY(project_id) REFERENCES project (id),
    CONSTRAINT fk_run_truth_version_id_truth_version FOREIGN KEY(truth_version_id) REFERENCES truth_version (id),
    CONSTRAINT pk_run PRIMARY KEY (id),
    CONSTRAINT uq_run_project_id_client_key UNIQUE NULLS DISTINCT (project_id, client_key)
);

CREATE INDEX ix_run_created_at_id_name_deleted_at ON run (created_at, id, name, deleted_at) WHERE (deleted_at IS NULL);

CREATE INDEX ix_run_dataset_id_created_at_id_deleted_at ON run (dataset_id, created_at, id, deleted_at) WHERE (deleted_at IS NULL);

CREATE INDEX ix_run_deleted_at ON run (deleted_at) WHERE (deleted_at IS NOT NULL);

CREATE INDEX ix_run_is_weighted ON run (is_weighted) WHERE is_weighted;

CREATE INDEX ix_run_model_created_at_deleted_at ON run (model, created_at, deleted_at) WHERE (deleted_at IS NULL);

CREATE INDEX ix_run_name_id_deleted_at ON run (name, id, deleted_at) WHERE (deleted_at IS NULL);

CREATE INDEX ix_run_project_id_created_at_deleted_at ON run (project_id, created_at, deleted_at) WHERE (deleted_at IS NULL);

CREATE INDEX ix_run_state ON run (state);

CREATE TABLE sample_content (
    dataset_id BIGINT NOT NULL,
    sample TEXT COLLATE "C" NOT NULL,
    logged_at TIMESTAMP WITH TIME ZONE NOT NULL,
    text TEXT COLLATE "C",
    fields JSONB,
    audio TEXT COLLATE "C",
    image_digest TEXT COLLATE "C",
    image_type TEXT COLLATE "C",
    thumbnail BYTEA,
    image BYTEA,
    CONSTRAINT ck_sample_content_whole_image CHECK ((image_digest IS NULL) = (thumbnail IS NULL) AND (image_digest IS NULL) = (image_type IS NULL)),
    CONSTRAINT fk_sample_content_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id) ON DELETE CASCADE,
    CONSTRAINT pk_sample_content PRIMARY KEY (dataset_id, sample)
);

ALTER TABLE sample_content ALTER COLUMN thumbnail SET STORAGE EXTERNAL;

ALTER TABLE sample_content ALTER COLUMN image SET STORAGE EXTERNAL;

CREATE TABLE saved_view (
    slug TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    page TEXT COLLATE "C" NOT NULL,
    query TEXT COLLATE "C" NOT NULL,
    author TEXT COLLATE "C",
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_saved_view PRIMARY KEY (slug),
    CONSTRAINT uq_saved_view_page_name UNIQUE NULLS DISTINCT (page, name)
);

CREATE TABLE schedule (
    id BIGSERIAL NOT NULL,
    project_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    cron TEXT COLLATE "C" NOT NULL,
    zone TEXT COLLATE "C" NOT NULL,
    scope JSONB NOT NULL,
    delivery JSONB NOT NULL,
    enabled BOOLEAN NOT NULL,
    version INTEGER NOT NULL,
    last_fire TEXT COLLATE "C",
    next_due DOUBLE PRECISION,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT ck_schedule_due_while_enabled CHECK (enabled = (next_due IS NOT NULL)),
    CONSTRAINT ck_schedule_next_due CHECK (next_due >= '-1e+300'::double precision AND next_due <= '1e+300'::double precision),
    CONSTRAINT ck_schedule_version CHECK (version >= 1 AND version <= 2147483647),
    CONSTRAINT fk_schedule_project_id_project FOREIGN KEY(project_id) REFERENCES project (id),
    CONSTRAINT pk_schedule PRIMARY KEY (id),
    CONSTRAINT uq_schedule_project_id_name UNIQUE NULLS DISTINCT (project_id, name)
);

CREATE INDEX ix_schedule_next_due ON schedule (next_due) WHERE (next_due IS NOT NULL);

CREATE TABLE score_chunk (
    run_id TEXT COLLATE "C" NOT NULL,
    seq INTEGER NOT NULL,
    n_columns INTEGER NOT NULL,
    dtype TEXT COLLATE "C" NOT NULL,
    codec TEXT COLLATE "C" NOT NULL,
    scores BYTEA NOT NULL,
    CONSTRAINT ck_score_chunk_n_columns CHECK (n_columns >= 1 AND n_columns <= 2147483647),
    CONSTRAINT fk_score_chunk_run_id_seq_prediction_chunk FOREIGN KEY(run_id, seq) REFERENCES prediction_chunk (run_id, seq) ON DELETE CASCADE,
    CONSTRAINT pk_score_chunk PRIMARY KEY (run_id, seq)
);

ALTER TABLE score_chunk ALTER COLUMN scores SET STORAGE EXTERNAL;

CREATE TABLE score_curve (
    evaluation_id BIGINT NOT NULL,
    class_index INTEGER NOT NULL,
    n_positive BIGINT NOT NULL,
    n_negative BIGINT NOT NULL,
    n_thresholds BIGINT NOT NULL,
    points BYTEA NOT NULL,
    bins BYTEA,
    histogram BYTEA NOT NULL,
    CONSTRAINT ck_score_curve_class_index CHECK (class_index >= '-1'::integer AND class_index <= 2147483647),
    CONSTRAINT ck_score_curve_n_negative CHECK (n_negative >= 0 AND n_negative <= '9223372036854775807'::bigint),
    CONSTRAINT ck_score_curve_n_positive CHECK (n_positive >= 0 AND n_positive <= '9223372036854775807'::bigint),
    CONSTRAINT ck_score_curve_n_thresholds CHECK (n_thresholds >= 0 AND n_thresholds <= '9223372036854775807'::bigint),
    CONSTRAINT fk_score_curve_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE,
    CONSTRAINT pk_score_curve PRIMARY KEY (evaluation_id, class_index)
);

ALTER TABLE score_curve ALTER COLUMN points SET STORAGE EXTERNAL;

ALTER TABLE score_curve ALTER COLUMN bins SET STORAGE EXTERNAL;

ALTER TABLE score_curve ALTER COLUMN histogram SET STORAGE EXTERNAL;

CREATE TABLE share_link (
    id BIGSERIAL NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    owner_id BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    used_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT fk_share_link_owner_id_user_account FOREIGN KEY(owner_id) REFERENCES user_account (id) ON DELETE CASCADE,
    CONSTRAINT pk_share_link PRIMARY KEY (id),
    CONSTRAINT uq_share_link_digest UNIQUE NULLS DISTINCT (digest)
);

CREATE INDEX ix_share_link_owner_id ON share_link (owner_id);

CREATE TABLE slice_counts (
    evaluation_id BIGINT NOT NULL,
    columns_digest TEXT COLLATE "C" NOT NULL,
    columns JSONB NOT NULL,
    n_slices INTEGER NOT NULL,
    n_parts INTEGER NOT NULL,
    n_left_out INTEGER NOT NULL,
    dtype TEXT COLLATE "C" NOT NULL,
    members BYTEA NOT NULL,
    numbers BYTEA NOT NULL,
    CONSTRAINT ck_slice_counts_n_left_out CHECK (n_left_out >= 0 AND n_left_out <= 2147483647),
    CONSTRAINT ck_slice_counts_n_parts CHECK (n_parts >= 1 AND n_parts <= 2147483647),
    CONSTRAINT ck_slice_counts_n_slices CHECK (n_slices >= 0 AND n_slices <= 2147483647),
    CONSTRAINT fk_slice_counts_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE,
    CONSTRAINT pk_slice_counts PRIMARY KEY (evaluation_id)
);

ALTER TABLE slice_counts ALTER COLUMN members SET STORAGE EXTERNAL;

ALTER TABLE slice_counts ALTER COLUMN numbers SET STORAGE EXTERNAL;

CREATE TABLE truth_chunk (
    truth_version_id BIGINT NOT NULL,
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
    dtype TEXT COLLATE "C" NOT NULL,
    codec TEXT COLLATE "C" NOT NULL,
    codes BYTEA NOT NULL,
    sample_ids BYTEA,
    sha256 TEXT COLLATE "C" NOT NULL,
    CONSTRAINT ck_truth_chunk_n CHECK (n >= 1 AND n <= 2147483647),
    CONSTRAINT ck_truth_chunk_seq CHECK (seq >= 0 AND seq <= 2147483647),
    CONSTRAINT fk_truth_chunk_truth_version_id_truth_version FOREIGN KEY(truth_version_id) REFERENCES truth_version (id),
    CONSTRAINT pk_truth_chunk PRIMARY KEY (truth_version_id, seq)
);

ALTER TABLE truth_chunk ALTER COLUMN codes SET STORAGE EXTERNAL;

ALTER TABLE truth_chunk ALTER COLUMN sample_ids SET STORAGE EXTERNAL;

CREATE TABLE truth_slice (
    truth_version_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    levels JSONB NOT NULL,
    dtype TEXT COLLATE "C" NOT NULL,
    codec TEXT COLLATE "C" NOT NULL,
    codes BYTEA NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT fk_truth_slice_truth_version_id_truth_version FOREIGN KEY(truth_version_id) REFERENCES truth_version (id) ON DELETE CASCADE,
    CONSTRAINT pk_truth_slice PRIMARY KEY (truth_version_id, name)
);

ALTER TABLE truth_slice ALTER COLUMN codes SET STORAGE EXTERNAL;

CREATE TABLE truth_version (
    id BIGSERIAL NOT NULL,
    dataset_id BIGINT NOT NULL,
    number INTEGER NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    n_samples BIGINT NOT NULL,
    id_kind TEXT COLLATE "C" NOT NULL,
    class_counts JSONB NOT NULL,
    origin TEXT COLLATE "C" NOT NULL,
    parent_id BIGINT,
    reason TEXT COLLATE "C",
    author TEXT COLLATE "C",
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    root_id BIGINT NOT NULL,
    n_labelled BIGINT NOT NULL,
    CONSTRAINT ck_truth_version_id_kind CHECK (id_kind = ANY (ARRAY['position'::text, 'int'::text, 'text'::text])),
    CONSTRAINT ck_truth_version_n_labelled CHECK (n_labelled >= 0 AND n_labelled <= n_samples),
    CONSTRAINT ck_truth_version_n_samples CHECK (n_samples >= 0 AND n_samples <= '9223372036854775807'::bigint),
    CONSTRAINT ck_truth_version_number CHECK (number >= 1 AND number <= 2147483647),
    CONSTRAINT ck_truth_version_origin CHECK (origin = ANY (ARRAY['logged'::text, 'revised'::text])),
    CONSTRAINT ck_truth_version_revised_for_a_reason CHECK (parent_id IS NULL OR reason IS NOT NULL),
    CONSTRAINT ck_truth_version_revised_from_a_parent CHECK ((origin = 'revised'::text) = (parent_id IS NOT NULL)),
    CONSTRAINT fk_truth_version_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id),
    CONSTRAINT fk_truth_version_parent_id_truth_version FOREIGN KEY(parent_id) REFERENCES truth_version (id),
    CONSTRAINT fk_truth_version_root_id_truth_version FOREIGN KEY(root_id) REFERENCES truth_version (id) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT pk_truth_version PRIMARY KEY (id),
    CONSTRAINT uq_truth_version_dataset_id_number UNIQUE NULLS DISTINCT (dataset_id, number)
);

CREATE INDEX ix_truth_version_dataset_id_root_id_number ON truth_version (dataset_id, root_id, number);

CREATE UNIQUE INDEX uq_truth_version_dataset_id_digest_logged ON truth_version (dataset_id, digest) WHERE (origin = 'logged'::text);

CREATE UNIQUE INDEX uq_truth_version_parent_id ON truth_version (parent_id);

CREATE TABLE uploaded_matrix (
    run_id TEXT COLLATE "C" NOT NULL,
    n_classes INTEGER NOT NULL,
    cells BYTEA NOT NULL,
    CONSTRAINT ck_uploaded_matrix_n_classes CHECK (n_classes >= 1 AND n_classes <= 2147483647),
    CONSTRAINT fk_uploaded_matrix_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT pk_uploaded_matrix PRIMARY KEY (run_id)
);

ALTER TABLE uploaded_matrix ALTER COLUMN cells SET STORAGE EXTERNAL;

CREATE TABLE user_account (
    id BIGSERIAL NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    display_name TEXT COLLATE "C",
    email TEXT COLLATE "C",
    password_hash TEXT COLLATE "C",
    disabled_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    signed_in_at TIMESTAMP WITH TIME ZONE,
    news_seen_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_user_account PRIMARY KEY (id),
    CONSTRAINT uq_user_account_name UNIQUE NULLS DISTINCT (name)
);

CREATE TABLE user_session (
    digest TEXT COLLATE "C" NOT NULL,
    user_id BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT fk_user_session_user_id_user_account FOREIGN KEY(user_id) REFERENCES user_account (id) ON DELETE CASCADE,
    CONSTRAINT pk_user_session PRIMARY KEY (digest)
);

CREATE INDEX ix_user_session_user_id ON user_session (user_id);

CREATE TABLE work (
    id BIGSERIAL NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    args JSONB NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    due DOUBLE PRECISION NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    lease TEXT COLLATE "C",
    lease_until DOUBLE PRECISION,
    error TEXT COLLATE "C",
    created_at DOUBLE PRECISION NOT NULL,
    project_id BIGINT,
    size BIGINT,
    request_id TEXT COLLATE "C",
    losses INTEGER DEFAULT 0 NOT NULL,
    CONSTRAINT ck_work_attempts CHECK (attempts >= 0 AND attempts <= 2147483647),
    CONSTRAINT ck_work_state CHECK (state = ANY (ARRAY['todo'::text, 'doing'::text, 'dead'::text])),
    CONSTRAINT pk_work PRIMARY KEY (id)
);

CREATE INDEX ix_work_due_id_todo ON work (due, id) WHERE (state = 'todo'::text);

CREATE INDEX ix_work_lease_until_doing ON work (lease_until) WHERE (state = 'doing'::text);

CREATE INDEX ix_work_project_id_due_id_todo ON work (project_id, due, id) WHERE (state = 'todo'::text);

CREATE UNIQUE INDEX uq_work_key_todo ON work (key) WHERE (state = 'todo'::text);
