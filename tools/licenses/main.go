// Command licenses prints the licenses of everything that is linked into kitescope, on any released platform:
//
//	go -C tools run ./licenses .. > cmd/kitescope/licenses.txt
//
// It reads the license files in the folder of each package and in its parent folders up to the module's root.
// It fails if a module has none.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// notice is a license text and the modules or packages under it.
type notice struct {
	text    string
	covered []string
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: licenses MODULE")
		os.Exit(2)
	}
	text, err := collect(context.Background(), os.Args[1])
	if err == nil {
		_, err = os.Stdout.WriteString(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

// collect returns the licenses of everything that the module in dir links.
func collect(ctx context.Context, dir string) (string, error) {
	files, err := licenseFiles(ctx, dir)
	if err != nil {
		return "", err
	}
	byText := map[string]*notice{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
		if byText[text] == nil {
			byText[text] = &notice{text: text}
		}
		byText[text].covered = append(byText[text].covered, files[name])
	}
	notices := slices.SortedFunc(maps.Values(byText), func(a, b *notice) int {
		return cmp.Compare(a.covered[0], b.covered[0])
	})
	var b strings.Builder
	b.WriteString("kitescope is licensed under the Apache License, Version 2.0. It contains the following.\n")
	for _, n := range notices {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(n.covered, "\n"), n.text)
	}
	return b.String(), nil
}

// isLicense matches the names of files that must accompany copies of a program.
var isLicense = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)(\.(txt|md)|[-.]\w+)?$`)

// licenseFiles returns the paths of all license files. Each has a heading with module, version and SPDX
// identifiers.
func licenseFiles(ctx context.Context, dir string) (map[string]string, error) {
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	files := map[string]string{filepath.Join(strings.TrimSpace(string(goroot)), "LICENSE"): "Go (BSD-3-Clause)"}
	found := map[string]bool{}
	all := map[string]bool{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.CommandContext(ctx, "go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{$.Dir}}\t{{.Dir}}\t{{.Path}}\t{{.Version}}{{end}}{{end}}",
			"./cmd/kitescope")
		list.Dir, list.Env, list.Stderr = dir, append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"), os.Stderr
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", system, err)
		}
		for scan := bufio.NewScanner(bytes.NewReader(out)); scan.Scan(); {
			if scan.Text() == "" {
				continue
			}
			f := strings.Split(scan.Text(), "\t")
			folder, root, module, version := f[0], f[1], f[2], f[3]
			all[module] = true
			for ; len(folder) >= len(root); folder = filepath.Dir(folder) {
				names, err := licenseNames(folder)
				if err != nil {
					return nil, err
				}
				for _, name := range names {
					within, _ := filepath.Rel(root, folder)
					if files[name], err = heading(name, path.Join(module, filepath.ToSlash(within)), version); err !=
						nil {
						return nil, err
					}
					found[module] = true
				}
			}
		}
	}
	var problems []error
	for _, module := range slices.Sorted(maps.Keys(all)) {
		if !found[module] {
			problems = append(problems, fmt.Errorf("%s has no license file", module))
		}
	}
	return files, errors.Join(problems...)
}

// licenseNames returns the license files in a folder and in its subfolder of licenses.
func licenseNames(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := filepath.Join(folder, e.Name())
		switch {
		case e.IsDir() && strings.EqualFold(e.Name(), "licenses"):
			texts, err := filepath.Glob(filepath.Join(name, "*.txt"))
			if err != nil {
				return nil, err
			}
			names = append(names, texts...)
		case !e.IsDir() && isLicense.MatchString(e.Name()):
			names = append(names, name)
		}
	}
	return names, nil
}

// heading returns the heading of a module or package: its name, version and licenses.
func heading(file, name, version string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, m := range licensecheck.Scan(text).Match {
		if !slices.Contains(ids, m.ID) {
			ids = append(ids, m.ID)
		}
	}
	kind := strings.Join(ids, ", ")
	if kind == "" {
		kind = filepath.Base(file)
	}
	return fmt.Sprintf("%s %s (%s)", name, version, kind), nil
}
