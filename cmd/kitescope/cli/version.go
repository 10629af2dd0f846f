package cli

import (
	"runtime/debug"
)

// buildVersion is set by the release build: -ldflags "-X kitescope/cmd/kitescope/cli.buildVersion=v1.2.3".
var buildVersion string

// VersionText is the release's version, else what Go recorded of the module.
func VersionText() string {
	info, _ := debug.ReadBuildInfo()
	return VersionOf(info)
}

// VersionOf is VersionText where the recorded information was read, nil if there is none. Reading it takes a while.
func VersionOf(info *debug.BuildInfo) string {
	switch {
	case buildVersion != "":
		return buildVersion
	case info == nil || info.Main.Version == "" || info.Main.Version == "(devel)":
		return "dev"
	}
	return info.Main.Version
}
