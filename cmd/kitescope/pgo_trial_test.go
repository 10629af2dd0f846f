package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestGoScript runs testdata/goscript/*.txtar: command lines that start the go command. The go command needs its
// real caches.
func TestGoScript(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs programs")
	}
	t.Parallel()
	profiles, err := filepath.Abs("../../testdata/profiles")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/goscript",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			folders := strings.Fields(string(cache))
			env.Setenv("GOCACHE", folders[0])
			env.Setenv("GOMODCACHE", folders[1])
			env.Setenv("GOFLAGS", "-mod=readonly")
			env.Setenv("PROFILES", profiles)
			env.Setenv("KITESCOPE_CONFIG", filepath.Join(env.WorkDir, "config.yaml"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": cmdExits, "sleep": cmdSleep},
	})
}
