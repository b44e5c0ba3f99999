CREATE TABLE api_token (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    digest TEXT NOT NULL,
    owner_id INTEGER NOT NULL,
    role TEXT NOT NULL,
    project_id INTEGER,
    created_at DATETIME NOT NULL,
    expires_at DATETIME,
    used_at DATETIME,
    revoked_at DATETIME,
    CONSTRAINT ck_api_token_role CHECK (role IN ('viewer', 'labeler', 'logger', 'editor', 'admin')),
    CONSTRAINT fk_api_token_owner_id_user_account FOREIGN KEY(owner_id) REFERENCES user_account (id) ON DELETE CASCADE,
    CONSTRAINT fk_api_token_project_id_project FOREIGN KEY(project_id) REFERENCES project (id) ON DELETE CASCADE,
    CONSTRAINT uq_api_token_digest UNIQUE (digest)
);

CREATE INDEX ix_api_token_owner_id ON api_token (owner_id);

CREATE TABLE audit_event (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at DATETIME NOT NULL,
    actor_kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    object TEXT NOT NULL,
    project TEXT,
    request_id TEXT,
    detail JSON NOT NULL,
    CONSTRAINT ck_audit_event_actor_kind CHECK (actor_kind IN ('user', 'token', 'cli', 'system'))
);

CREATE TABLE baseline (
    dataset_id INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    author TEXT,
    pinned_at DATETIME NOT NULL,
    CONSTRAINT fk_baseline_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id) ON DELETE CASCADE,
    CONSTRAINT fk_baseline_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT pk_baseline PRIMARY KEY (dataset_id)
);

CREATE TABLE class_values (
    evaluation_id INTEGER NOT NULL,
    n_classes INTEGER NOT NULL,
    keys JSON NOT NULL,
    reasons JSON NOT NULL,
    data BLOB NOT NULL,
    CONSTRAINT ck_class_values_n_classes CHECK (n_classes BETWEEN 1 AND 2147483647),
    CONSTRAINT fk_class_values_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE,
    CONSTRAINT pk_class_values PRIMARY KEY (evaluation_id)
);

CREATE TABLE comment (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    run_id TEXT,
    dataset_id INTEGER,
    flag_id INTEGER,
    at DATETIME NOT NULL,
    author TEXT,
    text TEXT NOT NULL,
    CONSTRAINT ck_comment_about_one_thing CHECK (CASE WHEN run_id IS NULL THEN 0 ELSE 1 END + CASE WHEN dataset_id IS NULL THEN 0 ELSE 1 END + CASE WHEN flag_id IS NULL THEN 0 ELSE 1 END = 1),
    CONSTRAINT fk_comment_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id) ON DELETE CASCADE,
    CONSTRAINT fk_comment_flag_id_flag FOREIGN KEY(flag_id) REFERENCES flag (id) ON DELETE CASCADE,
    CONSTRAINT fk_comment_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
);

CREATE INDEX ix_comment_dataset_id ON comment (dataset_id);

CREATE INDEX ix_comment_flag_id ON comment (flag_id);

CREATE INDEX ix_comment_run_id ON comment (run_id);

CREATE TABLE confusion_matrix (
    evaluation_id INTEGER NOT NULL,
    label_set_id INTEGER NOT NULL,
    n_classes INTEGER NOT NULL,
    cells BLOB NOT NULL,
    digest TEXT NOT NULL,
    CONSTRAINT ck_confusion_matrix_n_classes CHECK (n_classes BETWEEN 1 AND 2147483647),
    CONSTRAINT fk_confusion_matrix_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE,
    CONSTRAINT fk_confusion_matrix_label_set_id_label_set FOREIGN KEY(label_set_id) REFERENCES label_set (id),
    CONSTRAINT pk_confusion_matrix PRIMARY KEY (evaluation_id)
);

CREATE TABLE cost_matrix (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    label_set_id INTEGER NOT NULL,
    weights BLOB NOT NULL,
    currency TEXT,
    author TEXT,
    note TEXT,
    created_at DATETIME NOT NULL,
    CONSTRAINT ck_cost_matrix_version CHECK (version BETWEEN 1 AND 2147483647),
    CONSTRAINT fk_cost_matrix_label_set_id_label_set FOREIGN KEY(label_set_id) REFERENCES label_set (id),
    CONSTRAINT fk_cost_matrix_project_id_project FOREIGN KEY(project_id) REFERENCES project (id),
    CONSTRAINT uq_cost_matrix_project_id_name_version UNIQUE (project_id, name, version)
);

