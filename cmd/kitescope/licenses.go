package main

import (
	"bufio"
	_ "embed"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

//go:generate sh -c "go -C ../../tools run ./licenses .. > licenses.new && mv licenses.new licenses.txt"

//go:embed licenses.txt
var licenses string

func licensesCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "licenses", Args: cobra.NoArgs,
		Example: "  kitescope licenses | less",
		RunE: func(*cobra.Command, []string) error {
			return a.Write(func(w *bufio.Writer) error {
				_, err := w.WriteString(licenses)
				return err
			})
		},
	}
}
