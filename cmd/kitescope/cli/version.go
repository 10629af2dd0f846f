package cli

import (
	"runtime/debug"
)

// buildVersion is set by the release build: -ldflags "-X kitescope/cmd/kitescope/cli.buildVersion=v1.2.3".
var buildVersion string

// VersionText is the release's version, else what Go recorded of the module.
func VersionText() string {
	if buildVersion != "" {
		return buildVersion
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return info.Main.Version
}
