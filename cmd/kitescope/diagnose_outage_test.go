package main

import (
	"testing"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/live/livetest"
)

// TestEtcdHangs checks that an etcd that accepts connections but never responds is a finding, and that a
// refused connection is an error.
func TestEtcdHangs(t *testing.T) {
	t.Parallel()
	hangs := []string{"--timeout", "1s", "--from", "etcd://" + livetest.Silent(t)}
	const finding = "etcd is not responding: it accepts connections"
	containsAll(t, kitescope(t, cli.ExitFindings, append([]string{"diagnose"}, hangs...)...).stdout, finding,
		"impact on clients: unknown", "etcd is not responding: the addresses of the proxies are unknown")
	containsAll(t, kitescope(t, cli.ExitOK, append([]string{"diagnose", "--fail-on", "never"}, hangs...)...).stdout,
		finding)
	containsAll(t, kitescope(t, cli.ExitFailed, append([]string{"overview"}, hangs...)...).stdout, finding,
		"impact on clients: unknown")
	for _, command := range []string{"impact", "why"} {
		containsAll(t, kitescope(t, cli.ExitFailed, append([]string{command}, hangs...)...).stdout, "unknown",
			"etcd is not responding")
	}
	containsAll(t, kitescope(t, cli.ExitFailed, append([]string{"get", "nodes"}, hangs...)...).err,
		"it accepts connections, but there is no response within 1s")
	for _, command := range []string{"diagnose", "impact"} {
		e := kitescope(t, cli.ExitFailed, command, "--from", "etcd://"+livetest.Refused(t))
		containsAll(t, e.err, "connection refused")
		if e.stdout != "" {
			t.Errorf("a report: %s", e.stdout)
		}
	}
}
