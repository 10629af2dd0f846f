package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/inspect/view"
)

// savedLive saves a bundle of fakes with what they say, once a test.
func savedLive(t *testing.T, f *fakes) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "live.kite")
	e := kitescope(t, exitOK, "snapshot", "save", path, "--live", "--window", "0", "--strict", "--from", f.from)
	says(t, e.err, "answers of nodes", "secrets redacted")
	return path
}

// sameFromBundle saves a bundle with what the processes say, and compares the output of
// every command on it with what it writes on the live cluster.
func sameFromBundle(t *testing.T, f *fakes) {
	t.Helper()
	live, bundle := []string{"--live", "--window", "0", "--from", f.from}, []string{"--from", savedLive(t, f)}
	compared := 0
	for _, line := range everyDocument(t, f) {
		want := terminal{}.run(t.Context(), t, append(line, live...)...)
		got := terminal{}.run(t.Context(), t, append(line, bundle...)...)
		if want.code != got.code || want.code != exitOK && want.code != exitFindings {
			t.Errorf("%s: exit %d live, %d from the bundle\n%s%s", strings.Join(line, " "), want.code, got.code, want.err, got.err)
			continue
		}
		same(t, strings.Join(line, " "), withoutOrigin(t, got.stdout), withoutOrigin(t, want.stdout))
		compared++
	}
	t.Logf("%d documents are the same", compared)
}

// everyDocument are command lines that together show all that is known of a cluster, as JSON.
func everyDocument(t *testing.T, f *fakes) [][]string {
	t.Helper()
	lines := [][]string{
		{"overview", "-o", "json"},
		{"balance", "--plan", "-o", "json"},
		{"balance", "--by", "memory", "-o", "json"},
		{"diagnose", "--all", "-o", "json"},
	}
	for _, c := range f.cluster.Collections {
		if c.State == "Created" {
			lines = append(lines, []string{"tree", c.ID.String(), "--dropped", "-o", "json"})
		}
	}
	for _, r := range view.Resources {
		lines = append(lines, []string{"get", r.Name, "-o", "json"})
		for _, name := range namesOf(t, f.from, r, 3) {
			lines = append(lines, []string{"describe", r.Name, name, "-o", "json"})
		}
	}
	return lines
}

// namesOf are the ids of the first objects of a resource.
func namesOf(t *testing.T, from string, r *view.Resource, most int) []string {
	t.Helper()
	var names []string
	for i, word := range strings.Fields(kitescope(t, exitOK, "get", r.Name, "-o", "name", "-q", "--live", "--window", "0", "--from", from).stdout) {
		if i == most {
			break
		}
		_, name, _ := strings.Cut(word, "/")
		names = append(names, name)
	}
	return names
}

// withoutOrigin decodes a document and leaves out where it is from and how long answers took:
// that must differ.
func withoutOrigin(t *testing.T, text string) any {
	t.Helper()
	var document any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&document); err != nil {
		t.Fatalf("%v:\n%s", err, head(text))
	}
	cutOrigin(document)
	return document
}

func cutOrigin(node any) {
	switch node := node.(type) {
	case map[string]any:
		if runtime, ok := node["runtime"].(map[string]any); ok {
			delete(runtime, "kind")
			delete(runtime, "location")
		}
		delete(node, "source")
		delete(node, "took_seconds")
		for _, child := range node {
			cutOrigin(child)
		}
	case []any:
		for _, child := range node {
			cutOrigin(child)
		}
	}
}
