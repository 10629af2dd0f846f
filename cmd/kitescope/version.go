package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

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

func (a *app) versionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version and how it was built", GroupID: groupSetup, Args: cobra.NoArgs,
		Example: "  kitescope version -o json",
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{
				"version": versionText(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
			}
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					switch s.Key {
					case "vcs.revision":
						v["commit"] = s.Value
					case "vcs.time":
						v["commit_time"] = s.Value
					}
				}
			}
			switch output {
			case "json":
				return json.NewEncoder(a.out).Encode(v)
			case "text":
				_, err := fmt.Fprintf(a.out, "kitescope %s %s %s %s\n", v["version"], v["commit"], v["go"], v["platform"])
				return err
			}
			return usagef("version -o is text or json, not %q", output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	_ = cmd.RegisterFlagCompletionFunc("output", fixed("text", "json"))
	return cmd
}
