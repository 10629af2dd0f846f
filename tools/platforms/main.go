// Command platforms checks that a module compiles for other platforms, without compiling it. What enters is a directory and
// platforms, as in windows/amd64; what leaves is what a compiler's type checker says of every package and every test there,
// and of all that they import, from source. That takes seconds, where building takes minutes for each; what only an assembler, vet
// or a linker says is left to builds.
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
	debug.SetGCPercent(50) // the syntax of a thousand packages is 2 GB
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

// check type-checks a module for a platform and counts the packages that it saw, dependencies too.
func check(dir, platform string) (seen int, faults []packages.Error, err error) {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return 0, nil, errors.New("a platform is GOOS/GOARCH, as in windows/amd64")
	}
	list, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
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