CREATE TABLE counted_cases (
    run_id TEXT NOT NULL,
    n_kinds INTEGER NOT NULL,
    dtype TEXT NOT NULL,
    codec TEXT NOT NULL,
    actual BLOB NOT NULL,
    predicted BLOB NOT NULL,
    sizes BLOB NOT NULL, scores BLOB,
    CONSTRAINT ck_counted_cases_n_kinds CHECK (n_kinds BETWEEN 1 AND 2147483647),
    CONSTRAINT fk_counted_cases_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT pk_counted_cases PRIMARY KEY (run_id)
);

CREATE TABLE counted_slice (
    run_id TEXT NOT NULL,
    name TEXT NOT NULL,
    levels JSON NOT NULL,
    dtype TEXT NOT NULL,
    codec TEXT NOT NULL,
    codes BLOB NOT NULL,
    CONSTRAINT fk_counted_slice_run_id_counted_cases FOREIGN KEY(run_id) REFERENCES counted_cases (run_id) ON DELETE CASCADE,
    CONSTRAINT pk_counted_slice PRIMARY KEY (run_id, name)
);

CREATE TABLE dataset (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    task TEXT NOT NULL,
    label_set_id INTEGER NOT NULL,
    labels_inferred BOOLEAN NOT NULL,
    positive_label TEXT,
    created_at DATETIME NOT NULL,
    default_cost_matrix_id INTEGER, hierarchy JSON, positive_by_convention BOOLEAN DEFAULT 0 NOT NULL, primary_metric TEXT, image_template TEXT, link_template TEXT, content_hidden BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT ck_dataset_task CHECK (task IN ('binary', 'multiclass', 'multilabel')),
    CONSTRAINT fk_dataset_default_cost_matrix_id_cost_matrix FOREIGN KEY(default_cost_matrix_id) REFERENCES cost_matrix (id),
    CONSTRAINT fk_dataset_label_set_id_label_set FOREIGN KEY(label_set_id) REFERENCES label_set (id),
    CONSTRAINT fk_dataset_project_id_project FOREIGN KEY(project_id) REFERENCES project (id),
    CONSTRAINT uq_dataset_project_id_name UNIQUE (project_id, name)
);

CREATE TABLE delivery (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    issue_id INTEGER NOT NULL,
    target JSON NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    error TEXT,
    created_at DATETIME NOT NULL,
    sent_at DATETIME,
    CONSTRAINT ck_delivery_attempts CHECK (attempts BETWEEN 0 AND 2147483647),
    CONSTRAINT ck_delivery_sent_at CHECK ((state = 'sent') = (sent_at IS NOT NULL)),
    CONSTRAINT ck_delivery_state CHECK (state IN ('pending', 'sent', 'failed', 'refused')),
    CONSTRAINT fk_delivery_issue_id_report_issue FOREIGN KEY(issue_id) REFERENCES report_issue (id) ON DELETE CASCADE
);

CREATE INDEX ix_delivery_issue_id ON delivery (issue_id);

CREATE TABLE evaluation (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL,
    truth_version_id INTEGER,
    suite_version INTEGER NOT NULL,
    engine_version TEXT NOT NULL,
    input_digest TEXT NOT NULL,
    n_cases BIGINT NOT NULL,
    is_current BOOLEAN NOT NULL,
    computed_at DATETIME NOT NULL,
    duration_s DOUBLE NOT NULL,
    slice TEXT,
    n_labelled BIGINT NOT NULL, hides_minority BOOLEAN, rules_digest TEXT, cost_matrix_id INTEGER, baseline_run_id TEXT, lowest_recall DOUBLE,
    CONSTRAINT ck_evaluation_duration_s CHECK (duration_s BETWEEN CAST('-1e300' AS DOUBLE PRECISION) AND CAST('1e300' AS DOUBLE PRECISION)),
    CONSTRAINT ck_evaluation_n_cases CHECK (n_cases BETWEEN 0 AND 9223372036854775807),
    CONSTRAINT ck_evaluation_n_labelled CHECK (n_labelled BETWEEN 0 AND n_cases),
    CONSTRAINT ck_evaluation_suite_version CHECK (suite_version BETWEEN 1 AND 2147483647),
    CONSTRAINT fk_evaluation_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT fk_evaluation_truth_version_id_truth_version FOREIGN KEY(truth_version_id) REFERENCES truth_version (id),
    CONSTRAINT uq_evaluation_run_id_input_digest UNIQUE (run_id, input_digest)
);

CREATE INDEX ix_evaluation_lowest_recall_run_id_current ON evaluation (lowest_recall, run_id) WHERE is_current = 1 AND slice IS NULL;

CREATE INDEX ix_evaluation_truth_version_id_run_id_current ON evaluation (truth_version_id, run_id) WHERE is_current = 1 AND slice IS NULL;

CREATE UNIQUE INDEX uq_evaluation_run_id_current ON evaluation (run_id) WHERE is_current AND slice IS NULL;

