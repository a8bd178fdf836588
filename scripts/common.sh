# shellcheck shell=bash
#
# The functions that scripts/ and .ci/run share. A script sources this file at its start; the file changes to the root of the repository.

set -uo pipefail
script=$(cd "$(dirname "$0")" && pwd -P)/$(basename "$0")
readonly script
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

readonly LOGS=$PWD/.build-ci
readonly LIMIT=${LIMIT:-2400} # seconds of one command

# Options for builds that are made once and thrown away: the compiler sees each module as a whole, and no debugger needs the types.
# shellcheck disable=SC2034 # the scripts use it
readonly ONCE=(-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -gline-tables-only)

mkdir -p "$LOGS"
output=$(mktemp "${TMPDIR:-/tmp}/output.XXXXXX")
own_servers=

cleanup() {
    rm -f "$output"
    [ -z "$own_servers" ] || { Tests/Integration/servers stop "$own_servers" > /dev/null; rm -rf "$own_servers"; }
}
trap cleanup EXIT
trap 'exit 130' INT TERM

say() { printf '%s\n' "$*"; }
fail() { say "error: $*"; exit 1; }

# Prints the comment at the top of the script if one of the arguments asks for it.
help_if_asked() {
    case " $* " in
        *" -h "* | *" --help "*) awk 'NR > 2 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$script"; exit 0 ;;
    esac
}

limited() {
    if command -v timeout > /dev/null; then timeout --foreground --signal=INT --kill-after=60 "$LIMIT" "$@"; else "$@"; fi
}

# Runs a command within the limit. Its output is also in the file $output, which the checks below read.
kept() { limited "$@" 2>&1 | tee "$output"; }

# ---------------------------------------------------------------------------------------------------------------------- checks

# Fails unless the output of `kept` shows that tests have run.
ran_tests() { grep -Eq 'Test run with [1-9][0-9]* tests? ' "$output" || fail "no test has run"; }

# Fails unless each of these suites has passed. A filter that no longer matches a suite would go unnoticed otherwise.
suites_passed() {
    local suite
    for suite in "$@"; do grep -q "Suite $suite passed" "$output" || fail "the suite $suite did not run: correct $script"; done
}

# Fails if a test was skipped for a reason other than this one.
nothing_skipped_but() {
    local skipped
    skipped=$(grep -E '(Test|Suite) .* skipped(: "|[.]$)' "$output" | grep -v "$1")
    [ -z "$skipped" ] || fail "tests were skipped although the servers are up:
$skipped"
}

# Fails if the output has a warning about a file of this package, and touches the file, so that the next build repeats the warning. The
# compiler's own option would rebuild everything, and apply to the packages of the traits too.
no_warnings() {
    local files
    files=$(grep -oE "^$PWD/(Package.swift|Sources|Tests|Fuzzing|Benchmarks|Examples)[^:]*:[0-9:]+ warning:" "$output" | cut -d: -f1 | grep -v '/\.build' | sort -u)
    [ -n "$files" ] || return 0
    tr '\n' '\0' <<< "$files" | xargs -0 touch
    fail "there are warnings"
}

# --------------------------------------------------------------------------------------------------------- what the tests need

may_install() { [ "$(uname)" = Linux ] && command -v apt-get > /dev/null && [ "$(id -u)" = 0 ]; }

# Installs Debian packages. They start servers unless policy-rc.d refuses it; an existing file is the administrator's and isn't changed.
install_packages() {
    local guard=/usr/sbin/policy-rc.d result
    if [ -e "$guard" ]; then guard=; else printf '#!/bin/sh\nexit 101\n' > "$guard" && chmod +x "$guard"; fi
    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
    result=$?
    [ -z "$guard" ] || rm -f "$guard"
    return "$result"
}

# Lets the tests find what `scripts/prepare` has installed.
use_prepared() {
    if [ -x "$LOGS/judges/bin/python3" ]; then export PATH=$LOGS/judges/bin:$PATH JUDGE_PYTHON=$LOGS/judges/bin/python3; fi
    if [ -x "$LOGS/syslog-ng/usr/sbin/syslog-ng" ]; then export SYSLOG_NG_ROOT=$LOGS/syslog-ng; fi
}

# Starts the real servers unless TEST_SERVERS names running ones, and stops them when the script ends. Sets $servers_folder.
start_servers() {
    if [ -z "${TEST_SERVERS:-}" ]; then
        own_servers=$(mktemp -d "${TMPDIR:-/tmp}/servers.XXXXXX")
        Tests/Integration/servers start "$own_servers" || fail "the servers have not started"
        export TEST_SERVERS=$own_servers/servers.json
    fi
    servers_folder=$(dirname "$TEST_SERVERS")
}
