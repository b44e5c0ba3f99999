#!/usr/bin/env bash
# Write RESULT into the one comment of the gate on pull request NUMBER: a marker that nobody sees
# tells it from others, so that a new push changes the comment instead of adding one.
set -euo pipefail

export MARKER="<!-- offdiag gate: ${GITHUB_WORKFLOW:-}/${GITHUB_JOB:-} -->"
body=$(printf '%s\n%s' "$MARKER" "$(cat "$RESULT")")
comments="repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments"
known=$(gh api --paginate "$comments" \
  --jq '.[] | select(.user.type == "Bot" and (.body | startswith(env.MARKER))) | .id' | sed -n 1p)
if [ -n "$known" ]; then
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" -f body="$body"
else
  gh api --silent --method POST "$comments" -f body="$body"
fi