CREATE UNIQUE INDEX uq_evaluation_run_id_slice_current ON evaluation (run_id, slice) WHERE is_current AND slice IS NOT NULL;

CREATE TABLE flag (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL,
    rule TEXT NOT NULL,
    rule_version INTEGER NOT NULL,
    class_label TEXT NOT NULL,
    severity TEXT NOT NULL,
    message TEXT NOT NULL,
    evidence JSON NOT NULL,
    fired JSON NOT NULL,
    thresholds JSON NOT NULL,
    in_badge BOOLEAN NOT NULL,
    state TEXT NOT NULL,
    settled_severity TEXT,
    snoozed_until DATETIME,
    reason TEXT,
    assignee TEXT,
    first_seen DATETIME NOT NULL,
    last_seen DATETIME NOT NULL,
    closed_at DATETIME,
    evaluation_id INTEGER,
    slice TEXT DEFAULT '' NOT NULL,
    CONSTRAINT ck_flag_closed_at CHECK ((state = 'closed') = (closed_at IS NOT NULL)),
    CONSTRAINT ck_flag_dismissed_for_reason CHECK (state <> 'dismissed' OR reason IS NOT NULL),
    CONSTRAINT ck_flag_rule_version CHECK (rule_version BETWEEN 1 AND 2147483647),
    CONSTRAINT ck_flag_settled_severity CHECK (settled_severity IN ('info', 'medium', 'high', 'critical')),
    CONSTRAINT ck_flag_severity CHECK (severity IN ('info', 'medium', 'high', 'critical')),
    CONSTRAINT ck_flag_snoozed_until CHECK ((state = 'snoozed') = (snoozed_until IS NOT NULL)),
    CONSTRAINT ck_flag_state CHECK (state IN ('open', 'acknowledged', 'snoozed', 'dismissed', 'closed')),
    CONSTRAINT fk_flag_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE SET NULL,
    CONSTRAINT fk_flag_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
);

CREATE INDEX ix_flag_evaluation_id ON flag (evaluation_id);

CREATE INDEX ix_flag_run_id_class_label_badge ON flag (run_id, class_label) WHERE in_badge = 1 AND state NOT IN ('closed', 'dismissed');

CREATE INDEX ix_flag_run_id_state ON flag (run_id, state);

CREATE INDEX ix_flag_state_severity_id ON flag (state, severity, id);

CREATE UNIQUE INDEX uq_flag_slice ON flag (run_id, rule, class_label, slice);

CREATE TABLE flag_event (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    flag_id INTEGER NOT NULL,
    at DATETIME NOT NULL,
    author TEXT,
    kind TEXT NOT NULL,
    text TEXT,
    CONSTRAINT ck_flag_event_kind CHECK (kind IN ('opened', 'acknowledged', 'snoozed', 'dismissed', 'reopened', 'closed', 'assigned', 'commented', 'updated')),
    CONSTRAINT fk_flag_event_flag_id_flag FOREIGN KEY(flag_id) REFERENCES flag (id) ON DELETE CASCADE
);

CREATE INDEX ix_flag_event_flag_id ON flag_event (flag_id);

CREATE TABLE heartbeat (
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started_at DATETIME NOT NULL,
    seen_at DOUBLE NOT NULL,
    CONSTRAINT ck_heartbeat_kind CHECK (kind IN ('worker', 'scheduler')),
    CONSTRAINT ck_heartbeat_pid CHECK (pid BETWEEN 0 AND 2147483647),
    CONSTRAINT ck_heartbeat_seen_at CHECK (seen_at BETWEEN CAST('-1e300' AS DOUBLE PRECISION) AND CAST('1e300' AS DOUBLE PRECISION)),
    CONSTRAINT pk_heartbeat PRIMARY KEY (name)
);

CREATE TABLE kept_answer (
    scope TEXT NOT NULL,
    "key" TEXT NOT NULL,
    digest TEXT NOT NULL,
    claimed_at DATETIME NOT NULL,
    status INTEGER,
    body TEXT,
    CONSTRAINT pk_kept_answer PRIMARY KEY (scope, "key")
);

CREATE INDEX ix_kept_answer_claimed_at ON kept_answer (claimed_at);

CREATE TABLE label_answer (
    dataset_id INTEGER NOT NULL,
    published_in INTEGER NOT NULL,
    sample TEXT NOT NULL,
    author TEXT NOT NULL,
    is_final BOOLEAN NOT NULL,
    label TEXT,
    note TEXT,
    answered_at DATETIME NOT NULL,
    CONSTRAINT fk_label_answer_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id) ON DELETE CASCADE,
    CONSTRAINT pk_label_answer PRIMARY KEY (dataset_id, published_in, sample, author, is_final)
);

