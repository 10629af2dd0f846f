package gobuild

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kitescope/internal/hints"
)

// Module is a Go module in a folder.
type Module struct {
	// Dir is where its go.mod lies, absolute, and Asked the folder in it that was asked about.
	Dir, Asked, Path string
	// GoVersion is that of the compiler which builds it there: "go1.26.8".
	GoVersion string
	// Mains are its main packages, by import path; of nested modules and of testdata there are none, as for "./...".
	Mains []Main
	// Temp is where the go command keeps temporary files there, "" if that is not set.
	Temp string
	// ReadOnly says that nothing may be written into it: it lies in the module cache, or its folder does not allow it.
	ReadOnly bool
}

// Main is a main package.
type Main struct {
	ImportPath, Dir string
	// Example says that it lies below a folder of examples, so that it is not the program of the module.
	Example bool
}

// listed is what is asked of "go list".
type listed struct {
	ImportPath, Dir, Name string
	Module                *struct{ Path, Dir string }
	Error                 *struct{ Err string }
}

// everything is the pattern for all packages of the module that the go command runs in.
const everything = "./..."

var errNoPackages = errors.New("no packages")

// FindModule finds the module that a folder belongs to and its main packages. Nothing is downloaded or built:
// packages are named, not resolved. A module without main packages is no error here; see Main.
func FindModule(ctx context.Context, dir string) (*Module, error) {
	root, asked, err := findRoot(dir)
	if err != nil {
		return nil, err
	}
	env, err := goEnv(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("look into module %s: %w", root, err)
	}
	m := &Module{Dir: root, Asked: asked, Path: modulePath(filepath.Join(root, "go.mod")), GoVersion: env["GOVERSION"], Temp: env["GOTMPDIR"], ReadOnly: readOnly(root, env["GOMODCACHE"])}
	answer, err := goCommand(ctx, root, "", nil, "list", "-e", "-find", "-json=ImportPath,Dir,Name,Module,Error", everything)
	if err != nil {
		return nil, m.listError(err, env)
	}
	err = objects(answer, func(p *listed) error {
		// An error of a package is none of ours: that it does not compile will be seen when it is built.
		if p.ImportPath == everything && p.Error != nil {
			return m.listError(&CommandError{Command: "go list", Output: strings.TrimSpace(p.Error.Err), Err: errNoPackages}, env)
		}
		// Packages of the standard library have no module. Those of other modules of a workspace are not ours.
		if p.Module != nil && filepath.Clean(p.Module.Dir) != root {
			return nil
		}
		if p.Name == "main" {
			m.Mains = append(m.Mains, Main{ImportPath: p.ImportPath, Dir: p.Dir, Example: example(root, p.Dir)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(m.Mains, func(a, b Main) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	return m, nil
}

// findRoot is the nearest folder with a go.mod, from dir upwards, and dir itself; both absolute and without symbolic
// links: so does the go command name them.
func findRoot(dir string) (root, asked string, err error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	if at, err = filepath.EvalSymlinks(at); err != nil {
		return "", "", fmt.Errorf("find the module of %s: %w", dir, err)
	}
	if info, err := os.Stat(at); err == nil && !info.IsDir() {
		return "", "", hints.Errorf("give the module's folder", "find the module of %s: it is not a folder", dir)
	}
	asked = at
	for {
		if info, err := os.Stat(filepath.Join(at, "go.mod")); err == nil && info.Mode().IsRegular() {
			return at, asked, nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return "", "", err
		}
		parent := filepath.Dir(at)
		if parent == at {
			return "", "", hints.Errorf("give a folder of a Go module: one that has a go.mod, or a folder above that does", "no go.mod in %s or above", dir)
		}
		at = parent
	}
}

// goEnv is what the go command takes its settings to be in a folder.
func goEnv(ctx context.Context, dir string) (map[string]string, error) {
	answer, err := goCommand(ctx, dir, "", nil, "env", "-json", "GOVERSION", "GOMODCACHE", "GOTMPDIR", "GOWORK")
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	if err := json.Unmarshal(answer, &env); err != nil {
		return nil, fmt.Errorf("read the answer of go env: %w", err)
	}
	return env, nil
}

// outside reports whether the go command said that a module is not in the workspace which its folder lies in.
func outside(said string) bool {
	return strings.Contains(said, "does not contain modules listed in go.work") ||
		strings.Contains(said, "current directory is contained in a module that is not one of the workspace modules")
}

// listError adds what helps to an error of "go list".
func (m *Module) listError(err error, env map[string]string) error {
	hint := ""
	if said, ok := errors.AsType[*CommandError](err); ok {
		switch {
		case outside(said.Output):
			hint = "set GOWORK=off, or add the module with: go work use " + m.Dir
		case strings.Contains(said.Output, "inconsistent vendoring"):
			hint = "run: go mod vendor"
		case strings.Contains(said.Output, "updates to go.mod needed"):
			hint = "run: go mod tidy"
		}
	}
	if hint == "" && env["GOWORK"] != "" && env["GOWORK"] != "off" {
		hint = "the module is built in the workspace " + env["GOWORK"]
	}
	return hints.Errorf(hint, "list the packages of module %s: %w", m.Dir, err)
}

// readOnly reports whether nothing should be written into a module: the module cache is meant not to change,
// even where permissions would let it.
func readOnly(root, cache string) bool {
	if cache != "" {
		if rel, err := filepath.Rel(cache, root); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	info, err := os.Stat(root)
	return err == nil && info.Mode().Perm()&0o222 == 0
}

func example(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return false
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		switch part {
		case "example", "examples", "_example", "_examples", "testdata", "test", "tests", "tools", "internal":
			return true
		}
	}
	return false
}

// modulePath reads the module directive.
func modulePath(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("module ")); ok {
			return string(bytes.Trim(bytes.TrimSpace(rest), `"`))
		}
	}
	return ""
}

// Main is the main package with a name: its import path, its folder, or the end of either ("cmd/server",
// "./cmd/server"). Without a name it is the only one, or the only one that is no example, or that of the folder which
// was asked about, where that is not the module's own.
func (m *Module) Main(name string) (Main, error) {
	if len(m.Mains) == 0 {
		return Main{}, hints.Errorf("PGO is of programs: give a module with a main package", "module %s has no main package", m.Path)
	}
	if name == "" {
		return m.onlyMain()
	}
	want := strings.Trim(strings.TrimPrefix(filepath.ToSlash(name), "./"), "/")
	if name == "." {
		want = m.Path
	}
	var found []Main
	for _, main := range m.Mains {
		rel, err := filepath.Rel(m.Dir, main.Dir)
		if main.ImportPath == want || main.Dir == filepath.Clean(name) || (err == nil && filepath.ToSlash(rel) == want) {
			return main, nil
		}
		if strings.HasSuffix(main.ImportPath, "/"+want) {
			found = append(found, main)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return Main{}, hints.Errorf("its main packages: "+m.names(m.Mains), "module %s has no main package %q", m.Path, name)
}

func (m *Module) onlyMain() (Main, error) {
	if i := slices.IndexFunc(m.Mains, func(main Main) bool { return main.Dir == m.Asked }); i >= 0 && m.Asked != m.Dir {
		return m.Mains[i], nil
	}
	programs := slices.DeleteFunc(slices.Clone(m.Mains), func(main Main) bool { return main.Example })
	if len(programs) == 0 {
		programs = m.Mains
	}
	if len(programs) == 1 {
		return programs[0], nil
	}
	return Main{}, hints.Errorf("name one of them: "+m.names(programs), "module %s has %d main packages", m.Path, len(programs))
}

// names are main packages as a person would type them, a dozen at most.
func (m *Module) names(mains []Main) string {
	const most = 12
	var names []string
	for _, main := range mains[:min(len(mains), most)] {
		rel, err := filepath.Rel(m.Dir, main.Dir)
		if err != nil {
			rel = main.ImportPath
		} else if rel != "." {
			rel = "./" + filepath.ToSlash(rel)
		}
		names = append(names, rel)
	}
	if len(mains) > most {
		names = append(names, fmt.Sprintf("and %d more", len(mains)-most))
	}
	return strings.Join(names, ", ")
}
