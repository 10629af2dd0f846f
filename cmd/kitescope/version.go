package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

// versionLine returns the output of "version" and "--version".
func versionLine(v map[string]string) string {
	return strings.Join(strings.Fields(fmt.Sprintln("kitescope", v["version"], v["commit"], v["go"], v["platform"])),
		" ") + "\n"
}

// versionFacts returns the version and the build metadata embedded in the binary.
func versionFacts() map[string]string {
	info, ok := debug.ReadBuildInfo()
	v := map[string]string{
		"version": cli.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
	}
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

func versionCommand(a *cli.App) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "version", Args: cobra.NoArgs,
		Example: "  kitescope version -o json",
		RunE: func(*cobra.Command, []string) error {
			switch output {
			case "json":
				return a.Write(func(w *bufio.Writer) error { return json.NewEncoder(w).Encode(versionFacts()) })
			case "text":
				return a.Write(func(w *bufio.Writer) error {
					_, err := w.WriteString(versionLine(versionFacts()))
					return err
				})
			}
			return cli.Usagef("version -o must be text or json, not %q", output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cli.FixedCompletions("text", "json"))
	return cmd
}
