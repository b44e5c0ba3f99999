# ruff: noqa: E501
"""Every address of the dashboard, and the module that answers there.

Written by `make routes` from the modules; edit those.
"""

from __future__ import annotations

from offdiag_web.app.dispatch import Routes

ROUTES: Routes = {
    "offdiag_web.api.access": {
        "api_access.list_users": ("GET /api/v1/users",),
        "api_access.add_user": ("POST /api/v1/users",),
        "api_access.set_role": ("PUT /api/v1/users/<name:name>/role",),
        "api_access.disable_user": ("POST /api/v1/users/<name:name>/disable",),
        "api_access.enable_user": ("POST /api/v1/users/<name:name>/enable",),
        "api_access.list_tokens": ("GET /api/v1/tokens",),
        "api_access.create_token": ("POST /api/v1/tokens",),
        "api_access.revoke_token": ("DELETE /api/v1/tokens/<number:token_id>",),
        "api_access.get_me": ("GET /api/v1/me",),
        "api_access.list_changes": ("GET /api/v1/audit",),
    },
    "offdiag_web.api.costs": {
        "api_costs.compare_costs": ("GET /api/v1/costs",),
        "api_costs.try_rule": ("POST /api/v1/runs/<run:run_id>/rules",),
        "api_costs.price_labels": ("POST /api/v1/runs/<run:run_id>/label-costs",),
        "api_costs.list_cost_matrices": ("GET /api/v1/cost-matrices",),
        "api_costs.get_cost_matrix": ("GET /api/v1/cost-matrices/<name:name>",),
        "api_costs.add_cost_matrix": ("POST /api/v1/cost-matrices",),
        "api_costs.what_if": ("POST /api/v1/whatif",),
        "api_costs.decide_anew": ("POST /api/v1/runs/<run:run_id>/decisions",),
    },
    "offdiag_web.api.datasets": {
        "api_datasets.list_datasets": ("GET /api/v1/datasets",),
        "api_datasets.list_projects": ("GET /api/v1/projects",),
        "api_datasets.declare": ("POST /api/v1/datasets",),
        "api_datasets.get_dataset": ("GET /api/v1/datasets/<name:name>",),
        "api_datasets.group_classes": ("PUT /api/v1/datasets/<name:name>/hierarchy",),
        "api_datasets.judge_by_costs": ("PUT /api/v1/datasets/<name:name>/cost-matrix",),
        "api_datasets.get_baseline": ("GET /api/v1/datasets/<name:name>/baseline",),
        "api_datasets.pin_baseline": ("PUT /api/v1/datasets/<name:name>/baseline",),
        "api_datasets.store_samples": ("POST /api/v1/datasets/<name:name>/samples",),
        "api_datasets.list_samples": ("GET /api/v1/datasets/<name:name>/samples",),
        "api_datasets.get_sample_image": ("GET /api/v1/datasets/<name:name>/samples/image",),
        "api_datasets.remove_samples": ("POST /api/v1/datasets/<name:name>/samples/remove",),
        "api_datasets.list_suspects": ("GET /api/v1/datasets/<name:name>/suspects",),
        "api_datasets.get_label_noise": ("GET /api/v1/datasets/<name:name>/noise",),
        "api_datasets.get_content": ("GET /api/v1/datasets/<name:name>/content",),
        "api_datasets.set_content": ("PUT /api/v1/datasets/<name:name>/content",),
    },
    "offdiag_web.api.description": {"api_description.description": ("GET /api/v1/openapi.json",)},
    "offdiag_web.api.flags": {
        "api_flags.list_flags": ("GET /api/v1/flags",),
        "api_flags.list_flags_of_run": ("GET /api/v1/runs/<run:run_id>/flags",),
        "api_flags.get_flag": ("GET /api/v1/flags/<number:number>",),
        "api_flags.explain_flag": ("GET /api/v1/flags/<number:number>/explanation",),
        "api_flags.decide_flag": ("POST /api/v1/flags/<number:number>/decisions",),
        "api_flags.decide_flags": ("POST /api/v1/flags/decisions",),
        "api_flags.list_problems": ("GET /api/v1/problems",),
        "api_flags.get_problem": ("GET /api/v1/problems/<number:number>",),
        "api_flags.decide_problem": ("POST /api/v1/problems/<number:number>/decisions",),
    },
    "offdiag_web.api.ingest": {
        "api_ingest.open_run": ("POST /api/v1/runs",),
        "api_ingest.put_chunk": ("PUT /api/v1/runs/<run:run_id>/chunks/<int:seq>",),
        "api_ingest.finish": ("POST /api/v1/runs/<run:run_id>/finish",),
        "api_ingest.log_matrix": ("POST /api/v1/matrices",),
        "api_ingest.log_counts": ("POST /api/v1/counts",),
        "api_ingest.log_paired_counts": ("POST /api/v1/paired-counts",),
    },
    "offdiag_web.api.jobs": {
        "api_jobs.list_jobs": ("GET /api/v1/jobs",),
        "api_jobs.get_job": ("GET /api/v1/jobs/<number:job_id>",),
        "api_jobs.retry_job": ("POST /api/v1/jobs/<number:job_id>/retry",),
        "api_jobs.retry_all_jobs": ("POST /api/v1/jobs/retry",),
    },
    "offdiag_web.api.metrics": {
        "api_metrics.list_metrics": ("GET /api/v1/metrics",),
        "api_metrics.get_metric": ("GET /api/v1/metrics/<key>",),
    },
    "offdiag_web.api.promotions": {
        "api_promotions.list_leaders": ("GET /api/v1/datasets/<name:name>/leaders",),
        "api_promotions.list_methods": ("GET /api/v1/datasets/<name:name>/methods",),
        "api_promotions.set_primary_metric": ("PUT /api/v1/datasets/<name:name>/primary-metric",),
        "api_promotions.list_promotions": ("GET /api/v1/datasets/<name:name>/promotions",),
        "api_promotions.approve": ("PUT /api/v1/datasets/<name:name>/champion",),
        "api_promotions.propose": ("PUT /api/v1/datasets/<name:name>/candidate",),
        "api_promotions.check_gate": ("POST /api/v1/runs/<run:run_id>/gate",),
    },
    "offdiag_web.api.reports": {
        "api_reports.list_reports": ("GET /api/v1/reports",),
        "api_reports.issue_report": ("POST /api/v1/reports",),
        "api_reports.get_report": ("GET /api/v1/reports/<name:name>",),
        "api_reports.issue_again": ("POST /api/v1/reports/<name:name>/run",),
        "api_reports.get_issue": ("GET /api/v1/reports/<name:name>/issues/<number:number>",),
        "api_reports.get_issue_file": (
            "GET /api/v1/reports/<name:name>/issues/<number:number>/files/<string:file>",
        ),
        "api_reports.retry_issue": (
            "POST /api/v1/reports/<name:name>/issues/<number:number>/retry",
        ),
        "api_reports.retry_delivery": (
            "POST /api/v1/reports/<name:name>/issues/<number:number>/deliveries/<number:delivery_id>/retry",
        ),
        "api_reports.list_schedules": ("GET /api/v1/schedules",),
        "api_reports.add_schedule": ("POST /api/v1/schedules",),
        "api_reports.get_schedule": ("GET /api/v1/schedules/<name:name>",),
        "api_reports.change_schedule": ("PUT /api/v1/schedules/<name:name>",),
        "api_reports.remove_schedule": ("DELETE /api/v1/schedules/<name:name>",),
        "api_reports.pause_schedule": ("POST /api/v1/schedules/<name:name>/pause",),
        "api_reports.resume_schedule": ("POST /api/v1/schedules/<name:name>/resume",),
        "api_reports.run_schedule": ("POST /api/v1/schedules/<name:name>/run",),
    },
    "offdiag_web.api.results": {
        "api_results.get_run_with_results": ("GET /api/v1/runs/<run:run_id>/results",),
        "api_results.get_fairness": ("GET /api/v1/runs/<run:run_id>/fairness",),
        "api_results.get_evaluation": ("GET /api/v1/runs/<run:run_id>/evaluation",),
        "api_results.get_slices": ("GET /api/v1/runs/<run:run_id>/slices",),
        "api_results.get_confusion_matrix": ("GET /api/v1/runs/<run:run_id>/confusion-matrix",),
        "api_results.get_curves": ("GET /api/v1/runs/<run:run_id>/curves",),
        "api_results.get_run_costs": ("GET /api/v1/runs/<run:run_id>/costs",),
        "api_results.get_confused_labels": ("GET /api/v1/runs/<run:run_id>/confused-labels",),
        "api_results.get_history": ("GET /api/v1/runs/<run:run_id>/history",),
        "api_results.list_examples": ("GET /api/v1/runs/<run:run_id>/examples",),
    },
    "offdiag_web.api.runs": {
        "api_runs.list_runs": ("GET /api/v1/runs",),
        "api_runs.get_run": ("GET /api/v1/runs/<run:run_id>",),
        "api_runs.change_run": ("PATCH /api/v1/runs/<run:run_id>",),
        "api_runs.delete_run": ("DELETE /api/v1/runs/<run:run_id>",),
        "api_runs.restore_run": ("POST /api/v1/runs/<run:run_id>/restore",),
        "api_runs.list_run_comments": ("GET /api/v1/runs/<run:run_id>/comments",),
        "api_runs.add_run_comment": ("POST /api/v1/runs/<run:run_id>/comments",),
        "api_runs.list_dataset_comments": ("GET /api/v1/datasets/<name:name>/comments",),
        "api_runs.add_dataset_comment": ("POST /api/v1/datasets/<name:name>/comments",),
        "api_runs.compare": ("GET /api/v1/compare",),
        "api_runs.compare_examples": ("GET /api/v1/compare/examples",),
    },
    "offdiag_web.api.truths": {
        "api_truth.list_truth_versions": ("GET /api/v1/datasets/<name:name>/truth",),
        "api_truth.correct_truth": ("POST /api/v1/datasets/<name:name>/truth",),
        "api_truth.compare_truth_versions": ("GET /api/v1/datasets/<name:name>/truth/difference",),
        "api_truth.get_truth_impact": (
            "GET /api/v1/datasets/<name:name>/truth/<number:number>/impact",
        ),
        "api_truth.undo_truth_version": (
            "POST /api/v1/datasets/<name:name>/truth/<number:number>/undo",
        ),
        "api_truth.get_draft": ("GET /api/v1/datasets/<name:name>/draft",),
        "api_truth.propose_labels": ("POST /api/v1/datasets/<name:name>/draft",),
        "api_truth.decide_labels": ("POST /api/v1/datasets/<name:name>/draft/decide",),
        "api_truth.withdraw_labels": ("POST /api/v1/datasets/<name:name>/draft/withdraw",),
        "api_truth.publish_draft": ("POST /api/v1/datasets/<name:name>/draft/publish",),
        "api_truth.get_label_tasks": ("GET /api/v1/datasets/<name:name>/draft/tasks",),
        "api_truth.import_label_tasks": ("POST /api/v1/datasets/<name:name>/draft/tasks",),
        "api_truth.add_slice_columns": ("POST /api/v1/datasets/<name:name>/slices",),
    },
    "offdiag_web.pages.access.account_page": {
        "account.page": ("GET /settings/account",),
        "account.set_password": ("POST /settings/account/password",),
        "account.end_all": ("POST /settings/account/sign-out-everywhere",),
    },
    "offdiag_web.pages.access.audit_log_page": {
        "audit_log.page": ("GET /settings/audit",),
        "audit_log.twin": ("GET /settings/audit.<any(json, csv):form>",),
    },
    "offdiag_web.pages.access.openid_page": {
        "openid.begin": ("GET /sign-in/openid",),
        "openid.end": ("GET /sign-in/openid/back",),
    },
    "offdiag_web.pages.access.share_links_page": {
        "share_links.page": ("GET /settings/links",),
        "share_links.create": ("POST /settings/links",),
        "share_links.revoke": ("POST /settings/links/<int:link_id>/revoke",),
    },
    "offdiag_web.pages.access.shared_page": {"shared.page": ("GET /s/<secret>",)},
    "offdiag_web.pages.access.sign_in_page": {
        "signing_in.page": ("GET /sign-in",),
        "signing_in.begin": ("POST /sign-in",),
        "signing_in.end": ("POST /sign-out",),
    },
    "offdiag_web.pages.access.tokens_page": {
        "tokens.page": ("GET /settings/tokens",),
        "tokens.create": ("POST /settings/tokens",),
        "tokens.revoke": ("POST /settings/tokens/<int:token_id>/revoke",),
    },
    "offdiag_web.pages.access.users_page": {
        "users.page": ("GET /settings/users",),
        "users.add": ("POST /settings/users",),
        "users.set_role": ("POST /settings/users/<name:user>/role",),
        "users.set_password": ("POST /settings/users/<name:user>/password",),
        "users.set_disabled": ("POST /settings/users/<name:user>/<any(disable, enable):action>",),
    },
    "offdiag_web.pages.audit.page": {
        "audit.page": ("GET /audit",),
        "audit.card": ("GET /audit/card.svg",),
        "audit.send": ("POST /audit",),
        "audit.twin": ("GET /audit.json",),
        "audit.twin_of_sent": ("POST /audit.json",),
    },
    "offdiag_web.pages.compare.page": {
        "compare.page": ("GET /compare",),
        "compare.twin": ("GET /compare.<any(json, csv):form>",),
        "compare.card": ("GET /compare/card.svg",),
        "compare.markdown": ("GET /compare.md",),
        "compare.examples": ("GET /compare/examples",),
        "compare.examples_twin": ("GET /compare/examples.<any(json, csv):form>",),
    },
    "offdiag_web.pages.costs.form_page": {
        "cost_form.new": ("GET /costs/new",),
        "cost_form.create": ("POST /costs/new",),
        "cost_form.new_version": ("GET /costs/<name:name>/new",),
        "cost_form.create_version": ("POST /costs/<name:name>/new",),
    },
    "offdiag_web.pages.costs.page": {
        "costs.page": ("GET /costs",),
        "costs.twin": ("GET /costs.<any(json, csv):form>",),
        "costs.matrix": ("GET /costs/<name:name>",),
        "costs.matrix_twin": ("GET /costs/<name:name>.<any(json, csv):form>",),
        "costs.set_default": ("POST /costs/<name:name>/default",),
    },
    "offdiag_web.pages.datasets.approve_page": {
        "dataset_approve.page": ("GET /datasets/<name:name>/approve",),
        "dataset_approve.decide": ("POST /datasets/<name:name>/approve",),
    },
    "offdiag_web.pages.datasets.difference_page": {
        "truth_difference.page": (
            "GET /datasets/<name:name>/truth/<int(min=1, max=2147483647):before>..<int(min=1, max=2147483647):after>",
        ),
        "truth_difference.twin": (
            "GET /datasets/<name:name>/truth/<int(min=1, max=2147483647):before>..<int(min=1, max=2147483647):after>.<any(json, csv):form>",
        ),
    },
    "offdiag_web.pages.datasets.impact_page": {
        "truth_impact.page": (
            "GET /datasets/<name:name>/truth/<int(min=1, max=2147483647):number>/impact",
        ),
        "truth_impact.twin": (
            "GET /datasets/<name:name>/truth/<int(min=1, max=2147483647):number>/impact.<any(json, csv):form>",
        ),
    },
    "offdiag_web.pages.datasets.page": {
        "datasets.page": ("GET /datasets",),
        "datasets.twin": ("GET /datasets.<any(json, csv):form>",),
        "datasets.dataset": ("GET /datasets/<name:name>",),
        "datasets.add_comment": ("POST /datasets/<name:name>/comments",),
        "datasets.dataset_twin": ("GET /datasets/<name:name>.<any(json, csv):form>",),
        "datasets.data": ("GET /datasets/<name:name>/data",),
    },
    "offdiag_web.pages.decisions.page": {
        "decisions.page": ("GET /whatif/decisions",),
        "decisions.twin": ("GET /whatif/decisions.<any(json, csv):form>",),
        "decisions.save": ("POST /whatif/decisions",),
    },
    "offdiag_web.pages.flags.flag_page": {
        "flag.page": ("GET /flags/<int(max=9223372036854775807):number>",),
        "flag.twin": ("GET /flags/<int(max=9223372036854775807):number>.<any(json, csv):form>",),
        "flag.classes": ("GET /flags/<int(max=9223372036854775807):number>/classes.csv",),
        "flag.decide": (
            "POST /flags/<int(max=9223372036854775807):number>/<any(acknowledge, snooze, dismiss, reopen, assign, comment):action>",
        ),
    },
    "offdiag_web.pages.flags.inbox": {
        "problems.page": ("GET /problems",),
        "problems.twin": ("GET /problems.<any(json, csv):form>",),
        "problems.decide": ("POST /problems",),
    },
    "offdiag_web.pages.flags.page": {
        "flags.page": ("GET /flags",),
        "flags.twin": ("GET /flags.<any(json, csv):form>",),
    },
    "offdiag_web.pages.flags.problem_page": {
        "problem.page": ("GET /problems/<int(max=9223372036854775807):number>",),
        "problem.twin": ("GET /problems/<int(max=9223372036854775807):number>.json",),
        "problem.decide": (
            "POST /problems/<int(max=9223372036854775807):number>/<any(acknowledge, snooze, dismiss, reopen, assign, comment):action>",
        ),
    },
    "offdiag_web.pages.flags.rules_page": {
        "rules.page": ("GET /settings/rules",),
        "rules.twin": ("GET /settings/rules.<any(json, csv):form>",),
    },
    "offdiag_web.pages.glossary.page": {
        "glossary.page": ("GET /glossary",),
        "glossary.twin": ("GET /glossary.<any(json, csv):form>",),
        "glossary.metric": ("GET /glossary/<key>",),
        "glossary.metric_twin": ("GET /glossary/<key>.<any(json, csv):form>",),
    },
    "offdiag_web.pages.home.page": {"home.home": ("GET /",)},
    "offdiag_web.pages.jobs.page": {
        "jobs.page": ("GET /jobs",),
        "jobs.twin": ("GET /jobs.<any(json, csv):form>",),
        "jobs.job": ("GET /jobs/<int(max=9223372036854775807):job_id>",),
        "jobs.job_json": ("GET /jobs/<int(max=9223372036854775807):job_id>.json",),
        "jobs.retry": ("POST /jobs/<int(max=9223372036854775807):job_id>/retry",),
        "jobs.retry_dead": ("POST /jobs/retry",),
    },
    "offdiag_web.pages.methods.page": {
        "methods.page": ("GET /datasets/<name:name>/methods",),
        "methods.twin": ("GET /datasets/<name:name>/methods.<any(json, csv):form>",),
        "methods.learning_curves": ("GET /datasets/<name:name>/methods/learning-curves.csv",),
    },
    "offdiag_web.pages.models.page": {
        "models.page": ("GET /models/<name:name>",),
        "models.twin": ("GET /models/<name:name>.<any(json, csv):form>",),
    },
    "offdiag_web.pages.reports.edition_page": {
        "report_issue.page": ("GET /reports/<name:name>/<int(min=1, max=2147483647):number>",),
        "report_issue.twin": (
            "GET /reports/<name:name>/<int(min=1, max=2147483647):number>.json",
        ),
        "report_issue.frozen": (
            "GET /reports/<name:name>/<int(min=1, max=2147483647):number>/<string:file>",
        ),
        "report_issue.retry": (
            "POST /reports/<name:name>/<int(min=1, max=2147483647):number>/retry",
        ),
        "report_issue.resend": (
            "POST /reports/<name:name>/<int(min=1, max=2147483647):number>/deliveries/<int(min=1, max=9223372036854775807):delivery_id>/retry",
        ),
    },
    "offdiag_web.pages.reports.form_page": {
        "report_form.new": ("GET /reports/new",),
        "report_form.create": ("POST /reports/new",),
        "report_form.edit": ("GET /reports/<name:name>/edit",),
        "report_form.change": ("POST /reports/<name:name>/edit",),
    },
    "offdiag_web.pages.reports.page": {
        "reports.page": ("GET /reports",),
        "reports.twin": ("GET /reports.<any(json, csv):form>",),
        "reports.report": ("GET /reports/<name:name>",),
        "reports.report_twin": ("GET /reports/<name:name>.<any(json, csv):form>",),
        "reports.run": ("POST /reports/<name:name>/run",),
        "reports.pause": ("POST /reports/<name:name>/pause",),
        "reports.resume": ("POST /reports/<name:name>/resume",),
        "reports.delete": ("POST /reports/<name:name>/delete",),
    },
    "offdiag_web.pages.run.page": {
        "run_meta.page": ("GET /runs/<run:run_id>/meta",),
        "run_meta.meta_json": ("GET /runs/<run:run_id>/meta.json",),
        "run_meta.change_tags": ("POST /runs/<run:run_id>/tags",),
        "run_meta.add_comment": ("POST /runs/<run:run_id>/comments",),
        "run_meta.pin": ("POST /runs/<run:run_id>/baseline/pin",),
        "run_meta.unpin": ("POST /runs/<run:run_id>/baseline/unpin",),
    },
    "offdiag_web.pages.run_advice.page": {
        "run_advice.page": ("GET /runs/<run:run_id>/advice",),
        "run_advice.advice_json": ("GET /runs/<run:run_id>/advice.json",),
    },
    "offdiag_web.pages.run_classes.page": {
        "run_classes.page": ("GET /runs/<run:run_id>/classes",),
        "run_classes.classes_json": ("GET /runs/<run:run_id>/classes.json",),
        "run_classes.classes_csv": ("GET /runs/<run:run_id>/classes.csv",),
    },
    "offdiag_web.pages.run_curves.page": {
        "run_curves.page": ("GET /runs/<run:run_id>/curves",),
        "run_curves.curves_json": ("GET /runs/<run:run_id>/curves.json",),
        "run_curves.curves_csv": ("GET /runs/<run:run_id>/curves.csv",),
    },
    "offdiag_web.pages.run_examples.page": {
        "run_examples.page": ("GET /runs/<run:run_id>/examples",),
        "run_examples.cell": ("GET /runs/<run:run_id>/cells/<actual>-<predicted>",),
        "run_examples.examples_csv": ("GET /runs/<run:run_id>/examples.csv",),
        "run_examples.examples_json": ("GET /runs/<run:run_id>/examples.json",),
    },
    "offdiag_web.pages.run_history.page": {
        "run_history.page": ("GET /runs/<run:run_id>/history",),
        "run_history.history_json": ("GET /runs/<run:run_id>/history.json",),
        "run_history.history_csv": ("GET /runs/<run:run_id>/history.csv",),
    },
    "offdiag_web.pages.run_label_costs.page": {
        "run_label_costs.page": ("GET /runs/<run:run_id>/label-costs",),
        "run_label_costs.costs_json": ("GET /runs/<run:run_id>/label-costs.json",),
    },
    "offdiag_web.pages.run_matrix.files_page": {
        "matrix_files.markdown": ("GET /runs/<run:run_id>/matrix.md",),
        "matrix_files.latex": ("GET /runs/<run:run_id>/matrix.tex",),
        "matrix_files.drawing": ("GET /runs/<run:run_id>/matrix.svg",),
        "matrix_files.picture": ("GET /runs/<run:run_id>/matrix.png",),
        "matrix_files.class_at": ("GET /runs/<run:run_id>/matrix/at",),
        "matrix_files.card": ("GET /runs/<run:run_id>/card.svg",),
    },
    "offdiag_web.pages.run_matrix.page": {
        "run_matrix.page": ("GET /runs/<run:run_id>",),
        "run_matrix.run_json": ("GET /runs/<run:run_id>.json",),
        "run_matrix.run_csv": ("GET /runs/<run:run_id>.csv",),
        "run_matrix.matrix_json": ("GET /runs/<run:run_id>/matrix.json",),
        "run_matrix.matrix_csv": ("GET /runs/<run:run_id>/matrix.csv",),
    },
    "offdiag_web.pages.run_slices.page": {
        "run_slices.page": ("GET /runs/<run:run_id>/slices",),
        "run_slices.slices_json": ("GET /runs/<run:run_id>/slices.json",),
        "run_slices.slices_csv": ("GET /runs/<run:run_id>/slices.csv",),
    },
    "offdiag_web.pages.runs.page": {
        "runs.runs": ("GET /runs.<any(json, csv):form>", "GET /runs"),
        "runs.as_baseline": ("GET /runs/as-baseline",),
        "runs.as_champion": ("GET /runs/as-champion",),
    },
    "offdiag_web.pages.runs.saved_views_page": {
        "views.page": ("GET /views",),
        "views.save": ("POST /views",),
        "views.view": ("GET /v/<slug>",),
        "views.remove": ("POST /v/<slug>/remove",),
    },
    "offdiag_web.pages.runs.tags_page": {
        "run_tags.page": ("GET /runs/tag",),
        "run_tags.change": ("POST /runs/tag",),
    },
    "offdiag_web.pages.samples.content_page": {
        "sample_content.page": ("GET /datasets/<name:name>/content",),
        "sample_content.change": ("POST /datasets/<name:name>/content",),
    },
    "offdiag_web.pages.samples.draft_page": {
        "label_draft.page": ("GET /datasets/<name:name>/draft",),
        "label_draft.propose": ("POST /datasets/<name:name>/draft",),
        "label_draft.decide": ("POST /datasets/<name:name>/draft/decide",),
        "label_draft.publish": ("POST /datasets/<name:name>/draft/publish",),
        "label_draft.undo": (
            "POST /datasets/<name:name>/truth/<int(min=1, max=2147483647):number>/undo",
        ),
    },
    "offdiag_web.pages.samples.image_page": {
        "sample_images.image": ("GET /datasets/<name:name>/image",)
    },
    "offdiag_web.pages.samples.noise_page": {
        "label_noise.page": ("GET /datasets/<name:name>/noise",),
        "label_noise.noise_json": ("GET /datasets/<name:name>/noise.json",),
    },
    "offdiag_web.pages.samples.suspects_page": {
        "suspects.page": ("GET /datasets/<name:name>/suspects",),
        "suspects.propose": ("POST /datasets/<name:name>/suspects",),
        "suspects.twin": ("GET /datasets/<name:name>/suspects.<any(json, csv):form>",),
    },
    "offdiag_web.pages.search.page": {
        "finding.page": ("GET /search",),
        "finding.twin": ("GET /search.json",),
    },
    "offdiag_web.pages.settings.page": {"settings.page": ("GET /settings",)},
    "offdiag_web.pages.what_if.page": {
        "what_if.page": ("GET /whatif",),
        "what_if.twin": ("GET /whatif.<any(json, csv):form>",),
        "what_if.save": ("POST /whatif",),
    },
}
