// Command count prints the number of lines of Go code in a tree, by top directory. A line counts if it has a
// token that is not a comment, according to go/scanner. It does not count test files, test helper packages
// (whose names end in "test"), testdata, tools and generated files.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	lines, err := count(os.DirFS(root))
	if err != nil {
		fmt.Fprintln(os.Stderr, "count:", err)
		os.Exit(1)
	}
	total := 0
	for _, dir := range slices.Sorted(maps.Keys(lines)) {
		fmt.Printf("%8d  %s\n", lines[dir], dir)
		total += lines[dir]
	}
	fmt.Printf("%8d  total\n", total)
}

// count returns the lines of code by top directory.
func count(tree fs.FS) (map[string]int, error) {
	lines := map[string]int{}
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
		if parsed, err := parser.ParseFile(token.NewFileSet(), name, text,
			parser.PackageClauseOnly|parser.ParseComments); err != nil || ast.IsGenerated(parsed) {
			return err
		}
		top, _, _ := strings.Cut(name, "/")
		lines[top] += codeLines(text)
		return nil
	})
	return lines, err
}

func skipped(dir string) bool {
	base := path.Base(dir)
	return dir == "tools" || base == "testdata" || base != "." && strings.HasPrefix(base, ".") ||
		strings.HasSuffix(base, "test")
}

// codeLines counts the lines with a token. A string over several lines counts as the number of its non-empty
// lines.
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
		if kind == token.SEMICOLON && literal != ";" { // inserted at the end of a line
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
