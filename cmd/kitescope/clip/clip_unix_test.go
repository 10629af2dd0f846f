//go:build unix

package clip

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// machine is a folder of programs, each of which keeps what it is given, and an environment.
func machine(t *testing.T, env map[string]string, programs map[string]string) (*Clipboard, string) {
	t.Helper()
	folder := t.TempDir()
	for name, script := range programs {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return &Clipboard{
		Getenv: func(name string) string { return env[name] }, GOOS: "linux", Patience: 5 * time.Second,
		Find: func(program string) (string, error) {
			path := filepath.Join(folder, program)
			_, err := os.Stat(path)
			return path, err
		},
	}, folder
}

func TestCopy(t *testing.T) {
	t.Parallel()
	keep := `cat > "$0.has"; echo "$@" > "$0.args"`
	all := map[string]string{"tmux": keep, "wl-copy": keep, "xclip": keep, "xsel": keep, "pbcopy": keep, "clip.exe": keep}
	for _, x := range []struct {
		name, choice, system string
		env                  map[string]string
		programs             map[string]string
		to, why              string
		has                  string // the program that has the text then
	}{
		{name: "tmux is before all others", env: map[string]string{"TMUX": "x", "DISPLAY": ":0", "WAYLAND_DISPLAY": "w"}, programs: all, to: "tmux's buffer", has: "tmux"},
		{name: "Wayland", env: map[string]string{"DISPLAY": ":0", "WAYLAND_DISPLAY": "w"}, programs: all, to: "the clipboard (wl-copy)", has: "wl-copy"},
		{name: "X11", env: map[string]string{"DISPLAY": ":0"}, programs: all, to: "the clipboard (xclip)", has: "xclip"},
		{name: "X11 with the other program", env: map[string]string{"DISPLAY": ":0"}, programs: map[string]string{"xsel": keep}, to: "the clipboard (xsel)", has: "xsel"},
		{name: "macOS", system: "darwin", programs: all, to: "the clipboard (pbcopy)", has: "pbcopy"},
		{name: "WSL", env: map[string]string{"WSL_DISTRO_NAME": "Debian"}, programs: all, to: "Windows' clipboard (clip.exe)", has: "clip.exe"},
		{name: "nothing of it", programs: all},
		{name: "no program", env: map[string]string{"DISPLAY": ":0", "TMUX": "x"}},
		{name: "a clipboard over there", system: "darwin", env: map[string]string{"SSH_CONNECTION": "a b"}, programs: all},
		{name: "a display that is forwarded", env: map[string]string{"SSH_CONNECTION": "a b", "DISPLAY": "localhost:10"}, programs: all, to: "the clipboard (xclip)", has: "xclip"},
		{name: "what fails", env: map[string]string{"TMUX": "x", "DISPLAY": ":0"}, programs: map[string]string{"tmux": "echo no server >&2; exit 1", "xclip": keep}, to: "the clipboard (xclip)", has: "xclip"},
		{name: "all fail", env: map[string]string{"TMUX": "x"}, programs: map[string]string{"tmux": "cat > /dev/null; echo no server >&2; exit 1"}, why: "tmux: no server"},
		{name: "an old tmux", env: map[string]string{"TMUX": "x"}, programs: map[string]string{"tmux": `[ "$2" = -w ] && exit 1; ` + keep}, to: "tmux's buffer", has: "tmux"},
		{name: "chosen", choice: "xsel", env: map[string]string{"TMUX": "x"}, programs: all, to: "the clipboard (xsel)", has: "xsel"},
		{name: "the terminal", choice: "osc52", env: map[string]string{"TMUX": "x"}, programs: all},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			c, folder := machine(t, x.env, x.programs)
			c.Choice = x.choice
			if x.system != "" {
				c.GOOS = x.system
			}
			const text = "zwei Wörter\nand a line\n"
			to, why, err := c.Copy(t.Context(), text)
			if err != nil || to != x.to || why != x.why {
				t.Errorf("%q, %q, %v; want %q, %q", to, why, err, x.to, x.why)
			}
			has, _ := filepath.Glob(filepath.Join(folder, "*.has"))
			if x.has == "" {
				if len(has) > 0 {
					t.Errorf("%v have it", has)
				}
				return
			}
			got, err := os.ReadFile(filepath.Join(folder, x.has+".has"))
			want := text
			if x.has == "clip.exe" {
				want = string(utf16LE(text))
			}
			if err != nil || string(got) != want {
				t.Errorf("%s has %q, %v", x.has, got, err)
			}
		})
	}
}

// TestCopyWithout: where the terminal is not to be asked either, it is an error.
func TestCopyWithout(t *testing.T) {
	t.Parallel()
	c, _ := machine(t, nil, nil)
	for choice, want := range map[string]string{"none": "switched off", "xclip": "xclip", "frob": "no clipboard"} {
		c.Choice = choice
		if to, _, err := c.Copy(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", choice, to, err)
		}
	}
	c.Choice = "none"
	if _, _, err := c.Copy(t.Context(), "x"); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

// TestCopyEnds: a program that never ends costs its time and no more, one that goes on in the background nothing.
func TestCopyEnds(t *testing.T) {
	t.Parallel()
	c, _ := machine(t, map[string]string{"TMUX": "x", "DISPLAY": ":0"}, map[string]string{"tmux": "exec sleep 60", "xclip": "cat > /dev/null; sleep 60 &"})
	c.Patience = 300 * time.Millisecond
	began := time.Now()
	to, _, err := c.Copy(t.Context(), strings.Repeat("x", 1<<20))
	if err != nil || to != "the clipboard (xclip)" {
		t.Errorf("%q, %v", to, err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}
