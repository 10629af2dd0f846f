// Command insert puts what it reads from standard input into a document, between the marks of a name:
//
//	insert FILE NAME <text
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

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
		return errors.New("which document, and between which marks: insert FILE NAME")
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	return document.Replace(args[0], args[1], string(text))
}
