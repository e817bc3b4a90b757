# What both gates share: run steps, collect their last lines, and count. Sourced by run and all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

results=$(mktemp)

# Installs what the suites need: the packages of npm, and the Debian packages of the named groups.
install() {
  # npm prefers this file, which a killed `npm pack` leaves, to package-lock.json.
  rm -f npm-shrinkwrap.json
  npm ci
  scripts/test-tools "$@"
}

# Runs a step and collects its last lines. A failed step does not keep the others from running.
step() {
  local name=$1 last status=0
  shift
  last=$(mktemp)
  echo
  echo "== $name"
  SECONDS=0
  TEST_RESULTS=$last "$@" || status=$?
  echo "== $name: ${SECONDS} s"
  if [ "$status" != 0 ] && ! grep -q '^failed\|^skipped' "$last"; then
    printf 'failed: exit code %s\n0 passed, 1 failed\n' "$status" >> "$last"
  fi
  sed -E "s/^(failed|skipped): /\1: $name: /" "$last" >> "$results"
  rm -f "$last"
}

# Prints what failed and the counts of all steps. Fails if a step did, or if no test passed.
finish() {
  local counts='^[0-9]+ passed, [0-9]+ failed$'
  echo
  grep -Ev "$counts" "$results" || true
  awk -v counts="$counts" '$0 ~ counts { passed += $1; failed += $3 } END {
    printf "%d passed, %d failed\n", passed, failed
    exit !(passed > 0 && failed == 0)
  }' "$results"
}