CREATE TABLE label_set (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    digest TEXT NOT NULL,
    names JSON NOT NULL,
    n_classes INTEGER NOT NULL,
    ordinal BOOLEAN NOT NULL,
    CONSTRAINT ck_label_set_n_classes CHECK (n_classes BETWEEN 1 AND 2147483647),
    CONSTRAINT uq_label_set_digest UNIQUE (digest)
);

CREATE TABLE membership (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    project_id INTEGER,
    role TEXT NOT NULL,
    CONSTRAINT ck_membership_role CHECK (role IN ('viewer', 'labeler', 'logger', 'editor', 'admin')),
    CONSTRAINT fk_membership_project_id_project FOREIGN KEY(project_id) REFERENCES project (id) ON DELETE CASCADE,
    CONSTRAINT fk_membership_user_id_user_account FOREIGN KEY(user_id) REFERENCES user_account (id) ON DELETE CASCADE,
    CONSTRAINT uq_membership_user_id_project_id UNIQUE (user_id, project_id)
);

CREATE UNIQUE INDEX uq_membership_user_id_everywhere ON membership (user_id) WHERE project_id IS NULL;

CREATE TABLE metric_value (
    evaluation_id INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    class_index INTEGER NOT NULL,
    value DOUBLE,
    reason TEXT,
    tends_to TEXT,
    ci_low DOUBLE,
    ci_high DOUBLE,
    ci_method TEXT,
    CONSTRAINT ck_metric_value_ci_high CHECK (ci_high BETWEEN CAST('-1e300' AS DOUBLE PRECISION) AND CAST('1e300' AS DOUBLE PRECISION)),
    CONSTRAINT ck_metric_value_ci_low CHECK (ci_low BETWEEN CAST('-1e300' AS DOUBLE PRECISION) AND CAST('1e300' AS DOUBLE PRECISION)),
    CONSTRAINT ck_metric_value_class_index CHECK (class_index BETWEEN -1 AND 2147483647),
    CONSTRAINT ck_metric_value_interval_has_a_method CHECK (ci_method IS NOT NULL OR (ci_low IS NULL AND ci_high IS NULL)),
    CONSTRAINT ck_metric_value_value CHECK (value BETWEEN CAST('-1e300' AS DOUBLE PRECISION) AND CAST('1e300' AS DOUBLE PRECISION)),
    CONSTRAINT ck_metric_value_value_or_reason CHECK ((value IS NULL) = (reason IS NOT NULL)),
    CONSTRAINT fk_metric_value_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE,
    CONSTRAINT pk_metric_value PRIMARY KEY (evaluation_id, "key", class_index)
)
WITHOUT ROWID;

CREATE INDEX ix_metric_value_key_class_index_value_evaluation_id ON metric_value ("key", class_index, value, evaluation_id);

CREATE TABLE paired_counts (
    id TEXT NOT NULL,
    n_kinds INTEGER NOT NULL,
    dtype TEXT NOT NULL,
    codec TEXT NOT NULL,
    actual BLOB NOT NULL,
    sizes BLOB NOT NULL,
    slices JSON NOT NULL,
    slice_codes BLOB NOT NULL,
    CONSTRAINT ck_paired_counts_n_kinds CHECK (n_kinds BETWEEN 1 AND 2147483647),
    CONSTRAINT pk_paired_counts PRIMARY KEY (id)
);

CREATE TABLE paired_run (
    run_id TEXT NOT NULL,
    paired_id TEXT NOT NULL,
    predicted BLOB NOT NULL,
    CONSTRAINT fk_paired_run_paired_id_paired_counts FOREIGN KEY(paired_id) REFERENCES paired_counts (id),
    CONSTRAINT fk_paired_run_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT pk_paired_run PRIMARY KEY (run_id, paired_id)
);

CREATE INDEX ix_paired_run_paired_id ON paired_run (paired_id);

CREATE TABLE pending_slice (
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    name TEXT NOT NULL,
    levels JSON NOT NULL,
    dtype TEXT NOT NULL,
    codec TEXT NOT NULL,
    codes BLOB NOT NULL,
    CONSTRAINT fk_pending_slice_run_id_seq_prediction_chunk FOREIGN KEY(run_id, seq) REFERENCES prediction_chunk (run_id, seq) ON DELETE CASCADE,
    CONSTRAINT pk_pending_slice PRIMARY KEY (run_id, seq, name)
);

CREATE TABLE pending_truth (
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    dtype TEXT,
    codes BLOB,
    id_kind TEXT NOT NULL,
    sample_ids BLOB,
    CONSTRAINT ck_pending_truth_id_kind CHECK (id_kind IN ('position', 'int', 'text')),
    CONSTRAINT fk_pending_truth_run_id_seq_prediction_chunk FOREIGN KEY(run_id, seq) REFERENCES prediction_chunk (run_id, seq) ON DELETE CASCADE,
    CONSTRAINT pk_pending_truth PRIMARY KEY (run_id, seq)
);

