#!/usr/bin/env bash
# Run `offdiag gate` for the action: ARGUMENTS and CONDITIONS in, a table into RESULT and the
# summary of the job, and the exit code into the outputs. The last step of the action fails with it.
set -euo pipefail

words=()
while IFS= read -r -d '' word; do
  words+=("$word")
done < <(python -c 'import os, shlex
for word in shlex.split(os.environ["ARGUMENTS"]): print(word, end="\0")')
while read -r condition; do
  if [ -n "$condition" ]; then
    words+=(--min "$condition")
  fi
done <<<"$CONDITIONS"
if [ -n "${JUNIT:-}" ]; then
  words+=(--junit "$JUNIT")
fi

code=0
offdiag gate "${words[@]}" --markdown >"$RESULT" 2>"$RESULT.error" || code=$?
cat "$RESULT.error" >&2
if [ "$code" -gt 1 ]; then
  printf '### Gate could not run\n\n%s\n' "$(sed 's/^/    /' "$RESULT.error")" >"$RESULT"
fi
tee -a "$GITHUB_STEP_SUMMARY" <"$RESULT"
[ "$code" -eq 0 ] && passed=true || passed=false
printf 'code=%s\npassed=%s\n' "$code" "$passed" >>"$GITHUB_OUTPUT"
