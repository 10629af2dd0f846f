package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/inspect/session"
	"kitescope/internal/shellquote"
	"kitescope/tui"
)

// UIFlags are the flags of commands that open the UI.
type UIFlags struct {
	Theme    string
	Interval time.Duration
	Page     string
	Nodes    *NodeFlags
	flags    *pflag.FlagSet // of the command, nil if they are not registered
}

// changed reports whether a flag was given.
func (f *UIFlags) changed(name string) bool { return f.flags != nil && f.flags.Changed(name) }

// Register adds the flags to a command.
func (f *UIFlags) Register(cmd *cobra.Command) {
	f.flags = cmd.Flags()
	cmd.Flags().StringVar(&f.Theme, "theme", "auto", strings.Join(ThemeNames(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("theme", FixedCompletions(ThemeNames()...))
	cmd.Flags().DurationVar(&f.Interval, "interval", RefreshInterval,
		"minimum time between two refreshes of a live cluster")
}

// RefreshInterval is the default minimum time between two refreshes.
const RefreshInterval = time.Second

// CommandFor returns the start of a command line that reads the same cluster. It never includes a password.
func (a *App) CommandFor(c Connection) string {
	words := []string{ProgramName()}
	if a.Flags.Now != "" {
		words = append(words, "--now", shellquote.Word(a.Flags.Now))
	}
	if c.fromContext != "" {
		return strings.Join(append(words, "--context", shellquote.Word(c.fromContext)), " ")
	}
	from := c.From
	if abs, err := filepath.Abs(from); err == nil && !strings.Contains(from, "://") && from != "-" {
		from = abs
	}
	words = withFlags(append(words, "--from", shellquote.Word(from)), "--root", c.Root, "--user", c.User,
		"--password-file", c.PasswordFile,
		"--ca", c.CA, "--cert", c.Cert, "--key", c.Key, "--server-name", c.ServerName)
	if c.Insecure {
		words = append(words, "--insecure")
	}
	return strings.Join(words, " ")
}

// CommandFor returns the flags that make a command reach the same processes as the UI. It omits the settings
// that the context provides, and passwords, including the password of a proxy.
func (n *NodeFlags) CommandFor(c Connection) string {
	var words []string
	for _, path := range n.Recordings {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		words = append(words, "--runtime", shellquote.Word(path))
	}
	if len(words) > 0 || !IsLiveSource(c.From) {
		return strings.Join(words, " ")
	}
	if !n.Live {
		return "--live=false"
	}
	words = append(words, "--live")
	for _, word := range n.Map {
		words = append(words, "--map", shellquote.Word(word))
	}
	proxy := n.Proxy
	if strings.Contains(proxy, "@") {
		proxy = ""
	}
	words = withFlags(words, "--proxy", proxy, "--milvus-user", n.User, "--milvus-password-file", n.PasswordFile,
		"--milvus-ca", n.CA, "--milvus-cert", n.Cert, "--milvus-key", n.Key, "--milvus-server-name", n.ServerName)
	if n.TLS {
		words = append(words, "--milvus-tls")
	}
	if n.Insecure {
		words = append(words, "--milvus-insecure")
	}
	if n.metricsPort > 0 {
		words = append(words, "--metrics-port", strconv.Itoa(n.metricsPort))
	}
	return strings.Join(words, " ")
}

// withFlags appends flags to a command line. flags are alternating names and values; empty values are skipped.
func withFlags(words []string, flags ...string) []string {
	for i := 0; i < len(flags); i += 2 {
		if flags[i+1] != "" {
			words = append(words, flags[i], shellquote.Word(flags[i+1]))
		}
	}
	return words
}

// IsLiveSource reports whether from is a live source, not a file.
func IsLiveSource(from string) bool { return (&session.Spec{From: from}).IsLive() }

// ProgramName returns the program name for command lines. With "go run" the binary is deleted after the run, so
// the name is the go run command.
func ProgramName() string {
	exe, err := os.Executable()
	if err == nil && strings.Contains(exe, string(filepath.Separator)+"go-build") {
		return "go run ./cmd/kitescope"
	}
	return "kitescope"
}

// FileUI returns the configuration of a UI that shows files.
func (a *App) FileUI(f *UIFlags, args []string) (tui.Config, error) {
	if !a.OutTTY {
		return tui.Config{}, ErrNoTerminal()
	}
	color, err := a.UseColor()
	if err != nil {
		return tui.Config{}, err
	}
	if err := a.CanDrawUI("omit --ui"); err != nil {
		return tui.Config{}, err
	}
	input := a.In
	for _, word := range args {
		if word == "-" {
			input = nil // standard input is the data; keys come from the terminal
		}
	}
	cfg := tui.Config{
		Input: input, Output: a.Out, Title: strings.Join(RedactWords(args), " "), Command: ProgramName(),
		NoColor: !color, Now: a.Now, SaveFile: SaveFile,
	}
	return cfg, a.ApplyPreferences(&cfg, f)
}
