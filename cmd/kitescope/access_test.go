package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kitescope/cmd/kitescope/cli"
)

// inProcess runs a command line in this process and returns its exit code and output.
func inProcess(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), scriptStreams(&out, &errs, env), args)
	return code, out.String(), errs.String()
}

// TestAccessControl checks commands on an etcd with access control, for four users: one may read the whole
// root, one a part, one nothing, and one gives a wrong password.
func TestAccessControl(t *testing.T) {
	demo, client := demoClient(t)
	allow(t, client, "reader", "by-dev/", clientv3.GetPrefixRangeEnd("by-dev/"))
	allow(t, client, "part", "by-dev/meta/root-coord/", clientv3.GetPrefixRangeEnd("by-dev/meta/root-coord/"))
	allow(t, client, "stranger", "other/", clientv3.GetPrefixRangeEnd("other/"))
	allow(t, client, "root", "", "")
	if _, err := client.AuthEnable(t.Context()); err != nil {
		t.Fatal(err)
	}

	from := "etcd://" + demo.host
	for _, c := range []struct {
		name, user, password string
		args                 []string
		code                 int
		stdout, stderr       string
	}{
		{"reader", "reader", "reader-pw", []string{"get", "segments", "--strict", "-o", "name"}, 0, "segment/", ""},
		{
			"part", "part", "part-pw",
			[]string{"get", "collections", "--columns", "name"},
			0, "docs_hnsw_cos",
			"could not read",
		},
		{
			"part, strict", "part", "part-pw",
			[]string{"get", "collections", "--strict"},
			4, "docs_hnsw_cos",
			"permission denied",
		},
		// Values that were not read are unknown, never 0 or "NotLoad".
		{
			"part, rows", "part", "part-pw",
			[]string{"get", "collections", "-o", "csv", "--columns", "name,rows,segments,load_state,indexes"},
			0,
			"docs_hnsw_cos,?,?,?,?\n", "",
		},
		{"part, selected by rows", "part", "part-pw", []string{"get", "collections", "rows>5"}, 1, "", "was not read"},
		{"part, segments", "part", "part-pw", []string{"get", "segments"}, 0, "", "segments: not read"},
		{
			"part, overview", "part", "part-pw",
			[]string{"overview", "-o", "json"},
			0,
			`"segments_by_state","collections_by_load_state","roles","query_nodes"]`, "",
		},
		{"stranger", "stranger", "stranger-pw", []string{"get", "collections"}, 1, "", "hint: "},
		{"wrong password", "reader", "guess", []string{"get", "collections"}, 1, "", "authentication failed"},
		{"nobody", "", "", []string{"get", "collections"}, 1, "", "--user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := map[string]string{"KITESCOPE_ETCD_USER": c.user, "KITESCOPE_ETCD_PASSWORD": c.password}
			code, stdout, stderr := inProcess(t, env, append(c.args, "--from", from, "--timeout", "30s")...)
			if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
				t.Errorf("exit %d, want %d\nstdout: %s\nstderr: %s", code, c.code, stdout, stderr)
			}
			if c.password != "" && strings.Contains(stdout+stderr, c.password) {
				t.Error("the password is in the output")
			}
			if c.code == 1 && strings.Count(stderr, "\n") > 2 {
				t.Errorf("more than one line and a hint:\n%s", stderr)
			}
		})
	}
}

func allow(t *testing.T, client *clientv3.Client, name, from, to string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := client.UserAdd(ctx, name, name+"-pw")
	must(err)
	_, err = client.RoleAdd(ctx, name)
	must(err)
	if from != "" {
		_, err = client.RoleGrantPermission(ctx, name, from, to, clientv3.PermissionType(clientv3.PermRead))
		must(err)
	}
	_, err = client.UserGrantRole(ctx, name, name)
	must(err)
}

// TestClosedPipe checks that writing to a closed pipe, as with "| head", exits 0 without a message.
func TestClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var errs bytes.Buffer
	code := run(t.Context(), scriptStreams(w, &errs, nil), []string{
		"get", "keys", "--from", "../../testdata/snapshots/standalone-2.3.5/etcd_snapshot.db.gz",
	})
	if code != cli.ExitOK || errs.String() != "" {
		t.Errorf("exit %d, stderr %q", code, errs.String())
	}
}

// TestBrokenConnection checks that a broken pipe of another connection than standard output is reported.
func TestBrokenConnection(t *testing.T) {
	var errs bytes.Buffer
	cli.PrintError(t.Context(), &cli.Streams{Err: &errs},
		fmt.Errorf("read keys: write tcp 10.0.0.1:2379: %w", syscall.EPIPE))
	if want := "kitescope: read keys: write tcp 10.0.0.1:2379: broken pipe\n"; errs.String() != want {
		t.Errorf("stderr %q, want %q", errs.String(), want)
	}
}

// TestUIOfNoFile checks that the UI fails at once if the file does not exist.
func TestUIOfNoFile(t *testing.T) {
	var out, errs bytes.Buffer
	s := scriptStreams(&out, &errs, nil)
	s.InTTY, s.OutTTY, s.Size = true, true, func() (int, int) { return 80, 24 }
	for _, args := range [][]string{{"--from", "no-such.db"}, {"ui", "--from", "file://no-such.db"}} {
		out.Reset()
		errs.Reset()
		code := run(t.Context(), s, args)
		if want := "kitescope: read no-such.db: no such file\nhint: name a file, or etcd://host:port\n"; code !=
			cli.ExitFailed || errs.String() != want || out.Len() > 0 {
			t.Errorf("%v: exit %d, stderr %q, %d bytes of output", args, code, errs.String(), out.Len())
		}
	}
}
