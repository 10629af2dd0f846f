// Command insert copies standard input into a document, between the markers of a name:
//
//	insert FILE NAME <text
//
// In a document of the folder "evidence" it adds a line with the date and the commit.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"kitescope/tools/bench/document"
)

func main() {
	if err := run(os.Args[1:], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "insert:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader) error {
	if len(args) != 2 {
		return errors.New("expected a document and the name of its markers: insert FILE NAME")
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if filepath.Base(filepath.Dir(args[0])) == "evidence" {
		return document.ReplaceMeasured(args[0], args[1], string(text))
	}
	return document.Replace(args[0], args[1], string(text))
}
