package kitescope_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// turn is a way of saying something that a person who runs clusters would not use, and what to write instead.
type turn struct {
	pattern *regexp.Regexp
	instead string
}

// turns are the forbidden ones; CONTRIBUTING.md, "Words", says why.
func turns() []turn {
	var list []turn
	for _, x := range [][2]string{
		{`(?i)\b(?:nodes?|process(?:es)?|prox(?:y|ies)|[a-z]*coord|leaders?|kafka|etcd|it|they|that|who) (?:said|says|say|told|tells|tell) `, "reported: processes do not talk"},
		{`(?i)\bcan(?:not)? look\b|\bcould not look\b`, "could not run, cannot run"},
		{`(?i)\blook again\b|\blook whether\b|\bsee whether\b|\bsee what\b`, "run the check again, check whether, find out"},
		{`, (?:of|for|in|from|to|by|with) which\b|\bwhich [^.;:]*, which\b`, "a sentence of its own"},
		{`, so that\b`, "so, or a sentence of its own"},
		{`(?i)\b(?:[b-df-z]|[a-z]+[a-df-z]|[a-z]+[^r]e) (?:is|are|was|were) no (?:[a-kn-z]|l[^o]|m[^o])`, "is not, has no: X is no Y is not English"},
		{`(?i)\bone by one\b`, "by brute force, or one at a time"},
		{`(?i)\bprocessors?\b`, "CPU, cores"},
		{`(?i)\bby (?:it|them)sel(?:f|ves)\b`, "on its own"},
		{`(?i)\b(?:no|some|any)body\b|\bwhoever\b`, "the process, the node, no node"},
		{`(?i)\ban information\b|\bas information\b`, "info"},
		{`(?i)\bdrawn up\b|\bdraws? up\b`, "built, builds"},
		{`(?i)\bworked out\b`, "computed"},
		{`(?i)\bnext to nothing\b|\bthe dearest\b|\bof the middle\b`, "almost nothing, most expensive, median"},
		{`(?i)\bwhat (?:is|was) (?:flushed|dropped|deleted|inserted|written)\b`, "the noun: flushed segments, deleted rows"},
		{`(?i)\ba (?:index|insert|upsert|error|object|alias|etcd)\b`, "an"},
		{`[0-9] %(?:[ .,;:)]|$)`, "35%: no blank before the sign"},
		{`(?i)[^0-9#.:/-][1-9][0-9]{4,} (?:rows|segments|requests|keys|vectors|seconds|ms)\b`, "digits in groups: 10,000"},
	} {
		list = append(list, turn{regexp.MustCompile(x[0]), x[1]})
	}
	return list
}

// folders are those whose texts are held to the turns: all with code that users run. Those whose name ends in test are for tests.
func folders(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, top := range []string{"cmd", "doc", "engine", "inspect", "paste", "profile", "render", "replay", "secret", "sorting", "table", "tui", "words"} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || !d.IsDir():
				return err
			case d.Name() == "testdata" || strings.HasSuffix(d.Name(), "test"):
				return filepath.SkipDir
			}
			if files, _ := filepath.Glob(filepath.Join(path, "*.go")); len(files) > 0 {
				list = append(list, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// heldPages are the documents that are held to them: all but what programs wrote between marks.
func heldPages(t *testing.T) []string {
	t.Helper()
	list := []string{"README.md"}
	err := filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			list = append(list, path)
		}
		return err
	})
	if err != nil || len(list) < 30 {
		t.Fatalf("only %d documents: %v", len(list), err)
	}
	return list
}

// TestTurnsOfPhrase reads what users read: texts in the code, and documents but for what stands in code blocks.
func TestTurnsOfPhrase(t *testing.T) {
	list := turns()
	hold := func(where, text string) {
		for _, x := range list {
			if said := x.pattern.FindString(text); said != "" {
				t.Errorf("%s: %q: write %s", where, strings.TrimSpace(said), x.instead)
			}
		}
	}
	read := 0
	for _, folder := range folders(t) {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no source: %v", folder, err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.ImportSpec, *ast.Field: // paths, and tags of fields
					_, field := x.(*ast.Field)
					return field && x.(*ast.Field).Tag == nil
				case *ast.BasicLit:
					if text, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING && strings.Contains(text, " ") { // a word alone is a name
						read++
						for i, line := range strings.Split(text, "\n") {
							at := set.Position(x.Pos())
							hold(at.Filename+":"+strconv.Itoa(at.Line+i), line)
						}
					}
				}
				return true
			})
		}
	}
	if read < 10000 {
		t.Errorf("only %d texts were read", read)
	}
	for _, page := range heldPages(t) {
		written := false // by a program that measured
		prose(t, page, func(n int, line string) {
			if mark := strings.TrimSpace(line); strings.HasPrefix(mark, "<!-- ") && strings.Contains(mark, ": ") {
				written = strings.Contains(mark, ": begin")
			}
			if !written {
				hold(page+":"+strconv.Itoa(n), line)
			}
		})
	}
}

// TestTurnsAreFound: each turn finds what it is for, and leaves alone what is English.
func TestTurnsAreFound(t *testing.T) {
	list := turns()
	found := func(text string) bool {
		for _, x := range list {
			if x.pattern.MatchString(text) {
				return true
			}
		}
		return false
	}
	for _, bad := range []string{
		"no process told its metrics twice", "QueryCoord says that it is loaded", "8 of 80 checks could not look", "look again in a minute", "see whether it is full",
		"the busiest node, for which searches wait", "the file is damaged, so that what is missing", "a burst is no leak", "rows are compared one by one", "its processors are busy",
		"it does not pass by itself", "nobody serves it", "it is an information", "the target was drawn up", "reachable, worked out", "what is dropped stays in etcd",
		"start a index node", "it costs next to nothing", "the dearest segments", "35 % of it", "more than 10000 rows",
	} {
		if !found(bad) {
			t.Errorf("nothing is held against %q", bad)
		}
	}
	for _, good := range []string{
		"no process reported its metrics", "there is no replica left", "it is no longer loaded", "milvus issues 23604 and 24065", "35% of it", "10,000 rows", "a unit of 15000 something",
		"which nodes have room", "an index node", "a user", "so the node is full", "%d %s of 5 %s",
	} {
		if found(good) {
			t.Errorf("%q is held against", good)
		}
	}
}
