#!/usr/bin/env bash
# Write RESULT into the one comment of this job on pull request NUMBER: a marker that nobody sees
# tells it from others, so that a new push changes the comment instead of adding one. MATRIX has
# the values of a job of a matrix, because all of them have the same GITHUB_JOB.
set -euo pipefail

job="${GITHUB_JOB:-}${MATRIX:+ ($MATRIX)}"
export MARKER="<!-- offdiag gate: ${GITHUB_WORKFLOW:-}/$job -->"
body=$(printf '%s\n%s' "$MARKER" "$(cat "$RESULT")${MATRIX:+$'\n\n'$job}")
comments="repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments"
known=$(gh api --paginate "$comments" \
  --jq '.[] | select(.user.type == "Bot" and (.body | startswith(env.MARKER))) | .id' | sed -n 1p)
if [ -n "$known" ]; then
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" -f body="$body"
else
  gh api --silent --method POST "$comments" -f body="$body"
fi
