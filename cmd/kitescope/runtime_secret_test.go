package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/redact/redacttest"
	"kitescope/render/clusters"
)

// planted is the prefix of every secret that this test, metatest and livetest add. All other known secrets are in
// the captures.
const planted = "s3cr3t"

var knownSecrets = sync.OnceValue(func() []string {
	list := []string{planted, "minioadmin", "$2a$04$", "$2a$10$"}
	for _, p := range redacttest.Plants(plantSeed) {
		list = append(list, p.Secret)
	}
	return list
})

// plantSeed is the seed of the generated secrets of all kinds.
const plantSeed = 39

// secretIn returns the context of the first known secret in a text, in plain text or base64, or "" if there is none.
func secretIn(text string) string {
	for _, known := range knownSecrets() {
		at := strings.Index(text, known)
		if at >= 0 {
			return text[max(0, at-60):min(len(text), at+60)]
		}
		if len(known) < 6 || known[0] == '$' { // too short to be reliable, or never in a recording
			continue
		}
		for _, word := range inBase64(known) {
			if at := strings.Index(text, word); at >= 0 {
				return known + " as base64 in " + text[max(0, at-60):min(len(text), at+60)]
			}
		}
	}
	return ""
}

// inBase64 returns the base64 characters that a text always produces, for each of the three alignments.
func inBase64(text string) []string {
	var words []string
	for before := range 3 {
		encoded := base64.StdEncoding.EncodeToString(append(make([]byte, before), text...))
		from, to := (before*8+5)/6, (before+len(text))*8/6
		words = append(words, encoded[from:to])
	}
	return words
}

func TestSecretsAreFound(t *testing.T) {
	for _, text := range []string{
		"a s3cr3t", base64.StdEncoding.EncodeToString([]byte("12s3cr3t345")),
		base64.StdEncoding.EncodeToString([]byte("1minioadmin")),
	} {
		if secretIn(text) == "" {
			t.Errorf("nothing is found in %q", text)
		}
	}
	for _, text := range []string{"", "secret", base64.StdEncoding.EncodeToString([]byte("secret"))} {
		if found := secretIn(text); found != "" {
			t.Errorf("%q is found in %q", found, text)
		}
	}
}

// checkOutput runs a command line and checks that its output has no secret.
func checkOutput(t *testing.T, args ...string) { t.Helper(); (*readOnce)(nil).checkOutput(t, args...) }

func (l *readOnce) checkOutput(t *testing.T, args ...string) {
	t.Helper()
	e := terminal{
		once: l, env: map[string]string{"KITESCOPE_MILVUS_PASSWORD": planted + "-milvus-password"},
	}.run(t.Context(), t, args...)
	if e.code != cli.ExitOK && e.code != cli.ExitFindings {
		t.Errorf("kitescope %s: exit %d: %s", strings.Join(args, " "), e.code, e.err)
	}
	if e.stdout == "" {
		t.Logf("kitescope %s: nothing", strings.Join(args, " "))
	}
	for where, text := range map[string]string{"stdout": e.stdout, "stderr": e.err} {
		saveOutput(t, where, text)
		if found := secretIn(text); found != "" {
			t.Errorf("kitescope %s: a secret on %s: %s", strings.Join(args, " "), where, found)
		}
	}
}

// listFormats returns the output formats of get. describe has the formats of documents.
func listFormats() []string { return []string{"json", "csv", "yaml", "table", "wide"} }

