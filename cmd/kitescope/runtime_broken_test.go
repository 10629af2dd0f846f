package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// recordingText returns the recording of t7, which has one record per line.
func recordingText(t *testing.T) string {
	t.Helper()
	f, err := os.Open(capture("cluster-2.3.5-t7", "runtime.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func gzipText(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestBrokenRecordings checks that the intact part of a damaged recording is used and that the damage is
// reported. A file that is not a recording is an error.
func TestBrokenRecordings(t *testing.T) {
	whole := recordingText(t)
	lines := strings.SplitAfter(whole, "\n")
	zipped := gzipText(t, whole)
	for name, test := range map[string]struct {
		content []byte
		code    int    // 0: the intact part is shown
		says    string // on stderr
	}{
		"cut":           {zipped[:len(zipped)*2/3], cli.ExitOK, "in part: read the recording: unexpected EOF"},
		"cut in a line": {[]byte(whole[:len(whole)-100]), cli.ExitOK, "in part: line"},
		"a line is garbage": {
			[]byte(lines[0] + "garbage \x00\x1b[2J\n" + strings.Join(lines[1:], "")), cli.ExitOK,
			"in part: line 2: not a record",
		},
		"lines are garbage": {
			[]byte(lines[0] + "[]\n{}\nnull\n{\"method\":7}\n" + strings.Join(lines[1:], "")), cli.ExitOK,
			"in part: 4 lines are not records; the first: line 2",
		},
		"a line is huge": {
			gzipText(t, lines[0]+strings.Repeat("x", 129<<20)+"\n"+strings.Join(lines[1:], "")), cli.ExitOK,
			"in part: line 2: longer than 128 MiB",
		},
		"broken base64": {
			[]byte(lines[0] + `{"role":"querynode","server_id":10,"method":"/x/y","response":"!"}` + "\n" +
				strings.Join(lines[1:], "")),
			cli.ExitOK, "in part: line 2",
		},
		"no recording": {
			[]byte("garbage\x00\x01"), cli.ExitFailed, "it is not a recording (JSON lines) or /metrics text",
		},
		"no records":     {[]byte("{}\n{}\n"), cli.ExitFailed, "it is not a recording: 2 lines are not records"},
		"empty":          {nil, cli.ExitFailed, "it is empty"},
		"packed garbage": {gzipText(t, "\x00\x01\x02"), cli.ExitFailed, "not a recording"},
		"broken packing": {append(zipped[:10:10], "garbage"...), cli.ExitFailed, "r.jsonl"},
		"huge":           {gzipText(t, "{"+strings.Repeat("x", 129<<20)), cli.ExitFailed, "longer than 128 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r.jsonl")
			if err := os.WriteFile(path, test.content, 0o600); err != nil {
				t.Fatal(err)
			}
			flags := []string{"--from", capture("cluster-2.3.5-t7", "etcd_snapshot.db.gz"), "--runtime", path}
			e := kitescope(t, test.code, append([]string{"get", "nodes", "-o", "json"}, flags...)...)
			containsAll(t, e.err, test.says)
			if strings.ContainsAny(e.err, "\x00\x1b") {
				t.Errorf("stderr has what acts on a terminal: %q", e.err)
			}
			if test.code != cli.ExitOK {
				if e.stdout != "" {
					t.Errorf("something is shown: %s", head(e.stdout))
				}
				return
			}
			containsAll(t, e.stdout, `"answer":"answered"`, `"incomplete"`)
			if name != "cut" { // all commands read recordings in the same way, so one case is enough
				return
			}
			containsAll(t,
				kitescope(t, cli.ExitIncomplete,
					append([]string{"diagnose", "--strict", "--fail-on", "never"}, flags...)...).err, test.says)
			bundle := filepath.Join(t.TempDir(), "x.kite")
			containsAll(t,
				kitescope(t, cli.ExitIncomplete,
					append([]string{"snapshot", "save", bundle, "--strict"}, flags...)...).err, "saved ", test.says)
			containsAll(t, kitescope(t, cli.ExitOK, "get", "nodes", "-o", "json", "--from", bundle).stdout,
				`"answer":"answered"`)
		})
	}
	from := []string{"--from", capture("cluster-2.3.5-t7", "etcd_snapshot.db.gz")}
	containsAll(t,
		kitescope(t, cli.ExitFailed,
			append([]string{"diagnose", "--runtime", filepath.Join(t.TempDir(), "missing.jsonl")}, from...)...).err,
		"missing.jsonl: no such file")
	containsAll(t, kitescope(t, cli.ExitFailed, append([]string{"balance", "--runtime", t.TempDir()}, from...)...).err,
		"no recording and no /metrics text in it")
}

// TestFolderWithJunk checks that other files in a folder of scrapes are skipped with a warning.
func TestFolderWithJunk(t *testing.T) {
	dir := t.TempDir()
	scrapes, err := filepath.Glob(capture("cluster-2.3.5-t5", "metrics", "*"))
	if err != nil || len(scrapes) < 9 {
		t.Fatal(scrapes, err)
	}
	for _, path := range scrapes {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(path, "querynode2") { // cut
			text = text[:len(text)/2]
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"notes.txt": "", "picture.png": "\x89PNG\r\n\x1a\n", "nobodys.txt": "# TYPE x gauge\nx 1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flags := []string{"--from", capture("cluster-2.3.5-t5", "etcd_snapshot.db.gz"), "--runtime", dir}
	e := kitescope(t, cli.ExitIncomplete, append([]string{"balance", "--strict"}, flags...)...)
	containsAll(t, e.err, "notes.txt is skipped: it is empty", "picture.png is skipped: it is not a recording",
		"the text does not identify its process", "in part: unexpected EOF")
	containsAll(t, e.stdout, "10 (metrics)", "42,943")
}

// TestBrokenBundles checks bundles in which members other than the metadata are damaged.
func TestBrokenBundles(t *testing.T) {
	whole := recordingText(t)
	lines := strings.SplitAfter(whole, "\n")
	for name, test := range map[string]struct {
		members map[string]string
		says    []string
		known   bool
	}{
		"a line is garbage": {
			map[string]string{session.AnswersMember: lines[0] + "garbage\n" + strings.Join(lines[1:], "")},
			[]string{"could not read runtime.jsonl of ", "line 2: not a record"},
			true,
		},
		"cut in a line": {
			map[string]string{session.AnswersMember: whole[:len(whole)-50]},
			[]string{"could not read runtime.jsonl of "},
			true,
		},
		"packed and cut": {
			map[string]string{session.AnswersMember: string(gzipText(t, whole)[:50_000])},
			[]string{"could not read runtime.jsonl of ", "unexpected EOF"},
			true,
		},
		"all is garbage": {
			map[string]string{session.AnswersMember: "garbage\x00\n\x1b[2J\n"},
			[]string{"could not read runtime.jsonl of ", "2 lines are not records"},
			false,
		},
		"empty": {map[string]string{session.AnswersMember: ""}, nil, false},
		"etcd is garbage": {
			map[string]string{session.EtcdMember: "{", session.AnswersMember: whole},
			[]string{"could not read etcd.json of "},
			true,
		},
		"unknown members": {map[string]string{"later.bin": "whatever", session.AnswersMember: whole}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := brokenBundle(t, test.members)
			flags := []string{"--from", path}
			code := cli.ExitOK
			if len(test.says) > 0 {
				code = cli.ExitIncomplete
			}
			e := kitescope(t, code, append([]string{"get", "nodes", "-o", "json", "--strict"}, flags...)...)
			containsAll(t, e.err, test.says...)
			if strings.ContainsAny(e.err, "\x00\x1b") {
				t.Errorf("stderr has what acts on a terminal: %q", e.err)
			}
			containsAll(t, e.stdout, `"name":"querynode-19"`)
			if known := strings.Contains(e.stdout, `"answer":"answered"`); known != test.known {
				t.Errorf("known %v, want %v:\n%s", known, test.known, head(e.stdout))
			}
			if !test.known {
				if status := diagnose(t, flags...).status("node-idle"); status != "skipped the nodes were not queried" {
					t.Errorf("node-idle: %s", status)
				}
			}
			// A copy of the bundle is intact, and still reports the missing data.
			again := filepath.Join(t.TempDir(), "again.kite")
			containsAll(t, kitescope(t, code, append([]string{"snapshot", "save", again, "--strict"}, flags...)...).err,
				test.says...)
			e = kitescope(t, code, "get", "nodes", "-o", "json", "--strict", "--from", again)
			containsAll(t, e.err, test.says...)
			if known := strings.Contains(e.stdout, `"answer":"answered"`); known != test.known {
				t.Errorf("saved again, known %v, want %v", known, test.known)
			}
		})
	}
}

// brokenBundle writes a bundle of the metadata of t7 with the given members.
func brokenBundle(t *testing.T, members map[string]string) string {
	t.Helper()
	src, err := source.Open(t.Context(), capture("cluster-2.3.5-t7", "etcd_snapshot.db.gz"), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	path := filepath.Join(t.TempDir(), "broken.kite")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info := source.BundleInfo{Members: func(b *source.BundleWriter) error {
		for name, content := range members {
			if err := b.AddMember(name, int64(len(content)), strings.NewReader(content)); err != nil {
				return err
			}
		}
		return nil
	}}
	if _, err := source.WriteBundle(t.Context(), f, snap, info, nil, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCutBundle checks that a bundle truncated after its metadata is refused, and that --salvage shows the intact
// part.
func TestCutBundle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "whole.kite")
	kitescope(t, cli.ExitOK, append([]string{"snapshot", "save", path}, captureFlags(t, "cluster-2.3.5-t7")...)...)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []int{95, 60} { // percent; most of the bundle is the recording
		cut := filepath.Join(t.TempDir(), "cut.kite")
		if err := os.WriteFile(cut, text[:len(text)*part/100], 0o600); err != nil {
			t.Fatal(err)
		}
		e := kitescope(t, cli.ExitFailed, "get", "nodes", "--from", cut)
		containsAll(t, e.err, "the bundle is cut off", "--salvage")
		e = kitescope(t, cli.ExitIncomplete, "get", "nodes", "-o", "json", "--salvage", "--strict", "--from", cut)
		containsAll(t, e.err, "cut off", "runtime.jsonl of ")
		containsAll(t, e.stdout, `"name":"querynode-19"`, `"answer":"answered"`)
	}
}
