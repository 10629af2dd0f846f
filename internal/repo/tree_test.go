package repo_test

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
)

// tree holds the packages of this module, without tests.
type tree struct {
	packages []*pkg
}

// pkg holds the files of a directory for all platforms, without tests.
type pkg struct {
	path  string // relative to the module root
	files []*file
}

// file is the syntax tree of a file.
type file struct {
	path    string
	fset    *token.FileSet
	syntax  *ast.File
	imports []imported
}

// imported is an imported package and its name in the importing file.
type imported struct {
	name, path string
}

// parseTree parses the module in root. It skips nested modules and directories that the go command ignores.
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
			if err == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") ||
				strings.HasPrefix(d.Name(), "_") {
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
	return t, nil
}

// parseFile parses a file. It returns nil if every build excludes the file.
func parseFile(root fs.FS, name string) (*file, error) {
	source, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	f := &file{path: name, fset: token.NewFileSet()}
	f.syntax, err = parser.ParseFile(f.fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || hasIgnoreTag(f.syntax) {
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

// hasIgnoreTag reports whether a file has the build constraint "ignore", as code generators have.
func hasIgnoreTag(f *ast.File) bool {
	for _, g := range f.Comments {
		if g.Pos() > f.Package {
			return false
		}
		for _, c := range g.List {
			if x, err := constraint.Parse(c.Text); err == nil &&
				!x.Eval(func(tag string) bool { return tag != "ignore" }) {
				if x.Eval(func(string) bool { return true }) {
					return true
				}
			}
		}
	}
	return false
}

var version = regexp.MustCompile(`^v[0-9]+$`)

// likelyName returns the probable name of a package that is imported without one.
func likelyName(imported string) string {
	if version.MatchString(path.Base(imported)) {
		imported = path.Dir(imported)
	}
	return path.Base(imported)
}

// importsBelow reports whether the file imports a package at or below dir.
func (f *file) importsBelow(dir string) bool {
	for _, i := range f.imports {
		if below(i.path, dir) {
			return true
		}
	}
	return false
}

// importOf returns the package that a selector refers to, or the zero value if it does not refer to a package.
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

// selectors calls g for each selector x.Name. The first argument of g is the package that x refers to, or the zero
// value.
func (f *file) selectors(g func(of imported, s *ast.SelectorExpr)) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			g(f.importOf(s), s)
		}
		return true
	})
}

func (f *file) at(n ast.Node) string { return f.fset.Position(n.Pos()).String() }

// exported returns the exported types of a file: signatures of functions and methods, types of variables, and type
// declarations. Unexported named fields of structs are left out.
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