// checkAllOutput runs every command that shows a cluster in every format, and checks that the output has no secret.
func (l *readOnce) checkAllOutput(t *testing.T, flags []string) {
	t.Helper()
	run := func(args ...string) { t.Helper(); l.checkOutput(t, append(args, flags...)...) }
	for _, r := range view.Resources {
		for _, format := range listFormats() {
			run("get", r.Name, "-o", strings.Replace(format, "=", "={{json .}}", 1))
		}
		for i, name := range l.namesFrom(t, flags, r) {
			run("describe", r.Name, name, "--records")
			if i == 0 {
				run("describe", r.Name, name, "--records", "-o", "json")
				run("describe", r.Name, name, "--records", "-o", "yaml")
			}
		}
	}
	run("overview")
	run("overview", "-o", "json")
	for _, name := range l.namesFrom(t, flags, resourceNamed(t, "collections")) {
		run("tree", name, "--all")
		run("tree", name, "--all", "-o", "json")
	}
	for _, format := range clusters.BalanceFormats().Names() {
		run("balance", "--plan", "-o", strings.Replace(format, "=", "={{json .}}", 1))
	}
	for _, format := range clusters.FindingsFormats().Names() {
		run("diagnose", "--all", "-o", strings.Replace(format, "=", "={{json .}}", 1))
	}
}

func resourceNamed(t *testing.T, name string) *view.Resource {
	t.Helper()
	r, err := view.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// namesFrom returns names of objects of a resource: at most 20 if the resource may hold secrets, and at most
// two otherwise.
func (l *readOnce) namesFrom(t *testing.T, flags []string, r *view.Resource) []string {
	t.Helper()
	most := 2
	switch r.Name {
	case "nodes", "users", "config", "tasks", "databases", "collections":
		most = 20
	}
	var names []string
	e := terminal{once: l}.mustRun(t, cli.ExitOK,
		append([]string{"get", r.Name, "-o", "name", "-q", "--limit", "40"}, flags...)...)
	for word := range strings.Lines(e.stdout) {
		if _, name, ok := strings.Cut(strings.TrimSpace(word), "/"); ok && len(names) < most {
			names = append(names, name)
		}
	}
	return names
}

// TestNoSecretOfACapture checks that the access keys and password hashes of the captures do not appear in any output.
func TestNoSecretOfACapture(t *testing.T) {
	t.Parallel()
	snapshots, err := filepath.Glob(capture("*", "etcd_snapshot.db.gz"))
	if err != nil || len(snapshots) < 8 {
		t.Fatalf("%d fixtures: %v", len(snapshots), err)
	}
	for _, file := range snapshots {
		name := filepath.Base(filepath.Dir(file))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := captureFlags(t, name)
			bundle := filepath.Join(t.TempDir(), "x.kite")
			checkOutput(t, append([]string{"snapshot", "save", bundle}, flags...)...)
			checkBundle(t, bundle)
			checkOutput(t, "snapshot", "info", bundle)
			once := &readOnce{}
			if name == "cluster-2.3.5-t7" { // the most complete capture; its metrics are read below
				once.checkAllOutput(t, flags[:4])
			}
			for _, r := range view.Resources {
				once.checkOutput(t, append([]string{"get", r.Name, "-o", "json"}, flags...)...)
			}
			once.checkOutput(t, append([]string{"describe", "user", "root", "--records"}, flags...)...)
			once.checkOutput(t, append([]string{"diagnose", "--all", "-o", "wide"}, flags...)...)
			once.checkOutput(t, append([]string{"balance"}, flags...)...)
		})
	}
}

