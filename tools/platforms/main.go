// Command platforms checks that a module compiles for other platforms, e.g. windows/amd64, without building
// it. It prints the type errors of all packages, tests and imports, checked from source. That takes seconds,
// while a build takes minutes per platform. It does not find errors of assemblers, vet or linkers.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	dir := flag.String("dir", ".", "the module")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: platforms [-dir DIR] GOOS/GOARCH...")
		os.Exit(2)
	}
	debug.SetGCPercent(50) // the syntax trees of a thousand packages take 2 GB
	broken := 0
	for _, platform := range flag.Args() {
		n, faults, err := check(*dir, platform)
		if err != nil {
			fmt.Fprintf(os.Stderr, "platforms: %s: %v\n", platform, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d packages\n", platform, n)
		for _, f := range faults {
			fmt.Fprintf(os.Stderr, "%s: %v\n", platform, f)
		}
		broken += len(faults)
	}
	if broken > 0 {
		os.Exit(1)
	}
}

// check type-checks a module for a platform. It returns the number of packages, including dependencies, and
// the errors.
func check(dir, platform string) (seen int, faults []packages.Error, err error) {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return 0, nil, errors.New("a platform is GOOS/GOARCH, as in windows/amd64")
	}
	list, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
		Dir:   dir,
		Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0"),
		Tests: true,
	}, "./...")
	if err != nil {
		return 0, nil, err
	}
	packages.Visit(list, nil, func(p *packages.Package) {
		seen++
		faults = append(faults, p.Errors...)
	})
	return seen, faults, nil
}
