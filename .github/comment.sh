#!/usr/bin/env bash
# Write RESULT into the one comment of this gate on pull request NUMBER: a marker that nobody sees
# tells it from others, so that a new push changes the comment instead of adding one. MATRIX has
# the values of a job of a matrix, because all of them have the same GITHUB_JOB; NAME tells several
# gates of a job apart.
set -euo pipefail

job="${GITHUB_JOB:-}${MATRIX:+ ($MATRIX)}${NAME:+: $NAME}"
export MARKER="<!-- offdiag gate: ${GITHUB_WORKFLOW:-}/$job -->"
several="${MATRIX:-}${NAME:-}"
body=$(printf '%s\n%s' "$MARKER" "$(cat "$RESULT")${several:+$'\n\n'$job}")
# Only own comments are changed, whoever else copies the marker. The token of a job cannot ask who
# it is, but its comments are those of a bot, unlike those of the token of a user.
export ME=""
if login=$(gh api user --jq .login 2>/dev/null); then
  ME="$login"
fi
comments="repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments"
known=$(gh api --paginate "$comments" --jq '.[]
  | select(if env.ME == "" then .user.type == "Bot" else .user.login == env.ME end)
  | select(.body | startswith(env.MARKER)) | .id' | sed -n 1p)
if [ -n "$known" ]; then
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" -f body="$body"
else
  gh api --silent --method POST "$comments" -f body="$body"
fi
