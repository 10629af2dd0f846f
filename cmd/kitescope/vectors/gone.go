package vectors

import (
	"errors"

	"github.com/spf13/cobra"
)

// goneFlag is a flag of earlier releases: giving it is an error that says what to use instead.
type goneFlag string

func (goneFlag) String() string       { return "" }
func (goneFlag) Type() string         { return "" }
func (f goneFlag) Set(_ string) error { return errors.New(string(f)) }

// gone registers a flag of earlier releases, with what to use instead.
func gone(cmd *cobra.Command, name, instead string) {
	f := cmd.Flags().VarPF(goneFlag(instead), name, "", "")
	f.Hidden, f.NoOptDefVal = true, "true"
}
