#!/usr/bin/env bash
# Run `offdiag gate` for the action: ARGUMENTS and CONDITIONS in, a table into RESULT and the
# summary of the job, and the exit code into the outputs. The last step of the action fails with it.
set -euo pipefail

# ARGUMENTS come last, so that they may end with `-- RUN`, whose name may begin with a dash.
options=()
while read -r condition; do
  if [ -n "$condition" ]; then
    options+=(--min "$condition")
  fi
done <<<"$CONDITIONS"
if [ -n "${JUNIT:-}" ]; then
  options+=(--junit "$JUNIT")
fi

code=0
python -c '
import os, shlex, sys
try:
    words = shlex.split(os.environ["ARGUMENTS"])
except ValueError as error:
    sys.exit(f"arguments: {error}. Close it, or write a backslash before the quote.")
for word in words: print(word, end="\0")' >"$RESULT.words" 2>"$RESULT.error" || code=2
if [ "$code" -eq 0 ]; then
  words=()
  while IFS= read -r -d '' word; do
    words+=("$word")
  done <"$RESULT.words"
  offdiag gate "${options[@]}" --markdown "${words[@]}" >"$RESULT" 2>"$RESULT.error" || code=$?
fi
cat "$RESULT.error" >&2
if [ "$code" -gt 1 ]; then
  printf '### Gate could not run\n\n%s\n' "$(sed 's/^/    /' "$RESULT.error")" >"$RESULT"
fi
tee -a "$GITHUB_STEP_SUMMARY" <"$RESULT"
[ "$code" -eq 0 ] && passed=true || passed=false
printf 'code=%s\npassed=%s\n' "$code" "$passed" >>"$GITHUB_OUTPUT"
