// Package clip gives a text to the clipboard of the machine that a person sits at, as far as a program can tell which one that is. What
// enters are a text, the environment and which programs there are; what leaves is the name of what has the text now, or
// that nothing but the terminal itself could take it.
//
// A program that ends with success has the text. The terminal is the last resort: it is told by an escape sequence (OSC 52), says
// nothing back, and many ignore it.
package clip

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

// Clipboard finds a place for a text. The zero value with Getenv is that of the process.
type Clipboard struct {
	// Choice is a name of Names, "" or "auto" for the first that is there.
	Choice string
	Getenv func(string) string
	// GOOS is the system, "" for the one that this runs on.
	GOOS string
	// Find finds a program, nil for exec.LookPath.
	Find func(program string) (string, error)
	// Patience is how long a program may take, 0 for two seconds.
	Patience time.Duration
}

// backend is a program that takes a text.
type backend struct {
	name string
	// told is what a person calls it: "tmux's buffer".
	told string
	argv []string
	// older are its words before they got more, where the ones above are refused.
	older []string
	// here reports whether its clipboard is that of the person.
	here func(c *Clipboard) bool
	// wide says that it takes UTF-16.
	wide bool
}

func backends() []backend {
	return []backend{
		{
			name: "tmux", told: "tmux's buffer", argv: []string{"tmux", "load-buffer", "-w", "-"}, older: []string{"tmux", "load-buffer", "-"},
			here: func(c *Clipboard) bool { return c.Getenv("TMUX") != "" },
		},
		{
			name: "wl-copy", told: "the clipboard (wl-copy)", argv: []string{"wl-copy"},
			here: func(c *Clipboard) bool { return c.Getenv("WAYLAND_DISPLAY") != "" && !c.remote() },
		},
		// A display that ssh forwards is that of the person.
		{
			name: "xclip", told: "the clipboard (xclip)", argv: []string{"xclip", "-in", "-selection", "clipboard"},
			here: func(c *Clipboard) bool { return c.Getenv("DISPLAY") != "" && c.system() != "darwin" },
		},
		{
			name: "xsel", told: "the clipboard (xsel)", argv: []string{"xsel", "--input", "--clipboard"},
			here: func(c *Clipboard) bool { return c.Getenv("DISPLAY") != "" && c.system() != "darwin" },
		},
		{
			name: "pbcopy", told: "the clipboard (pbcopy)", argv: []string{"pbcopy"},
			here: func(c *Clipboard) bool { return c.system() == "darwin" && !c.remote() },
		},
		{
			name: "clip.exe", told: "Windows' clipboard (clip.exe)", argv: []string{"clip.exe"}, wide: true,
			here: func(c *Clipboard) bool {
				return (c.system() == "windows" || c.Getenv("WSL_DISTRO_NAME") != "") && !c.remote()
			},
		},
	}
}

// Names are the choices there are.
func Names() []string {
	names := []string{"auto"}
	for _, b := range backends() {
		names = append(names, b.name)
	}
	return append(names, "osc52", "none")
}

// remote reports whether the person sits at another machine.
func (c *Clipboard) remote() bool { return c.Getenv("SSH_CONNECTION") != "" }

func (c *Clipboard) system() string {
	if c.GOOS != "" {
		return c.GOOS
	}
	return runtime.GOOS
}

// ErrNone says that copying is switched off.
var ErrNone = errors.New("copying is switched off (clipboard: none in config.yaml)")

// Copy gives a text to the first that takes it, and says to which. "" is none: the terminal is left, and why says what was tried
// without success. An error is that the terminal is not to be asked either.
func (c *Clipboard) Copy(ctx context.Context, text string) (to, why string, err error) {
	switch c.Choice {
	case "none":
		return "", "", ErrNone
	case "osc52":
		return "", "", nil
	case "", "auto":
		var failed []string
		for _, b := range backends() {
			if !b.here(c) {
				continue
			}
			err := c.give(ctx, &b, text)
			if err == nil {
				return b.told, "", nil
			}
			if ctx.Err() != nil {
				return "", "", ctx.Err()
			}
			if !errors.Is(err, exec.ErrNotFound) {
				failed = append(failed, err.Error())
			}
		}
		return "", strings.Join(failed, "; "), nil
	}
	list := backends()
	i := slices.IndexFunc(list, func(b backend) bool { return b.name == c.Choice })
	if i < 0 {
		return "", "", fmt.Errorf("no clipboard %q; available: %s", c.Choice, strings.Join(Names(), ", "))
	}
	if err := c.give(ctx, &list[i], text); err != nil {
		return "", "", err
	}
	return list[i].told, "", nil
}

// give runs a backend.
func (c *Clipboard) give(ctx context.Context, b *backend, text string) error {
	find := c.Find
	if find == nil {
		find = exec.LookPath
	}
	path, err := find(b.argv[0])
	if err != nil {
		return fmt.Errorf("%s: %w", b.name, exec.ErrNotFound)
	}
	input := []byte(text)
	if b.wide {
		input = utf16LE(text)
	}
	err = c.run(ctx, b.name, path, b.argv[1:], input)
	if err != nil && b.older != nil && ctx.Err() == nil {
		err = c.run(ctx, b.name, path, b.older[1:], input)
	}
	return err
}

// run gives a program a text. What goes on in the background to serve the clipboard, as wl-copy and xclip do, is not waited for:
// its output is a file, which nobody has to read to the end.
func (c *Clipboard) run(ctx context.Context, name, path string, args []string, input []byte) error {
	patience := c.Patience
	if patience == 0 {
		patience = 2 * time.Second
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	said, err := os.CreateTemp("", "kitescope-clip-*")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer os.Remove(said.Name())
	defer said.Close()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), said
	cmd.WaitDelay = patience
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%s did not end within %s", name, patience)
		}
		first := make([]byte, 200)
		n, _ := said.ReadAt(first, 0)
		if line, _, _ := strings.Cut(strings.TrimSpace(string(first[:n])), "\n"); line != "" {
			return fmt.Errorf("%s: %s", name, line)
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// utf16LE is a text as clip.exe takes it whatever the code page is.
func utf16LE(text string) []byte {
	var b bytes.Buffer
	_, _ = io.WriteString(&b, "\xff\xfe")
	_ = binary.Write(&b, binary.LittleEndian, utf16.Encode([]rune(text)))
	return b.Bytes()
}
