package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDebugOfAnotherContext: what the UI asks of a cluster that one switches to is told and counted as that of the first.
func TestDebugOfAnotherContext(t *testing.T) {
	var errs strings.Builder
	log := filepath.Join(t.TempDir(), "calls.log")
	a := &App{Streams: &Streams{Err: &errs}, Flags: GlobalFlags{debug: log, Verbose: true}}
	if err := a.openDebug(); err != nil {
		t.Fatal(err)
	}
	a.tells()("etcd lab: Range")
	tell := a.ForContext("prod").tells()
	if tell == nil {
		t.Fatal("what another context asks is told nobody")
	}
	tell("etcd prod: Range")
	if err := a.EndDebug(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "etcd lab: Range") || !strings.Contains(string(text), "etcd prod: Range") {
		t.Errorf("the log has %q", text)
	}
	if !strings.Contains(errs.String(), "2 calls to etcd") {
		t.Errorf("it ends with %q", errs.String())
	}
}
