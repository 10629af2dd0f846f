package pgo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"kitescope/internal/hints"
)

// Module is a Go module in a folder.
type Module struct {
	// Dir is the folder of the module's go.mod. Requested is the folder that was passed to FindModule. Both are
	// absolute.
	Dir, Requested, Path string
	// GoVersion is the version of the compiler that builds the module, e.g. "go1.26.8".
	GoVersion string
	// Mains are the main packages that "./..." matches, sorted by import path.
	Mains []Main
	// ReadOnly reports that the module must not be written to, because it is in the module cache or its folder is
	// read-only.
	ReadOnly bool
}

// Main is a main package.
type Main struct {
	ImportPath, Dir string
	// Example reports that the package is in a folder for examples, tests, tools or internal packages, and so
	// is not the module's program.
	Example bool
}

// FindModule returns the module that contains a folder, and its main packages. It downloads and builds nothing. A
// module without main packages is not an error here; see Module.Main.
func FindModule(ctx context.Context, dir string) (*Module, error) {
	asked, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if asked, err = filepath.EvalSymlinks(asked); err != nil {
		return nil, fmt.Errorf("find the module of %s: %w", dir, err)
	}
	if info, err := os.Stat(asked); err == nil && !info.IsDir() {
		return nil, hints.Errorf("give the module's folder", "find the module of %s: it is not a folder", dir)
	}
	var env struct{ GOMOD, GOVERSION, GOMODCACHE string }
	answer, err := goCommand(ctx, asked, "env", "-json", "GOMOD", "GOVERSION", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(answer, &env); err != nil {
		return nil, fmt.Errorf("read the output of go env: %w", err)
	}
	if env.GOMOD == "" || env.GOMOD == os.DevNull {
		return nil,
			hints.Errorf("give a folder of a Go module: one that has a go.mod, or a folder above that does",
				"no go.mod in %s or above", asked)
	}
	root := filepath.Dir(env.GOMOD)
	m := &Module{Dir: root, Requested: asked, GoVersion: env.GOVERSION, ReadOnly: readOnly(root, env.GOMODCACHE)}
	return m, m.list(ctx)
}

// list sets the module's path and main packages.
func (m *Module) list(ctx context.Context) error {
	answer, err := goCommand(ctx, m.Dir, "list", "-m", "-json=Path,Main,Dir")
	if err == nil {
		err = decodeAll(answer, func(x struct{ Path, Dir string }) {
			if x.Dir == m.Dir { // a workspace has several modules
				m.Path = x.Path
			}
		})
	}
	if err == nil && m.Path == "" {
		err = hints.Errorf("set GOWORK=off, or add the module with: go work use "+m.Dir,
			"the workspace does not list it")
	}
	if err == nil {
		answer, err = goCommand(ctx, m.Dir, "list", "-e", "-find", "-json=ImportPath,Dir,Name", "./...")
	}
	if err == nil {
		err = decodeAll(answer, func(p struct{ ImportPath, Dir, Name string }) {
			if p.Name == "main" {
				m.Mains = append(m.Mains, Main{ImportPath: p.ImportPath, Dir: p.Dir, Example: isExample(m.Dir, p.Dir)})
			}
		})
	}
	if err != nil {
		return fmt.Errorf("list the packages of module %s: %w", m.Dir, err)
	}
	slices.SortFunc(m.Mains, func(a, b Main) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	return nil
}

// decodeAll decodes the stream of JSON values that "go list" prints.
func decodeAll[T any](output []byte, each func(T)) error {
	for dec := json.NewDecoder(bytes.NewReader(output)); ; {
		var v T
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read the output of go list: %w", err)
		}
		each(v)
	}
}

// readOnly reports whether a module must not be written to. The module cache must not change even where permissions
// allow it.
func readOnly(root, cache string) bool {
	if cache != "" {
		if rel, err := filepath.Rel(cache, root); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	info, err := os.Stat(root)
	return err == nil && info.Mode().Perm()&0o222 == 0
}

func isExample(root, dir string) bool {
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

// Main returns the main package with a name: its import path, its folder, or the end of either ("cmd/server",
// "./cmd/server"). Without a name it returns the package in Requested, unless Requested is the module's folder.
// Otherwise it returns the only main package, or the only one that is not an example.
func (m *Module) Main(name string) (Main, error) {
	if len(m.Mains) == 0 {
		return Main{}, hints.Errorf("PGO applies to programs: give a module with a main package",
			"module %s has no main package", m.Path)
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
		if main.ImportPath == want || main.Dir == filepath.Clean(name) ||
			(err == nil && filepath.ToSlash(rel) == want) {
			return main, nil
		}
		if strings.HasSuffix(main.ImportPath, "/"+want) {
			found = append(found, main)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return Main{},
		hints.Errorf("its main packages: "+m.names(m.Mains), "module %s has no main package %q", m.Path, name)
}

func (m *Module) onlyMain() (Main, error) {
	if i := slices.IndexFunc(m.Mains, func(main Main) bool { return main.Dir == m.Requested }); i >= 0 &&
		m.Requested != m.Dir {
		return m.Mains[i], nil
	}
	programs := slices.DeleteFunc(slices.Clone(m.Mains), func(main Main) bool { return main.Example })
	if len(programs) == 0 {
		programs = m.Mains
	}
	if len(programs) == 1 {
		return programs[0], nil
	}
	return Main{}, hints.Errorf("choose one: "+m.names(programs), "module %s has %d main packages", m.Path,
		len(programs))
}

// names returns the folders of at most a dozen main packages, as a user would type them.
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

// CommandError is the error of a failed go command, with the command's output.
type CommandError struct {
	Command string
	Output  string
	Err     error
}

func (e *CommandError) Error() string { return e.Brief() + ":\n" + e.Output }

// Brief returns the error without the command's output, for callers that print the output separately.
func (e *CommandError) Brief() string { return fmt.Sprintf("%s: %v", e.Command, e.Err) }

// Unwrap returns the error of the process.
func (e *CommandError) Unwrap() error { return e.Err }

// goCommand runs the go command in a folder and returns its standard output.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return nil, hints.Errorf("install Go (go.dev/dl) or put it on the PATH", "no go command: %w", err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	answer, err := cmd.Output()
	switch exit, ok := errors.AsType[*exec.ExitError](err); {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("go %s: %w", args[0], ctx.Err())
	case ok && len(bytes.TrimSpace(exit.Stderr)) > 0:
		return nil, &CommandError{Command: "go " + args[0], Output: string(bytes.TrimSpace(exit.Stderr)), Err: err}
	case err != nil:
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	return answer, nil
}