CREATE TABLE prediction_chunk (
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
    dtype TEXT NOT NULL,
    codec TEXT NOT NULL,
    codes BLOB NOT NULL,
    positions BLOB,
    counts BLOB,
    sha256 TEXT NOT NULL, weights BLOB,
    CONSTRAINT ck_prediction_chunk_n CHECK (n BETWEEN 1 AND 2147483647),
    CONSTRAINT ck_prediction_chunk_seq CHECK (seq BETWEEN 0 AND 2147483647),
    CONSTRAINT fk_prediction_chunk_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT pk_prediction_chunk PRIMARY KEY (run_id, seq)
);

CREATE TABLE problem (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    dataset_id INTEGER NOT NULL,
    model TEXT NOT NULL,
    cause TEXT NOT NULL,
    class_label TEXT NOT NULL,
    opened_at DATETIME NOT NULL,
    slice TEXT DEFAULT '' NOT NULL,
    CONSTRAINT ck_problem_cause CHECK (cause IN ('missed', 'imprecise', 'drop', 'worthless', 'hides', 'cost', 'orientation', 'few_labels', 'slice')),
    CONSTRAINT fk_problem_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX uq_problem_slice ON problem (dataset_id, model, cause, class_label, slice);

CREATE TABLE project (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    created_at DATETIME NOT NULL,
    CONSTRAINT uq_project_name UNIQUE (name)
);

CREATE TABLE promotion (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    dataset_id INTEGER NOT NULL,
    role TEXT NOT NULL,
    run_id TEXT,
    run_name TEXT,
    reason TEXT,
    author TEXT,
    at DATETIME NOT NULL,
    truth_number INTEGER,
    metrics JSON NOT NULL,
    gate JSON, undefined JSON,
    CONSTRAINT ck_promotion_champion_for_reason CHECK (role <> 'champion' OR reason IS NOT NULL),
    CONSTRAINT ck_promotion_role CHECK (role IN ('champion', 'candidate')),
    CONSTRAINT fk_promotion_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id) ON DELETE CASCADE
);

CREATE INDEX ix_promotion_dataset_id_role_id ON promotion (dataset_id, role, id);

CREATE TABLE report_file (
    issue_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    content_type TEXT NOT NULL,
    content BLOB NOT NULL,
    sha256 TEXT NOT NULL,
    CONSTRAINT ck_report_file_kind CHECK (kind IN ('html', 'markdown', 'json', 'csv')),
    CONSTRAINT fk_report_file_issue_id_report_issue FOREIGN KEY(issue_id) REFERENCES report_issue (id) ON DELETE CASCADE,
    CONSTRAINT pk_report_file PRIMARY KEY (issue_id, kind)
);

CREATE TABLE report_issue (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    schedule_id INTEGER,
    project_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    fire_time TEXT NOT NULL,
    due DOUBLE NOT NULL,
    state TEXT NOT NULL,
    covers_missed INTEGER DEFAULT 0 NOT NULL,
    scope JSON NOT NULL,
    delivery JSON NOT NULL,
    headline TEXT,
    data_digest TEXT,
    error TEXT,
    created_at DATETIME NOT NULL,
    computed_at DATETIME, summary JSON,
    CONSTRAINT ck_report_issue_computed_at CHECK ((state = 'computed') = (computed_at IS NOT NULL)),
    CONSTRAINT ck_report_issue_computed_says_something CHECK ((state = 'computed') = (headline IS NOT NULL AND data_digest IS NOT NULL)),
    CONSTRAINT ck_report_issue_covers_missed CHECK (covers_missed BETWEEN 0 AND 2147483647),
    CONSTRAINT ck_report_issue_due CHECK (due BETWEEN CAST('-1e300' AS DOUBLE PRECISION) AND CAST('1e300' AS DOUBLE PRECISION)),
    CONSTRAINT ck_report_issue_failed_says_why CHECK ((state = 'failed') = (error IS NOT NULL)),
    CONSTRAINT ck_report_issue_number CHECK (number BETWEEN 1 AND 2147483647),
    CONSTRAINT ck_report_issue_state CHECK (state IN ('pending', 'computed', 'failed')),
    CONSTRAINT fk_report_issue_project_id_project FOREIGN KEY(project_id) REFERENCES project (id),
    CONSTRAINT fk_report_issue_schedule_id_schedule FOREIGN KEY(schedule_id) REFERENCES schedule (id) ON DELETE SET NULL,
    CONSTRAINT uq_report_issue_project_id_name_number UNIQUE (project_id, name, number),
    CONSTRAINT uq_report_issue_schedule_id_fire_time UNIQUE (schedule_id, fire_time)
);

