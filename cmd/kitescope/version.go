package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// buildVersion is set by the release build: -ldflags "-X main.buildVersion=v1.2.3".
var buildVersion string

// versionText is the release's version, else what Go recorded of the module.
func versionText() string {
	if buildVersion != "" {
		return buildVersion
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return info.Main.Version
}

// versionLine is what "version" and "--version" print.
func versionLine() string {
	v := versionFacts()
	return strings.Join(strings.Fields(fmt.Sprintln("kitescope", v["version"], v["commit"], v["go"], v["platform"])), " ") + "\n"
}

// versionFacts are the version and how it was built.
func versionFacts() map[string]string {
	v := map[string]string{
		"version": versionText(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v["commit"] = s.Value
		case "vcs.time":
			v["commit_time"] = s.Value
		}
	}
	return v
}

func versionCommand(a *app) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version and how it was built", GroupID: groupSetup, Args: cobra.NoArgs,
		Example: "  kitescope version -o json",
		RunE: func(*cobra.Command, []string) error {
			switch output {
			case "json":
				return a.write(func(w *bufio.Writer) error { return json.NewEncoder(w).Encode(versionFacts()) })
			case "text":
				return a.write(func(w *bufio.Writer) error {
					_, err := w.WriteString(versionLine())
					return err
				})
			}
			return usagef("version -o is text or json, not %q", output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	_ = cmd.RegisterFlagCompletionFunc("output", fixed("text", "json"))
	return cmd
}
