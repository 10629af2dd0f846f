package kitescope_test

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// tree is a module's own packages, as they are written, and what its document allows them.
type tree struct {
	packages []*pkg
	imports  map[string]allowance // by the path of a row
}

// pkg is the files of a folder, without tests, of all platforms.
type pkg struct {
	path  string // inside the module
	files []*file
}

// file is the syntax of one file.
type file struct {
	path    string
	fset    *token.FileSet
	syntax  *ast.File
	lines   int
	imports []imported
}

// imported is a package under the name that a file gives it.
type imported struct {
	name, path string
}

// parseTree reads a module. Modules in it are others, as are folders that the go command does not look at.
func parseTree(root fs.FS) (*tree, error) {
	t, at := new(tree), map[string]*pkg{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case d.IsDir():
			_, err := fs.Stat(root, path.Join(name, "go.mod"))
			if err == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parseFile(root, name)
		if err != nil || f == nil {
			return err
		}
		dir := path.Dir(name)
		if at[dir] == nil {
			at[dir] = &pkg{path: dir}
			t.packages = append(t.packages, at[dir])
		}
		at[dir].files = append(at[dir].files, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(root, document)
	if err != nil {
		return nil, err
	}
	t.imports, err = parseTable(string(text))
	return t, err
}

// parseFile reads a file, nil if it is left out of every build.
func parseFile(root fs.FS, name string) (*file, error) {
	source, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	f := &file{path: name, fset: token.NewFileSet(), lines: lines(source)}
	f.syntax, err = parser.ParseFile(f.fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ignored(f.syntax) {
		return nil, err
	}
	for _, i := range f.syntax.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		if i.Name != nil {
			f.imports = append(f.imports, imported{i.Name.Name, p})
			continue
		}
		f.imports = append(f.imports, imported{likelyName(p), p})
	}
	return f, nil
}

// ignored reports whether a file's constraint is "ignore", as programs have that generate others.
func ignored(f *ast.File) bool {
	for _, g := range f.Comments {
		if g.Pos() > f.Package {
			return false
		}
		for _, c := range g.List {
			if x, err := constraint.Parse(c.Text); err == nil && !x.Eval(func(tag string) bool { return tag != "ignore" }) {
				if x.Eval(func(string) bool { return true }) {
					return true
				}
			}
		}
	}
	return false
}

var version = regexp.MustCompile(`^v[0-9]+$`)

// likelyName is the name of a package that is imported without one.
func likelyName(imported string) string {
	if version.MatchString(path.Base(imported)) {
		imported = path.Dir(imported)
	}
	return path.Base(imported)
}

// knows reports whether a file imports something below a path.
func (f *file) knows(dir string) bool {
	for _, i := range f.imports {
		if below(i.path, dir) {
			return true
		}
	}
	return false
}

// importOf is the package that a selector is of, if it is of one.
func (f *file) importOf(s *ast.SelectorExpr) imported {
	if x, ok := s.X.(*ast.Ident); ok {
		for _, i := range f.imports {
			if i.name == x.Name {
				return i
			}
		}
	}
	return imported{}
}

// selectors calls g for each x.Name, with the package that x is.
func (f *file) selectors(g func(of imported, s *ast.SelectorExpr)) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			g(f.importOf(s), s)
		}
		return true
	})
}

func (f *file) at(n ast.Node) string { return f.fset.Position(n.Pos()).String() }

// exported are the parts of a file that others see: signatures of functions and methods, types without
// their fields that have a name of their own and are not exported.
func exported(f *ast.File) (shown []ast.Node) {
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				shown = append(shown, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					if s.Names[0].IsExported() && s.Type != nil {
						shown = append(shown, s.Type)
					}
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						shown = append(shown, exportedParts(s.Type)...)
					}
				}
			}
		}
	}
	return shown
}

func exportedParts(t ast.Expr) (shown []ast.Node) {
	s, ok := t.(*ast.StructType)
	if !ok {
		return []ast.Node{t}
	}
	for _, field := range s.Fields.List {
		if len(field.Names) == 0 || field.Names[0].IsExported() {
			shown = append(shown, field.Type)
		}
	}
	return shown
}

