// Command count measures the Go code of a tree. What enters is a directory; what leaves is a table of lines of code (by
// top directory, and of the largest packages) and of the types with the most methods. A line of code is one with a
// token on it that is not a comment, as go/scanner sees it. Files of tests, packages for tests of others (whose names end
// in "test"), testdata, tools and generated files are not counted.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	top := flag.Int("top", 5, "how many of the largest packages and types to print")
	flag.Parse()
	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	found, err := measure(os.DirFS(root))
	if err == nil {
		err = found.print(os.Stdout, *top)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "count:", err)
		os.Exit(1)
	}
}

// figures are what was counted, by directory and by "directory.Type".
type figures struct {
	lines, methods map[string]int
}

func measure(tree fs.FS) (figures, error) {
	found := figures{lines: map[string]int{}, methods: map[string]int{}}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if skipped(name) {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return found.add(name, text)
	})
	return found, err
}

func skipped(dir string) bool {
	base := path.Base(dir)
	return dir == "tools" || base == "testdata" || base != "." && strings.HasPrefix(base, ".") || strings.HasSuffix(base, "test")
}

func (f figures) add(name string, text []byte) error {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ast.IsGenerated(parsed) {
		return nil
	}
	f.lines[path.Dir(name)] += codeLines(text)
	for _, declared := range parsed.Decls {
		if fn, ok := declared.(*ast.FuncDecl); ok && fn.Recv != nil {
			f.methods[path.Dir(name)+"."+receiver(fn.Recv.List[0].Type)]++
		}
	}
	return nil
}

func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return "?"
}

// codeLines counts the lines with a token on them; a string over several lines counts as those of them that are not empty.
func codeLines(text []byte) int {
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	lines := map[int]bool{}
	for {
		at, kind, literal := s.Scan()
		if kind == token.EOF {
			return len(lines)
		}
		if kind == token.SEMICOLON && literal != ";" { // put in at the end of a line
			continue
		}
		first := file.Line(at)
		lines[first] = true
		for i, part := range bytes.Split([]byte(literal), []byte("\n")) {
			if len(bytes.TrimSpace(part)) > 0 {
				lines[first+i] = true
			}
		}
	}
}

func (f figures) print(w io.Writer, top int) error {
	all, shown, byTop := 0, 0, map[string]int{}
	for dir, n := range f.lines {
		first, _, _ := strings.Cut(dir, "/")
		byTop[first] += n
		all += n
		if first == "render" || first == "tui" || first == "cmd" {
			shown += n
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d\t  lines of code without tools\n%d\t  of render, tui and cmd\n", all, shown)
	for _, part := range []struct {
		title string
		of    map[string]int
		top   int
	}{
		{"lines by directory", byTop, len(byTop)},
		{"lines of the largest packages", f.lines, top},
		{"methods on one type", f.methods, top},
	} {
		fmt.Fprintf(&text, "\n%s\n", part.title)
		for _, name := range largest(part.of, part.top) {
			fmt.Fprintf(&text, "%d\t  %s\n", part.of[name], name)
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if _, err := io.WriteString(table, text.String()); err != nil {
		return err
	}
	return table.Flush()
}

// largest are the names of the n greatest counts.
func largest(counts map[string]int, n int) []string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	return names[:min(n, len(names))]
}