// saveOutput saves a text for tools/secrets, which searches it for secrets with independent rules.
func saveOutput(t *testing.T, name, text string) {
	t.Helper()
	dir := os.Getenv("KITESCOPE_KEEP_OUTPUTS")
	if dir == "" || text == "" {
		return
	}
	f, err := os.CreateTemp(dir, "*-"+name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(t.Name() + "\n" + text)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// checkBundle checks that no member of a bundle has a secret.
func checkBundle(t *testing.T, path string) {
	t.Helper()
	for name, content := range membersOf(t, path) {
		saveOutput(t, filepath.Base(name), content)
		if found := secretIn(content); found != "" {
			t.Errorf("%s holds a secret: %q", name, found)
		}
	}
}

func membersOf(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	members := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		members[h.Name] = string(content)
	}
	if members["manifest.json"] == "" || members["end.json"] == "" {
		t.Fatalf("%s is no whole bundle", path)
	}
	return members
}

// TestNoSecretOfACluster checks that secrets in metadata and in responses of processes are neither shown nor saved.
func TestNoSecretOfACluster(t *testing.T) {
	f := secretFakes(t)
	asked := []string{"--window", "0", "--milvus-user", "me", "--from", f.from}
	bundle := filepath.Join(t.TempDir(), "live.kite")
	t.Run("live", func(t *testing.T) {
		live, once := append([]string{"--live"}, asked...), &readOnce{}
		for _, r := range view.Resources {
			once.checkOutput(t, append([]string{"get", r.Name, "-o", "json"}, live...)...)
		}
		for _, line := range [][]string{
			{"get", "nodes", "-o", "wide"},
			{"get", "nodes", "--debug"},
			{"get", "calls"},
			{"describe", "node", "querynode-4", "--records"},
			{"describe", "node", "querynode-5"},
			{"overview"},
			{"tree", "docs"},
			{"metrics", "-o", "json"},
			{"latency"},
			{"preflight", "--to", "3.0"},
			{"why"},
			{"report", "-o", "html"},
			{"report", "-o", "markdown"},
		} {
			checkOutput(t, append(line, live...)...)
		}
		checkOutput(t, append([]string{"diagnose", "--all", "-o", "wide"}, asked...)...)
		checkOutput(t, append([]string{"balance", "--plan"}, asked...)...)
		checkOutput(t, append([]string{"snapshot", "save", bundle, "--history"}, live...)...)
	})
	t.Run("past", func(t *testing.T) {
		recording := filepath.Join(t.TempDir(), "recording")
		const enough = 5 * time.Second
		ctx, cancel := context.WithTimeout(t.Context(), enough)
		defer cancel()
		e := terminal{}.run(ctx, t, "record", "-O", recording, "--every", "1s", "--from", f.from)
		if found := secretIn(e.stdout + e.err); found != "" {
			t.Errorf("record: %s", found)
		}
		for _, from := range []string{f.from, bundle} {
			for _, line := range [][]string{
				{"history"},
				{"history", "-o", "json"},
				{"history", "-o", "csv"},
				{"diff", "--at", "rev:2"},
				{"diff", "--at", "rev:2", "-o", "json"},
			} {
				checkOutput(t, append(line, "--from", from)...)
			}
		}
		chunks, err := filepath.Glob(filepath.Join(recording, "*.kite"))
		if err != nil || len(chunks) == 0 {
			t.Fatal("no recording", err)
		}
		for _, chunk := range chunks {
			checkBundle(t, chunk)
		}
	})
	t.Run("bundle", func(t *testing.T) {
		checkBundle(t, bundle)
		(&readOnce{}).checkAllOutput(t, []string{"--from", bundle})
	})
	t.Run("a recording of others", func(t *testing.T) {
		raw := filepath.Join(t.TempDir(), "raw.jsonl")
		var text bytes.Buffer
		c := clusterOf(t, f.from)
		for _, r := range plantAnswers(t,
			livetest.Responses(c, livetest.Options{Config: secretConfig(), Metrics: secretMetrics()})) {
			if err := live.WriteRecord(&text, r); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(raw, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if secretIn(text.String()) == "" {
			t.Fatal("the recording holds no secret")
		}
		flags := []string{"--from", f.from, "--runtime", raw}
		(&readOnce{}).checkAllOutput(t, flags)
		kept := filepath.Join(t.TempDir(), "kept.kite")
		checkOutput(t, append([]string{"snapshot", "save", kept}, flags...)...)
		checkBundle(t, kept)
	})
	t.Run("ui", func(t *testing.T) {
		checkScreens(t, firstCluster(t, f.from))
	})
}

// TestCredentialsAreNotEchoed checks that the credentials for the processes do not appear in any output, even if
// processes return them, in plain text and in their encoded form.
func TestCredentialsAreNotEchoed(t *testing.T) {
	const own = planted + "-own"
	config := filepath.Join(t.TempDir(), "config.yaml")
	passwordFile := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(passwordFile, []byte(own+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		env   map[string]string
		flags []string
		wire  string
		says  string
	}{
		"password": {
			map[string]string{"KITESCOPE_MILVUS_PASSWORD": own},
			[]string{"--milvus-user", "me"},
			"me:" + own,
			"querynode-4: denied",
		},
		"file": {
			nil,
			[]string{"--milvus-user", "me", "--milvus-password-file", passwordFile},
			"me:" + own,
			"querynode-4: denied",
		},
		"token": {map[string]string{"KITESCOPE_MILVUS_TOKEN": own}, nil, own, "querynode-4: denied"},
		"proxy": {
			nil, []string{"--proxy", "socks5://me:s3cr3t-proxy@127.0.0.1:1"}, "", "unreachable: the proxy 127.0.0.1:1",
		},
		"web proxy": {
			nil, []string{"--proxy", "http://me:s3cr3t-proxy@127.0.0.1:1"}, "", "unreachable: the proxy 127.0.0.1:1",
		},
		"no proxy": {nil, []string{"--proxy", "ftp://me:s3cr3t-proxy@127.0.0.1:1"}, "", "proxy"},
	} {
		t.Run(name, func(t *testing.T) {
			f := echoFakes(t, own, test.wire)
			env := map[string]string{"KITESCOPE_CONFIG": config}
			maps.Copy(env, test.env)
			bundle := filepath.Join(t.TempDir(), "x.kite")
			for _, line := range [][]string{
				{"get", "nodes", "-o", "json", "--live"},
				{"get", "calls"},
				{"diagnose", "-o", "wide"},
				{"snapshot", "save", bundle, "--live"},
			} {
				e := terminal{env: env}.run(t.Context(), t,
					slices.Concat(line, test.flags, []string{
						"--window", "0", "--node-timeout", "2s", "--from", f.from,
					})...)
				if found := secretIn(e.stdout + e.err); found != "" {
					t.Errorf("%v: %s", line, found)
				}
				containsAll(t, e.err, test.says)
			}
			if _, err := os.Stat(bundle); err == nil {
				checkBundle(t, bundle)
			}
		})
	}
	// A context stores no password, whichever flag contains it.
	e := terminal{env: map[string]string{"KITESCOPE_CONFIG": config}}.run(t.Context(), t, "context", "add", "x",
		"--from", "x.db", "--proxy", "socks5://me:s3cr3t-proxy@127.0.0.1:1")
	if e.code != cli.ExitUsage {
		t.Errorf("exit %d: %s", e.code, e.err)
	}
	containsAll(t, e.err, "has a user name")
	if text, err := os.ReadFile(config); err == nil || secretIn(string(text)+e.err) != "" {
		t.Errorf("%s%s", text, e.err)
	}
}

// echoFakes starts a cluster in which two processes refuse every call and return the credentials of the caller in
// the error.
func echoFakes(t *testing.T, plain, wire string) *fakes {
	t.Helper()
	return startFakes(t, metatest.Cluster("2.5"), func(c *model.Cluster) []live.Record {
		records := livetest.Responses(c, livetest.Options{})
		for i := range records {
			switch r := &records[i]; {
			case strings.HasPrefix(r.Method, "GET "):
			case r.Node == 4:
				r.Response, r.Error = nil, "UNAUTHENTICATED: "+plain+" may not do this"
			case r.Node == 5:
				r.Response, r.Error = nil,
					"UNAUTHENTICATED: "+base64.StdEncoding.EncodeToString([]byte(wire))+" may not do this"
			}
		}
		return records
	}, recorded.Options{})
}