// TestRules: each rule finds what breaks it, and nothing in a module that keeps all.
func TestRules(t *testing.T) {
	const reads = "package source\n\nimport clientv3 \"go.etcd.io/etcd/client/v3\"\n\nfunc get(c *clientv3.Client) { _ = clientv3.OpGet; c.Get() }\n"
	const rows = tableHead + "| `inspect/model`, `inspect/view` | nothing |\n| `inspect/source` | `go.etcd.io/etcd/client` |\n| `cmd` | everything |\n"
	good := map[string]string{
		document:                   rows,
		"inspect/model/model.go":   "// Package model is.\npackage model\n\nimport \"time\"\n\ntype T struct{ At time.Time }\n",
		"inspect/view/view.go":     "// Package view is.\npackage view\n",
		"inspect/source/source.go": "// Package source is.\n" + reads,
		"cmd/kitescope/main.go":    "// Command kitescope is.\npackage main\n\nimport \"os\"\n\nfunc main() { os.Exit(0) }\n",
		"tools/go.mod":             "module tools",
		"tools/main.go":            "package main\n\nfunc init() {}\n",
	}
	for name, test := range map[string]struct {
		file, text string
		want       string // of one line at least
	}{
		"nothing":                       {"", "", ""},
		"an import above its row":       {"inspect/model/x.go", "package model\n\nimport _ \"kitescope/inspect/check\"\n", "its row (inspect/model)"},
		"another module":                {"inspect/model/x.go", "package model\n\nimport _ \"example.com/x\"\n", "its row (inspect/model)"},
		"an import, elsewhere":          {"inspect/model/x_windows.go", "package model\n\nimport _ \"example.com/x\"\n", "its row (inspect/model)"},
		"no row":                        {"else/x.go", "// Package x is.\npackage x\n", "else has no row"},
		"support for tests":             {"inspect/source/x.go", "package source\n\nimport _ \"kitescope/inspect/source/sourcetest\"\n", "is for tests"},
		"os.Exit":                       {"inspect/model/x.go", "package model\n\nimport \"os\"\n\nfunc f() { os.Exit(1) }\n", "os.Exit: only cmd may"},
		"os.Exit under another name":    {"inspect/model/x.go", "package model\n\nimport q \"os\"\n\nvar f = q.Stdout\n", "q.Stdout: only cmd may"},
		"os without a name":             {"inspect/model/x.go", "package model\n\nimport . \"os\"\n\nvar f = Stdout\n", "imports os: only cmd may"},
		"flags":                         {"inspect/model/x.go", "package model\n\nimport \"flag\"\n\nvar f = flag.Bool\n", "imports flag: only cmd may"},
		"an operation that writes":      {"inspect/source/x.go", "package source\n\nimport clientv3 \"go.etcd.io/etcd/client/v3\"\n\nvar f = clientv3.OpPut\n", "OpPut writes"},
		"a method that writes":          {"inspect/source/x.go", "package source\n\nfunc f(c interface{ Put() }) { c.Put() }\n", "Put writes"},
		"another's function":            {"inspect/source/x.go", "package source\n\nimport \"maps\"\n\nvar f = maps.Delete\n", ""},
		"etcd in a command":             {"cmd/kitescope/x.go", "package main\n\nimport _ \"go.etcd.io/etcd/client/v3\"\n", "which only inspect/source knows"},
		"a client that is handed on":    {"inspect/source/x.go", "package source\n\nimport clientv3 \"go.etcd.io/etcd/client/v3\"\n\nfunc Open() *clientv3.Client { return nil }\n", "Client of go.etcd.io/etcd/client/v3 leaves"},
		"a client that is embedded":     {"inspect/source/x.go", "package source\n\nimport clientv3 \"go.etcd.io/etcd/client/v3\"\n\ntype T struct{ *clientv3.Client }\n", "leaves the package"},
		"a client that is kept":         {"inspect/source/x.go", "package source\n\nimport clientv3 \"go.etcd.io/etcd/client/v3\"\n\ntype T struct{ c *clientv3.Client }\n", ""},
		"a package without a word":      {"inspect/view/view.go", "package view\n", "inspect/view has no package comment"},
		"a row without files":           {document, rows + "| `inspect/check` | nothing |\n", "inspect/check has a row"},
		"a long file":                   {"inspect/model/x.go", "package model\n" + strings.Repeat("\n", maxLines), "is it one subject?"},
		"a long file that is generated": {"inspect/model/x.go", "// Code generated by x. DO NOT EDIT.\n\npackage model\n" + strings.Repeat("\n", maxLines), ""},
		"init":                          {"inspect/model/x.go", "package model\n\nfunc init() {}\n", "init function"},
		"init of a generator":           {"inspect/model/x.go", "//go:build ignore\n\npackage main\n\nfunc init() {}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range good {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if test.file != "" {
				root[test.file] = &fstest.MapFile{Data: []byte(test.text)}
			}
			tree, err := parseTree(root)
			if err != nil {
				t.Fatal(err)
			}
			var broken []string
			for _, r := range rules {
				broken = append(broken, r.check(tree)...)
			}
			if all := strings.Join(broken, "\n"); test.want == "" && all != "" || !strings.Contains(all, test.want) {
				t.Errorf("found %q, want %q", all, test.want)
			}
		})
	}
}
