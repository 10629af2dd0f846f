package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/render/clusters"
)

const jsonPage = "../../docs/reference/json.md"

// TestJSONReference checks docs/reference/json.md against the JSON documents in the golden files of all packages
// and against some that it writes itself. Every key must have a row with a meaning in the section of its kind,
// and every row must have a key. With -update it fills in types, adds missing rows without a meaning, and removes
// rows without a key.
func TestJSONReference(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(jsonPage)
	if err != nil {
		t.Fatal(err)
	}
	page := parseKeyPage(string(text))
	kinds := map[string]bool{}
	for _, d := range jsonDocuments(t) {
		kinds[d.kind] = true
		s := page.sections[d.kind]
		if s == nil {
			t.Errorf("%s: no section %s", jsonPage, d.kind)
			continue
		}
		page.walk(s, s, "", d.value)
	}
	if len(kinds) < 60 {
		t.Errorf("only %d kinds of documents were found", len(kinds))
	}
	written := writtenKeys(t)
	for _, at := range rareRows {
		section, path, _ := strings.Cut(at, " ")
		if !page.markSeen(section, path, written) {
			t.Errorf("%s is no row, is in a golden file now, or is written by no code", at)
		}
	}
	if *update {
		if err := os.WriteFile(jsonPage, []byte(page.updated()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, fault := range page.faults() {
		t.Errorf("%s: %s (-update adds and removes rows, and fills in types)", jsonPage, fault)
	}
	for _, kind := range writtenKinds(t) {
		if page.sections[kind.name] == nil {
			t.Errorf("%s: no section %s, which %s writes", jsonPage, kind.name, kind.at)
		}
	}
	for _, key := range written {
		if !page.names(key.name) {
			t.Errorf("%s: no row for %q, which %s writes: let a golden file have it", jsonPage, key.name, key.at)
		}
	}
}

// jsonDocument is a document that kitescope wrote.
type jsonDocument struct {
	kind  string
	value any
}

// jsonDocuments returns the documents of the golden files, of the commands that it runs, and of fileDocuments.
func jsonDocuments(t *testing.T) (all []jsonDocument) {
	t.Helper()
	for _, root := range []string{"../../render", "../../replay"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(path, "testdata") || !strings.Contains(d.Name(), "json") {
				return err
			}
			text, err := os.ReadFile(path)
			all = append(all, documentsOf(t, path, text)...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	storage := "../../testdata/storage/"
	for _, command := range [][]string{
		{
			"engine", "info",
			storage + "2.3.5/delta_log/470590760626297790/470590760626297791/470590760626297798/470590760626097609",
		},
		{"engine", "info", storage + "2.2.16/insert_log/470590662752276590/470590662752276591/470590662752276598/101"},
		{"replay", "show", "../../replay/testdata/result.json", "--where", "qps>0"},
		{"replay", "show", "../../replay/whatif/testdata/report.json", "--where", "gain>0"},
		{"balance", "--from", "demo://", "--where", "node=13"},
		{"diagnose", "--from", "demo://", "--where", "severity=warning"},
		{
			"preflight", "--from", "../../testdata/snapshots/standalone-2.1.0/etcd_snapshot.db.gz", "--to", "2.5.16",
			"--fail-on", "never",
		},
		{"decode", "msgid", "3/4", "449123", "12/4/5/6"},
		{"decode", "ts", "470740953811230721"},
	} {
		var out, errs bytes.Buffer
		p := newProgram(scriptStreams(&out, &errs, nil))
		if code := p.run(context.Background(), append(command, "-o", "json")); code != 0 {
			t.Fatalf("%v: %d: %s", command, code, errs.String())
		}
		all = append(all, documentsOf(t, command[0], out.Bytes())...)
	}
	return append(all, fileDocuments(t)...)
}

// documentsOf returns the documents in a text. Documents of changed findings have no kind; they get the kind Change.
func documentsOf(t *testing.T, path string, text []byte) (all []jsonDocument) {
	t.Helper()
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		d.UseNumber()
		var value map[string]any
		switch err := d.Decode(&value); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			return nil // a text about JSON, or a foreign format
		}
		kind, _ := value["kind"].(string)
		switch {
		case strings.HasSuffix(filepath.ToSlash(path), "findings/changes.jsonl"):
			kind = "Change"
		case value["apiVersion"] != render.APIVersion:
			continue
		}
		all = append(all, ofResource(jsonDocument{kind, value})...)
	}
}

// ofResource separates the objects of a resource from their list or description, because their keys have their
// own section.
func ofResource(d jsonDocument) []jsonDocument {
	for _, r := range view.Resources {
		v, _ := d.value.(map[string]any)
		switch d.kind {
		case r.Kind + "List":
			items := v["items"]
			v["items"] = []any{}
			return []jsonDocument{{"Lists", v}, {r.Name, items}}
		case r.Kind:
			item := v["item"]
			v["item"] = ""
			return []jsonDocument{{"Descriptions", v}, {r.Name, []any{item}}}
		}
	}
	return []jsonDocument{d}
}

// rareRows lists the rows whose keys are in no golden file. The code must write their names.
var rareRows = []string{
	"Diff not_compared", "Document matched", "EngineLog column_groups", "EngineLog columns", "EngineLog files",
	"EngineLog nan_rows", "EngineLog null_rows", "Finding slows[].collection", "Finding slows[].collection_id",
	"Source taken_is_file_date",
}

// fileDocuments returns descriptions of a bundle and of a recording with all possible fields.
func fileDocuments(t *testing.T) (all []jsonDocument) {
	t.Helper()
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	bundle := source.FileInfo{
		Origin: source.Origin{Kind: "bundle", Detail: "one of two"}, Size: 1, Compressed: true,
		Roots: []string{"by-dev"}, Revision: 2, Taken: at, Keys: 3,
		KeyBytes: 4, Checksum: "ok", Manifest: &source.Manifest{Version: 1, Redacted: true},
		Members: []source.MemberInfo{{Name: "manifest.json", Size: 5}},
	}
	recording := source.FileInfo{
		Origin: source.Origin{Kind: "recording"}, Revision: 2, Taken: at,
		Gaps: []source.Gap{{Where: "chunk", Reason: "cut"}},
		Recorded: &source.RecordedInfo{
			Cluster: 1, Oldest: 1, From: at, Until: at, Chunks: []source.ChunkInfo{{Name: "chunk"}},
		},
	}
	told := &session.RecordingSummary{
		Rounds: 1, Every: time.Minute, Pulls: []session.Pull{{Path: "profiles", Size: 1, Check: "idle-node"}},
	}
	format, err := render.ListFormats().Parse("json")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*view.Description{
		describeFile("case.kite", bundle, nil), describeFile("prod", recording, told),
	} {
		var b bytes.Buffer
		if err := clusters.Description(&b, d, view.NewEnv(model.Build(model.Parts{}), at), nil,
			render.Options{Format: format}); err != nil {
			t.Fatal(err)
		}
		all = append(all, documentsOf(t, "file", b.Bytes())...)
	}
	return all
}