CREATE TABLE run (
    id TEXT NOT NULL,
    project_id INTEGER NOT NULL,
    dataset_id INTEGER NOT NULL,
    truth_version_id INTEGER,
    name TEXT NOT NULL,
    model TEXT,
    state TEXT NOT NULL,
    client_key TEXT,
    params JSON NOT NULL,
    tags JSON NOT NULL,
    author TEXT,
    git_sha TEXT,
    source_orientation TEXT NOT NULL,
    orientation_evidence JSON,
    orientation_verdict TEXT,
    n_predictions BIGINT DEFAULT 0 NOT NULL,
    score_columns INTEGER DEFAULT 0 NOT NULL,
    content_digest TEXT,
    created_at DATETIME NOT NULL,
    finished_at DATETIME, deleted_at DATETIME, deleted_by TEXT, derived_from TEXT, derivation JSON, note TEXT, is_weighted BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT ck_run_n_predictions CHECK (n_predictions BETWEEN 0 AND 9223372036854775807),
    CONSTRAINT ck_run_open_until_finished_at CHECK ((state = 'open') = (finished_at IS NULL)),
    CONSTRAINT ck_run_orientation_verdict CHECK (orientation_verdict IN ('canonical', 'transposed', 'ambiguous', 'inconsistent', 'unverified')),
    CONSTRAINT ck_run_score_columns CHECK (score_columns BETWEEN 0 AND 2147483647),
    CONSTRAINT ck_run_source_orientation CHECK (source_orientation IN ('predictions', 'actual_rows', 'actual_columns')),
    CONSTRAINT ck_run_state CHECK (state IN ('open', 'finished', 'evaluated', 'failed')),
    CONSTRAINT fk_run_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id),
    CONSTRAINT fk_run_project_id_project FOREIGN KEY(project_id) REFERENCES project (id),
    CONSTRAINT fk_run_truth_version_id_truth_version FOREIGN KEY(truth_version_id) REFERENCES truth_version (id),
    CONSTRAINT pk_run PRIMARY KEY (id),
    CONSTRAINT uq_run_project_id_client_key UNIQUE (project_id, client_key)
);

CREATE INDEX ix_run_created_at_id_name_deleted_at ON run (created_at, id, name, deleted_at) WHERE deleted_at IS NULL;

CREATE INDEX ix_run_dataset_id_created_at_id_deleted_at ON run (dataset_id, created_at, id, deleted_at) WHERE deleted_at IS NULL;

CREATE INDEX ix_run_deleted_at ON run (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE INDEX ix_run_is_weighted ON run (is_weighted) WHERE is_weighted = 1;

CREATE INDEX ix_run_model_created_at_deleted_at ON run (model, created_at, deleted_at) WHERE deleted_at IS NULL;

CREATE INDEX ix_run_name_id_deleted_at ON run (name, id, deleted_at) WHERE deleted_at IS NULL;

CREATE INDEX ix_run_project_id_created_at_deleted_at ON run (project_id, created_at, deleted_at) WHERE deleted_at IS NULL;

CREATE INDEX ix_run_state ON run (state);

CREATE TABLE sample_content (
    dataset_id INTEGER NOT NULL,
    sample TEXT NOT NULL,
    logged_at DATETIME NOT NULL,
    text TEXT,
    fields JSON,
    audio TEXT,
    image_digest TEXT,
    image_type TEXT,
    thumbnail BLOB,
    image BLOB,
    CONSTRAINT ck_sample_content_whole_image CHECK ((image_digest IS NULL) = (thumbnail IS NULL) AND (image_digest IS NULL) = (image_type IS NULL)),
    CONSTRAINT fk_sample_content_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id) ON DELETE CASCADE,
    CONSTRAINT pk_sample_content PRIMARY KEY (dataset_id, sample)
);

CREATE TABLE saved_view (
    slug TEXT NOT NULL,
    name TEXT NOT NULL,
    page TEXT NOT NULL,
    "query" TEXT NOT NULL,
    author TEXT,
    created_at DATETIME NOT NULL,
    CONSTRAINT pk_saved_view PRIMARY KEY (slug),
    CONSTRAINT uq_saved_view_page_name UNIQUE (page, name)
);

