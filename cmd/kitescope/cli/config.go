package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"kitescope/inspect/session"
)

// ConfigFile is config.yaml: contexts and preferences. It holds the location of passwords, never a password.
type ConfigFile struct {
	Theme    string                 `yaml:"theme,omitempty"`
	ASCII    string                 `yaml:"ascii,omitempty"`
	Start    string                 `yaml:"start,omitempty"`
	Current  string                 `yaml:"current,omitempty"`
	Contexts map[string]ContextSpec `yaml:"contexts,omitempty"`
}

// ContextSpec is a named connection to a cluster.
type ContextSpec struct {
	From         string `yaml:"from"`
	Root         string `yaml:"root,omitempty"`
	User         string `yaml:"user,omitempty"`
	PasswordEnv  string `yaml:"password_env,omitempty"`
	PasswordFile string `yaml:"password_file,omitempty"`
	CA           string `yaml:"ca,omitempty"`
	Cert         string `yaml:"cert,omitempty"`
	Key          string `yaml:"key,omitempty"`
	ServerName   string `yaml:"server_name,omitempty"`
	Insecure     bool   `yaml:"insecure,omitempty"`
	// Nodes holds how to reach the cluster's processes. Nil means directly.
	Nodes *NodeSpec `yaml:"nodes,omitempty"`
}

// ResolvePaths makes file paths absolute, because a context is used from any folder.
func (s *ContextSpec) ResolvePaths() error {
	paths := []*string{&s.PasswordFile, &s.CA, &s.Cert, &s.Key}
	if n := s.Nodes; n != nil {
		paths = append(paths, &n.PasswordFile, &n.CA, &n.Cert, &n.Key)
	}
	if s.From != "-" && !strings.Contains(s.From, "://") {
		paths = append(paths, &s.From)
	}
	for _, p := range paths {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return fmt.Errorf("find %s: %w", *p, err)
		}
		*p = abs
	}
	return nil
}

// ConfigPath returns KITESCOPE_CONFIG, or else kitescope/config.yaml in the user's configuration folder.
func ConfigPath(getenv func(string) string) (string, error) {
	if p := getenv("KITESCOPE_CONFIG"); p != "" {
		return p, nil
	}
	dir := getenv("XDG_CONFIG_HOME")
	if dir == "" {
		var err error
		if dir, err = os.UserConfigDir(); err != nil {
			return "", fmt.Errorf("find the configuration folder: %w", err)
		}
	}
	return filepath.Join(dir, "kitescope", "config.yaml"), nil
}

// ReadConfig reads the configuration file. A missing file is empty. Unknown keys are ignored and returned as
// problems, one line each. Other invalid content is an error.
func ReadConfig(path string) (c *ConfigFile, problems []string, err error) {
	c = &ConfigFile{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read configuration: %w", err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	err = d.Decode(c)
	if wrong, ok := errors.AsType[*yaml.TypeError](err); ok {
		err = nil
		for _, line := range wrong.Errors {
			if !unknownKey.MatchString(line) {
				err = errors.New(line)
				break
			}
			problems = append(problems, unknownKey.ReplaceAllStringFunc(line, unknownText))
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("read configuration %s: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return c, problems, nil
}

// Config reads the configuration file. A missing file is empty.
func (a *App) Config() (c *ConfigFile, path string, err error) {
	if path, err = ConfigPath(a.Getenv); err == nil {
		c, _, err = ReadConfig(path)
	}
	return c, path, err
}

// ContextNames returns the names of the contexts, or nil if the file cannot be read.
func (a *App) ContextNames() []string {
	config, _, err := a.Config()
	if err != nil {
		return nil
	}
	return config.Names()
}

// UseContext switches to the cluster of a context. It resets the connection flags, the moment and the clock of
// the previous cluster.
func (a *App) UseContext(name string) {
	g := &a.Flags
	g.From, g.Context, g.Root, g.User, g.PasswordFile, g.CA, g.Cert, g.Key, g.ServerName, g.Insecure = "", name, "", "",
		"", "", "", "", "", false
	g.At = session.At{}
	if a.Demo.clock != nil {
		a.clock, a.Demo.clock = nil, nil
	}
}

var unknownKey = regexp.MustCompile(`field (\S+) not found in type \S+`)

// removedKeys maps removed keys of the configuration to their replacements.
var removedKeys = map[string]string{
	"actions":   "y copies an object's id, to paste into a command",
	"aliases":   ": completes names of pages",
	"clipboard": "the UI copies by OSC 52; tmux needs set-clipboard on",
	"keys":      "? shows the keys",
	"mouse":     "the UI leaves the mouse to the terminal",
	"views":     "w shows more columns; kitescope get has --columns and --sort",
}

// unknownText rewrites the decoder's message about an unknown key for users.
func unknownText(message string) string {
	key := unknownKey.FindStringSubmatch(message)[1]
	if instead := removedKeys[key]; instead != "" {
		return key + " was removed: " + instead
	}
	return fmt.Sprintf("unknown key %q", key)
}

// SetInConfig sets a value in config.yaml, or removes it if value is nil. It preserves comments and all other
// content.
func SetInConfig(path string, value any, keys ...string) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read configuration: %w", err)
	}
	if text, err = setInYAML(text, value, keys...); err != nil {
		return fmt.Errorf("change configuration %s: %w", path, err)
	}
	return writeConfig(path, text)
}

// writeConfig replaces the file atomically with mode 0600. If the path is a symbolic link, it replaces the
// target of the link.
func writeConfig(path string, text []byte) error {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	if err := WriteFileAtomic(path, 0o600, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	}); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return nil
}

// Names returns the names of the contexts, sorted.
func (c *ConfigFile) Names() []string {
	names := make([]string, 0, len(c.Contexts))
	for name := range c.Contexts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// WriteFileAtomic writes a temporary file in the same folder and renames it, so that an interrupted write
// leaves the old file intact.
func WriteFileAtomic(path string, mode fs.FileMode, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".kitescope-*")
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return named.Err // omit the temporary name, which is meaningless to users
	}
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone after the rename
	if err := errors.Join(write(f), f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// EditConfig applies edit to the configuration and writes the contexts and the default context that changed.
func (a *App) EditConfig(edit func(*ConfigFile) error) error {
	config, path, err := a.Config()
	if err != nil {
		return err
	}
	before := *config
	before.Contexts = maps.Clone(config.Contexts)
	if err := edit(config); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(before.Contexts)) {
		if _, ok := config.Contexts[name]; !ok {
			if err := SetInConfig(path, nil, "contexts", name); err != nil {
				return err
			}
		}
	}
	for _, name := range config.Names() {
		if old, ok := before.Contexts[name]; !ok || !reflect.DeepEqual(old, config.Contexts[name]) {
			if err := SetInConfig(path, config.Contexts[name], "contexts", name); err != nil {
				return err
			}
		}
	}
	switch config.Current {
	case before.Current:
		return nil
	case "":
		return SetInConfig(path, nil, "current")
	}
	return SetInConfig(path, config.Current, "current")
}

// Has returns an error if the context does not exist.
func (c *ConfigFile) Has(name string) error {
	if _, ok := c.Contexts[name]; !ok {
		hint := "no contexts defined; see: kitescope context add --help"
		if len(c.Contexts) > 0 {
			hint = "available: " + strings.Join(c.Names(), ", ")
		}
		return Usage(fmt.Errorf("no context %q", name), hint)
	}
	return nil
}

// CompleteContexts completes names of contexts.
func (a *App) CompleteContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return a.ContextNames(), cobra.ShellCompDirectiveNoFileComp
}
