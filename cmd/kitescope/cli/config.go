package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// ConfigFile is the file of contexts. It names where passwords are, and never
// holds one.
type ConfigFile struct {
	Current  string                 `yaml:"current,omitempty"`
	Contexts map[string]ContextSpec `yaml:"contexts,omitempty"`
}

// ContextSpec is one named way to a cluster.
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
	// Nodes says how the cluster's processes are reached, nil: directly.
	Nodes *NodeSpec `yaml:"nodes,omitempty"`
}

// Settle makes the paths of files absolute: a context is used from any folder.
func (s *ContextSpec) Settle() error {
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

// ConfigPath is KITESCOPE_CONFIG, else kitescope/config.yaml in the user's configuration folder.
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

// ReadConfig reads the file of contexts; one that is not there has none.
func ReadConfig(path string) (*ConfigFile, error) {
	c := &ConfigFile{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if err := yaml.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", path, err)
	}
	return c, nil
}

// write replaces the file in one step, readable by its owner only.
func (c *ConfigFile) write(path string) error {
	text, err := yaml.Marshal(c)
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
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

// Names are those of the contexts, sorted.
func (c *ConfigFile) Names() []string {
	names := make([]string, 0, len(c.Contexts))
	for name := range c.Contexts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// WriteFileAtomic writes beside path and renames, so that an interrupted write
// leaves the old file and no half of the new one.
func WriteFileAtomic(path string, mode fs.FileMode, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".kitescope-*")
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return named.Err // the temporary name says nothing to anybody
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

// EditConfig changes the file of contexts.
func (a *App) EditConfig(edit func(*ConfigFile) error) error {
	path, err := ConfigPath(a.Getenv)
	if err != nil {
		return err
	}
	config, err := ReadConfig(path)
	if err != nil {
		return err
	}
	if err := edit(config); err != nil {
		return err
	}
	return config.write(path)
}

// Has is the error of a context that is not there.
func (c *ConfigFile) Has(name string) error {
	if _, ok := c.Contexts[name]; !ok {
		hint := "there are none; see: kitescope context add --help"
		if len(c.Contexts) > 0 {
			hint = "there are: " + strings.Join(c.Names(), ", ")
		}
		return Usage(fmt.Errorf("no context %q", name), hint)
	}
	return nil
}

// CompleteContexts completes names of contexts.
func (a *App) CompleteContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	path, err := ConfigPath(a.Getenv)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	config, err := ReadConfig(path)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return config.Names(), cobra.ShellCompDirectiveNoFileComp
}
