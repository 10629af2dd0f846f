package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// renamedTo is the annotation of a flag that has another name now.
const renamedTo = "kitescope-renamed"

// Renamed hides a flag that is called otherwise now. It goes on working, with a word on stderr.
func Renamed(cmd *cobra.Command, old, now string) {
	f := cmd.Flags()
	_ = f.MarkHidden(old)
	_ = f.SetAnnotation(old, renamedTo, []string{now})
}

// tellRenamed says which flags that were given have other names now.
func tellRenamed(a *App, cmd *cobra.Command) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if now := f.Annotations[renamedTo]; len(now) > 0 {
			old := "--" + f.Name
			if len(f.Name) == 1 {
				old = "-" + f.Name
			}
			a.Warn("%s is --%s now; the old name goes away in a later release", old, now[0])
		}
	})
}
