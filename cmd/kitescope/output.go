package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/render"
)

// renderOptions settles format, width and colour of a list.
func (a *app) renderOptions(output string) (render.Options, error) {
	format, err := render.ParseFormat(output)
	if err != nil {
		return render.Options{}, &usageError{err, "see: kitescope help output"}
	}
	color, err := a.useColor()
	if err != nil {
		return render.Options{}, err
	}
	o := render.Options{Format: format, Color: color}
	if a.outTTY {
		o.Width, _ = a.size()
	}
	return o, nil
}

// addOutput registers -o with the words that it knows.
func addOutput(cmd *cobra.Command, output *string, formats []string) {
	cmd.Flags().StringVarP(output, "output", "o", "table", strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", fixed(formats...))
}

// documentFormats are the formats of what is not a list.
const documentFormats = "text, json or yaml"

// documentOptions settles the same for one document: text for people, or a structured format.
func (a *app) documentOptions(output string) (render.Options, error) {
	switch output {
	case "text", "table", "wide": // get's words for people mean the same here
		return a.renderOptions("")
	}
	o, err := a.renderOptions(output)
	if err == nil && !o.Format.Structured() {
		err = usagef("output format %q is for lists; use %s", output, documentFormats)
	}
	return o, err
}

// outputError is an error of standard output itself: a broken pipe there is a reader that has seen
// enough, anywhere else it is a lost connection.
type outputError struct{ err error }

func (e *outputError) Error() string { return "write output: " + e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// standardOutput is where tables and documents go.
type standardOutput struct{ *streams }

func (o standardOutput) Write(p []byte) (int, error) {
	n, err := o.transient.over(o.out, p)
	if err != nil {
		err = &outputError{err}
	}
	return n, err
}

// write buffers standard output.
func (a *app) write(body func(*bufio.Writer) error) error {
	w := bufio.NewWriterSize(standardOutput{a.streams}, 64<<10)
	if err := body(w); err != nil {
		return err
	}
	return w.Flush()
}

// newOutput settles where bytes go: standard output for "" and "-", else a file that appears when it
// is complete.
func (a *app) newOutput(path string, force bool) (func(write func(io.Writer) error) error, error) {
	if path == "" || path == "-" {
		return func(write func(io.Writer) error) error {
			return a.write(func(w *bufio.Writer) error { return write(w) })
		}, nil
	}
	if info, err := os.Lstat(path); err == nil {
		switch at, err := os.Stat(path); {
		case err == nil && !at.Mode().IsRegular(), err != nil && info.Mode()&os.ModeSymlink == 0: // a device would be replaced
			return nil, &usageError{fmt.Errorf("write %s: it is no file", path), "name another one, or - for standard output"}
		case !force:
			return nil, &usageError{fmt.Errorf("write %s: it exists", path), "use --force to replace it"}
		}
	}
	return func(write func(io.Writer) error) error {
		var rendered error
		err := writeFileAtomic(path, 0o644, func(f *os.File) error {
			w := bufio.NewWriterSize(f, 64<<10)
			if rendered = write(w); rendered != nil {
				return rendered
			}
			return w.Flush()
		})
		if err != nil && rendered == nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		return err
	}, nil
}