CREATE TABLE schedule (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    cron TEXT NOT NULL,
    zone TEXT NOT NULL,
    scope JSON NOT NULL,
    delivery JSON NOT NULL,
    enabled BOOLEAN NOT NULL,
    version INTEGER NOT NULL,
    last_fire TEXT,
    next_due DOUBLE,
    created_at DATETIME NOT NULL,
    updated_at DATETIME NOT NULL,
    CONSTRAINT ck_schedule_due_while_enabled CHECK (enabled = (next_due IS NOT NULL)),
    CONSTRAINT ck_schedule_next_due CHECK (next_due BETWEEN CAST('-1e300' AS DOUBLE PRECISION) AND CAST('1e300' AS DOUBLE PRECISION)),
    CONSTRAINT ck_schedule_version CHECK (version BETWEEN 1 AND 2147483647),
    CONSTRAINT fk_schedule_project_id_project FOREIGN KEY(project_id) REFERENCES project (id),
    CONSTRAINT uq_schedule_project_id_name UNIQUE (project_id, name)
);

CREATE INDEX ix_schedule_next_due ON schedule (next_due) WHERE next_due IS NOT NULL;

CREATE TABLE score_chunk (
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    n_columns INTEGER NOT NULL,
    dtype TEXT NOT NULL,
    codec TEXT NOT NULL,
    scores BLOB NOT NULL,
    CONSTRAINT ck_score_chunk_n_columns CHECK (n_columns BETWEEN 1 AND 2147483647),
    CONSTRAINT fk_score_chunk_run_id_seq_prediction_chunk FOREIGN KEY(run_id, seq) REFERENCES prediction_chunk (run_id, seq) ON DELETE CASCADE,
    CONSTRAINT pk_score_chunk PRIMARY KEY (run_id, seq)
);

CREATE TABLE score_curve (
    evaluation_id INTEGER NOT NULL,
    class_index INTEGER NOT NULL,
    n_positive BIGINT NOT NULL,
    n_negative BIGINT NOT NULL,
    n_thresholds BIGINT NOT NULL,
    points BLOB NOT NULL,
    bins BLOB,
    histogram BLOB NOT NULL,
    CONSTRAINT ck_score_curve_class_index CHECK (class_index BETWEEN -1 AND 2147483647),
    CONSTRAINT ck_score_curve_n_negative CHECK (n_negative BETWEEN 0 AND 9223372036854775807),
    CONSTRAINT ck_score_curve_n_positive CHECK (n_positive BETWEEN 0 AND 9223372036854775807),
    CONSTRAINT ck_score_curve_n_thresholds CHECK (n_thresholds BETWEEN 0 AND 9223372036854775807),
    CONSTRAINT fk_score_curve_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE,
    CONSTRAINT pk_score_curve PRIMARY KEY (evaluation_id, class_index)
);

CREATE TABLE share_link (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    digest TEXT NOT NULL,
    address TEXT NOT NULL,
    owner_id INTEGER NOT NULL,
    created_at DATETIME NOT NULL,
    expires_at DATETIME NOT NULL,
    used_at DATETIME,
    revoked_at DATETIME,
    CONSTRAINT fk_share_link_owner_id_user_account FOREIGN KEY(owner_id) REFERENCES user_account (id) ON DELETE CASCADE,
    CONSTRAINT uq_share_link_digest UNIQUE (digest)
);

CREATE INDEX ix_share_link_owner_id ON share_link (owner_id);

CREATE TABLE slice_counts (
    evaluation_id INTEGER NOT NULL,
    columns_digest TEXT NOT NULL,
    columns JSON NOT NULL,
    n_slices INTEGER NOT NULL,
    n_parts INTEGER NOT NULL,
    n_left_out INTEGER NOT NULL,
    dtype TEXT NOT NULL,
    members BLOB NOT NULL,
    numbers BLOB NOT NULL,
    CONSTRAINT ck_slice_counts_n_left_out CHECK (n_left_out BETWEEN 0 AND 2147483647),
    CONSTRAINT ck_slice_counts_n_parts CHECK (n_parts BETWEEN 1 AND 2147483647),
    CONSTRAINT ck_slice_counts_n_slices CHECK (n_slices BETWEEN 0 AND 2147483647),
    CONSTRAINT fk_slice_counts_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE,
    CONSTRAINT pk_slice_counts PRIMARY KEY (evaluation_id)
);

CREATE TABLE truth_chunk (
    truth_version_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
    dtype TEXT NOT NULL,
    codec TEXT NOT NULL,
    codes BLOB NOT NULL,
    sample_ids BLOB,
    sha256 TEXT NOT NULL,
    CONSTRAINT ck_truth_chunk_n CHECK (n BETWEEN 1 AND 2147483647),
    CONSTRAINT ck_truth_chunk_seq CHECK (seq BETWEEN 0 AND 2147483647),
    CONSTRAINT fk_truth_chunk_truth_version_id_truth_version FOREIGN KEY(truth_version_id) REFERENCES truth_version (id),
    CONSTRAINT pk_truth_chunk PRIMARY KEY (truth_version_id, seq)
);

