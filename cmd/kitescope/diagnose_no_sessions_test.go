package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kitescope/cmd/kitescope/cli"
)

// TestDiagnoseNoSessions checks that a cluster whose sessions have all ended yields a finding in a
// complete document, not an error. It checks this on the live cluster and on a bundle.
func TestDiagnoseNoSessions(t *testing.T) {
	t.Parallel() // it waits
	demo, client := demoClient(t)
	if gone, err := client.Delete(t.Context(), "by-dev/meta/session/", clientv3.WithPrefix()); err != nil ||
		gone.Deleted == 0 {
		t.Fatalf("%d sessions ended: %v", gone.Deleted, err)
	}
	bundle := filepath.Join(t.TempDir(), "down.kite")
	today := terminal{now: time.Now}
	today.mustRun(t, cli.ExitOK, "snapshot", "save", bundle, "--live", "--from", demo.from())
	for _, from := range []string{demo.from(), bundle} {
		e := today.mustRun(t, cli.ExitFindings, "diagnose", "-o", "json", "--from", from)
		var said diagnoseOutput
		if err := json.Unmarshal([]byte(e.stdout), &said); err != nil {
			t.Fatalf("%s: %v: %s", from, err, e.err)
		}
		if len(said.Items) == 0 || said.Items[0].Check != "role-missing" || said.Items[0].Severity != "error" ||
			!strings.Contains(said.Items[0].Message, "the whole cluster is down") {
			t.Errorf("%s: first of %d findings: %+v", from, len(said.Items), said.Items[:min(1, len(said.Items))])
		}
		today.mustRun(t, cli.ExitOK, "diagnose", "--fail-on", "never", "--from", from)
	}
	containsAll(t, today.mustRun(t, cli.ExitOK, "get", "nodes", "--live", "--from", demo.from()).err,
		"no process is registered in etcd: no process could be queried")
}
