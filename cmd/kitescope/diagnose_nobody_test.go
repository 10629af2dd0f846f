package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestDiagnoseNobodyRegistered: the sessions of all processes have ended. That is a finding in a whole document, live and in a bundle, and no
// error instead of one.
func TestDiagnoseNobodyRegistered(t *testing.T) {
	demo, err := startedDemo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(demo.stop)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{demo.client.Host}, DialTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if gone, err := client.Delete(t.Context(), "by-dev/meta/session/", clientv3.WithPrefix()); err != nil || gone.Deleted == 0 {
		t.Fatalf("%d sessions ended: %v", gone.Deleted, err)
	}
	bundle := filepath.Join(t.TempDir(), "down.kite")
	kitescopeRun(t, 0, "snapshot", "save", bundle, "--live", "--from", demo.from())
	for _, from := range []string{demo.from(), bundle} {
		out, errs := kitescopeRun(t, exitFindings, "diagnose", "-o", "json", "--from", from)
		var said judged
		if err := json.Unmarshal([]byte(out), &said); err != nil {
			t.Fatalf("%s: %v: %s", from, err, errs)
		}
		if len(said.Items) == 0 || said.Items[0].Check != "role-missing" || said.Items[0].Severity != "error" || !strings.Contains(said.Items[0].Message, "the whole cluster is down") {
			t.Errorf("%s: first of %d findings: %+v", from, len(said.Items), said.Items[:min(1, len(said.Items))])
		}
		kitescopeRun(t, 0, "diagnose", "--fail-on", "never", "--from", from)
	}
	if _, errs := kitescopeRun(t, 0, "get", "nodes", "--live", "--from", demo.from()); !strings.Contains(errs, "no process is registered in etcd: nobody could be asked") {
		t.Errorf("get nodes --live says %q", errs)
	}
}

// kitescopeRun runs a command in this process, and returns what it writes.
func kitescopeRun(t *testing.T, code int, words ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	s := &streams{
		in: strings.NewReader(""), out: &out, err: &errs, now: time.Now,
		size: func() (int, int) { return 0, 0 }, getenv: func(name string) string {
			return map[string]string{"KITESCOPE_CONFIG": filepath.Join(t.TempDir(), "none.yaml")}[name]
		},
	}
	if got := run(t.Context(), s, words); got != code {
		t.Fatalf("kitescope %v: exit %d, want %d: %s", words, got, code, errs.String())
	}
	return out.String(), errs.String()
}