CREATE TABLE truth_slice (
    truth_version_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    levels JSON NOT NULL,
    dtype TEXT NOT NULL,
    codec TEXT NOT NULL,
    codes BLOB NOT NULL,
    created_at DATETIME NOT NULL,
    CONSTRAINT fk_truth_slice_truth_version_id_truth_version FOREIGN KEY(truth_version_id) REFERENCES truth_version (id) ON DELETE CASCADE,
    CONSTRAINT pk_truth_slice PRIMARY KEY (truth_version_id, name)
);

CREATE TABLE truth_version (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    dataset_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    digest TEXT NOT NULL,
    n_samples BIGINT NOT NULL,
    id_kind TEXT NOT NULL,
    class_counts JSON NOT NULL,
    origin TEXT NOT NULL,
    parent_id INTEGER,
    reason TEXT,
    author TEXT,
    created_at DATETIME NOT NULL,
    root_id INTEGER NOT NULL,
    n_labelled BIGINT NOT NULL,
    CONSTRAINT ck_truth_version_id_kind CHECK (id_kind IN ('position', 'int', 'text')),
    CONSTRAINT ck_truth_version_n_labelled CHECK (n_labelled BETWEEN 0 AND n_samples),
    CONSTRAINT ck_truth_version_n_samples CHECK (n_samples BETWEEN 0 AND 9223372036854775807),
    CONSTRAINT ck_truth_version_number CHECK (number BETWEEN 1 AND 2147483647),
    CONSTRAINT ck_truth_version_origin CHECK (origin IN ('logged', 'revised')),
    CONSTRAINT ck_truth_version_revised_for_a_reason CHECK (parent_id IS NULL OR reason IS NOT NULL),
    CONSTRAINT ck_truth_version_revised_from_a_parent CHECK ((origin = 'revised') = (parent_id IS NOT NULL)),
    CONSTRAINT fk_truth_version_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id),
    CONSTRAINT fk_truth_version_parent_id_truth_version FOREIGN KEY(parent_id) REFERENCES truth_version (id),
    CONSTRAINT fk_truth_version_root_id_truth_version FOREIGN KEY(root_id) REFERENCES truth_version (id) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT uq_truth_version_dataset_id_number UNIQUE (dataset_id, number)
);

CREATE INDEX ix_truth_version_dataset_id_root_id_number ON truth_version (dataset_id, root_id, number);

CREATE UNIQUE INDEX uq_truth_version_dataset_id_digest_logged ON truth_version (dataset_id, digest) WHERE origin = 'logged';

CREATE UNIQUE INDEX uq_truth_version_parent_id ON truth_version (parent_id);

CREATE TABLE uploaded_matrix (
    run_id TEXT NOT NULL,
    n_classes INTEGER NOT NULL,
    cells BLOB NOT NULL,
    CONSTRAINT ck_uploaded_matrix_n_classes CHECK (n_classes BETWEEN 1 AND 2147483647),
    CONSTRAINT fk_uploaded_matrix_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT pk_uploaded_matrix PRIMARY KEY (run_id)
);

CREATE TABLE user_account (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    display_name TEXT,
    email TEXT,
    password_hash TEXT,
    disabled_at DATETIME,
    created_at DATETIME NOT NULL,
    signed_in_at DATETIME, news_seen_at DATETIME,
    CONSTRAINT uq_user_account_name UNIQUE (name)
);

CREATE TABLE user_session (
    digest TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    created_at DATETIME NOT NULL,
    seen_at DATETIME NOT NULL,
    CONSTRAINT fk_user_session_user_id_user_account FOREIGN KEY(user_id) REFERENCES user_account (id) ON DELETE CASCADE,
    CONSTRAINT pk_user_session PRIMARY KEY (digest)
);

CREATE INDEX ix_user_session_user_id ON user_session (user_id);

CREATE TABLE work (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL,
    args JSON NOT NULL,
    "key" TEXT NOT NULL,
    state TEXT NOT NULL,
    due DOUBLE NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    lease TEXT,
    lease_until DOUBLE,
    error TEXT,
    created_at DOUBLE NOT NULL, project_id BIGINT, size BIGINT, request_id TEXT, losses INTEGER DEFAULT 0 NOT NULL,
    CONSTRAINT ck_work_attempts CHECK (attempts BETWEEN 0 AND 2147483647),
    CONSTRAINT ck_work_state CHECK (state IN ('todo', 'doing', 'dead'))
);

CREATE INDEX ix_work_due_id_todo ON work (due, id) WHERE state = 'todo';

CREATE INDEX ix_work_lease_until_doing ON work (lease_until) WHERE state = 'doing';

CREATE INDEX ix_work_project_id_due_id_todo ON work (project_id, due, id) WHERE state = 'todo';

CREATE UNIQUE INDEX uq_work_key_todo ON work ("key") WHERE state = 'todo';
