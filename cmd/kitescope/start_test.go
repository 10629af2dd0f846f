package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
)

// TestChooseCluster checks that a user who names no cluster is offered the contexts, the files in the folder and
// the demo, and can enter another source.
func TestChooseCluster(t *testing.T) {
	dir := t.TempDir()
	snapshot, err := os.ReadFile("../../testdata/snapshots/standalone-2.1.0/etcd_snapshot.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"mailed.db.gz": snapshot, "notes.txt": []byte("nothing"),
		"config.yaml": []byte("current: \"\"\ncontexts:\n  prod: {from: \"etcd://10.0.0.5:2379\"}\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for typed, want := range map[string]struct {
		context, from, said string
		err                 error
	}{
		"\n":                  {context: "prod", said: "1  prod          context: etcd://10.0.0.5:2379"},
		"2\n":                 {from: "mailed.db.gz", said: "2  mailed.db.gz  etcd snapshot, "},
		"3\n":                 {from: "demo://", said: "3  demo          a captured cluster"},
		"7\n3\n":              {from: "demo://", said: "No such number: 7."},
		"etcd://h:2379\nrest": {from: "etcd://h:2379", said: "Number [1]"},
		"q\n":                 {err: &cli.CodeError{Code: cli.ExitOK}},
		"":                    {err: io.EOF},
	} {
		var said bytes.Buffer
		s := scriptStreams(io.Discard, &said, map[string]string{"KITESCOPE_CONFIG": filepath.Join(dir, "config.yaml")})
		s.In = strings.NewReader(typed)
		a := &cli.App{Streams: s}
		err := chooseCluster(t.Context(), a)
		var coded *cli.CodeError
		if want.err != nil &&
			(err == nil || !errors.Is(err, want.err) && !(errors.As(err, &coded) && coded.Code == cli.ExitOK)) ||
			want.err == nil && err != nil {
			t.Errorf("%q: %v", typed, err)
		}
		if a.Flags.Context != want.context || a.Flags.From != want.from || !strings.Contains(said.String(), want.said) {
			t.Errorf("%q: context %q, from %q, said\n%s", typed, a.Flags.Context, a.Flags.From, said.String())
		}
		if rest, _ := io.ReadAll(s.In); typed == "etcd://h:2379\nrest" && string(rest) != "rest" {
			t.Errorf("what is behind the line is not left to the next reader: %q", rest)
		}
	}
}
