package pgo

import (
	"strings"

	"kitescope/profile"
)

// GoVersionOf returns the Go version that a program was built with, from the path of the standard library's
// sources. It recognizes the folder of a downloaded toolchain
// (golang.org/toolchain@v0.0.1-go1.26.8.linux-amd64) and folders with the version in their name. It returns ""
// for other folders, and for programs built with -trimpath.
func GoVersionOf(p *profile.Profile) string {
	for i := range p.Functions {
		f := &p.Functions[i]
		if !strings.HasPrefix(f.Name, "runtime.") {
			continue
		}
		if root, _, ok := strings.Cut(strings.ReplaceAll(f.File, `\`, "/"), "/src/runtime/"); ok {
			return versionIn(root)
		}
	}
	return ""
}

// versionIn returns the version in the last go1.26.8, go-1.26 or go/1.26.8 of a path, with the prefix "go".
func versionIn(path string) string {
	for i := strings.LastIndex(path, "go"); i >= 0; i = strings.LastIndex(path[:i], "go") {
		if i > 0 && !strings.ContainsAny(path[i-1:i], "/-@") {
			continue
		}
		rest := strings.TrimLeft(path[i+len("go"):], "-/")
		end := strings.TrimLeft(rest, "0123456789.")
		for _, early := range []string{"rc", "beta"} {
			if after, ok := strings.CutPrefix(end, early); ok {
				end = strings.TrimLeft(after, "0123456789")
			}
		}
		if version := strings.TrimRight(rest[:len(rest)-len(end)], "."); strings.HasPrefix(version, "1.") {
			return "go" + version
		}
	}
	return ""
}
