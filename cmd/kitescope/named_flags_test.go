package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/cmd/kitescope/cli"
)

// foreignFlags maps flags of other programs that appear in texts to the program.
var foreignFlags = map[string]string{
	"export-json":               "hyperfine",
	"benchmark_repetitions":     "Google Benchmark",
	"benchmark_format":          "Google Benchmark",
	"quota-backend-bytes":       "etcd",
	"auto-compaction-mode":      "etcd",
	"auto-compaction-retention": "etcd",
	"cluster":                   "etcdctl",
	"endpoints":                 "etcdctl",
	"prefix":                    "etcdctl",
	"json":                      "jfr print",
	"stack-depth":               "jfr print",
	"events":                    "jfr print",
	"no-group":                  "perf report",
	"stdio":                     "perf report",
	"no-children":               "perf report",
}

var longFlag = regexp.MustCompile(`(?:^|[^-A-Za-z0-9_])--([a-z][a-z0-9_-]*[a-z0-9])`)

// TestNamedFlagsExist checks that every flag in the texts of the program exists, so that no hint names
// an unknown flag.
func TestNamedFlagsExist(t *testing.T) {
	known := map[string]bool{"help": true}
	var collect func(c *cobra.Command)
	collect = func(c *cobra.Command) {
		for _, set := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
			set.VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		}
		for _, sub := range c.Commands() {
			collect(sub)
		}
	}
	tree := newTree(&cli.App{Streams: &cli.Streams{}})
	tree.BuildAll()
	collect(tree.Root)
	used := map[string]bool{}
	texts := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() &&
			(slices.Contains([]string{"testdata", "tools", "docs"}, d.Name()) || strings.HasSuffix(d.Name(), "test")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			x, ok := n.(*ast.BasicLit)
			if !ok || x.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(x.Value)
			if err != nil || strings.Contains(text, "var(--") { // style sheets
				return true
			}
			for _, m := range longFlag.FindAllStringSubmatch(text, -1) {
				texts++
				if _, foreign := foreignFlags[m[1]]; foreign {
					used[m[1]] = true
				} else if !known[m[1]] {
					t.Errorf("%s: --%s in %q: no command has it", strings.TrimPrefix(path, "../../"), m[1], text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if texts < 300 {
		t.Errorf("only %d flags are named: texts are not found", texts)
	}
	for name := range foreignFlags {
		if !used[name] {
			t.Errorf("--%s is in the list of other programs' flags, and nothing names it", name)
		}
	}
}
