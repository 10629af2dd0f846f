package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/internal/words"
	"kitescope/render"
)

// RenderOptions returns the options of a list in the given format.
func (a *App) RenderOptions(output string) (render.Options, error) {
	format, err := render.ListFormats().Parse(output)
	if err != nil {
		return render.Options{}, Usage(err, "see: kitescope help output")
	}
	color, err := a.UseColor()
	if err != nil {
		return render.Options{}, err
	}
	o := render.Options{Format: format, Color: color, ASCII: a.glyphs == render.ASCIIGlyphs}
	if a.OutTTY {
		o.Width, _ = a.Size()
	}
	return o, nil
}

// DocumentFlags are the flags of a command that shows a single document instead of a list.
type DocumentFlags struct{ output string }

// documentFormats are the formats of a document.
const documentFormats = "text, json or yaml"

// Register adds -o: text for people or a structured format.
func (f *DocumentFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", documentFormats)
	_ = cmd.RegisterFlagCompletionFunc("output", FixedCompletions("text", "json", "yaml"))
}

// Options returns the options of the document.
func (f *DocumentFlags) Options(a *App) (render.Options, error) {
	switch f.output {
	case "text", "table", "wide": // formats of get for people
		return a.RenderOptions("")
	}
	o, err := a.RenderOptions(f.output)
	if err == nil && !o.Format.Documents() {
		err = Usagef("output format %q is for lists; use %s", f.output, documentFormats)
	}
	return o, err
}

// outputError is an error of writing to standard output. A broken pipe there means that the reader has read
// enough; elsewhere it is a lost connection.
type outputError struct{ err error }

func (e *outputError) Error() string { return "write output: " + e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// standardOutput writes tables and documents to standard output.
type standardOutput struct{ *Streams }

func (o standardOutput) Write(p []byte) (int, error) {
	n, err := o.Transient.write(o.Out, p)
	if err != nil {
		err = &outputError{err}
	}
	return n, err
}

// Write writes buffered text to standard output. In output for people it replaces characters that the terminal
// lacks.
func (a *App) Write(body func(*bufio.Writer) error) error {
	if !a.forPeople || a.glyphs == render.AllGlyphs {
		return a.WriteBytes(body)
	}
	return a.WriteBytes(func(out *bufio.Writer) error {
		glyphs := &glyphWriter{to: out, glyphs: a.glyphs}
		return errors.Join(writeThrough(glyphs, body), glyphs.end())
	})
}

// WriteBytes is like Write for output that programs read or that is not text: the bytes are unchanged.
func (a *App) WriteBytes(body func(*bufio.Writer) error) error {
	return writeThrough(standardOutput{a.Streams}, body)
}

func writeThrough(to io.Writer, body func(*bufio.Writer) error) error {
	w := bufio.NewWriterSize(to, 64<<10)
	if err := body(w); err != nil {
		return err
	}
	return w.Flush()
}

// NewOutput returns a function that writes bytes unchanged: to standard output if path is "" or "-", or else to
// a file that appears only when it is complete. It returns an error if the file exists and force is not set.
func (a *App) NewOutput(path string, force bool) (func(write func(io.Writer) error) error, error) {
	if path == "" || path == "-" {
		return func(write func(io.Writer) error) error {
			return a.WriteBytes(func(w *bufio.Writer) error { return write(w) })
		}, nil
	}
	if info, err := os.Lstat(path); err == nil {
		switch at, err := os.Stat(path); {
		// Refuse other files, because a device would be replaced.
		case err == nil && !at.Mode().IsRegular(), err != nil && info.Mode()&os.ModeSymlink == 0:
			return nil,
				Usage(fmt.Errorf("write %s: not a regular file", path), "choose another, or - for standard output")
		case !force:
			return nil, Usage(fmt.Errorf("write %s: it exists", path), "use --force to replace it")
		}
	}
	return func(write func(io.Writer) error) error {
		var rendered error
		err := WriteFileAtomic(path, 0o644, func(f *os.File) error {
			return writeThrough(f, func(w *bufio.Writer) error {
				rendered = write(w)
				return rendered
			})
		})
		if err != nil && rendered == nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		return err
	}, nil
}

// SaveFile writes a new file and returns its absolute path. It returns fs.ErrExist if the file exists. "~/" is
// expanded to the home folder.
func SaveFile(path string, write func(io.Writer) error) (full string, err error) {
	if full, err = fullPath(path); err != nil {
		return "", err
	}
	f, err := os.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		_ = os.Remove(full) // do not leave an incomplete file
		return "", err
	}
	return full, nil
}

// fullPath returns the absolute path, with "~/" expanded.
func fullPath(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(home, rest)
	}
	return filepath.Abs(path)
}

// Extension returns the file extension without the dot, in lower case, which selects the format.
func Extension(path string) string {
	return strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
}

// CheckWritable returns an error if the file exists or its folder does not. It is called before a run that takes
// minutes.
func (a *App) CheckWritable(path string, force bool) error {
	if path == "" {
		return nil
	}
	if folder, err := os.Stat(filepath.Dir(path)); err != nil || !folder.IsDir() {
		return fmt.Errorf("write %s: %s is not a folder", path, filepath.Dir(path))
	}
	_, err := a.NewOutput(path, force)
	return err
}

// SaveResult writes a result that took long to compute to a file. If path is "", it does nothing.
func (a *App) SaveResult(path string, force bool, body func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	write, err := a.NewOutput(path, force)
	if err != nil {
		return err
	}
	return write(body)
}

// PrintOutput prints the output of another program, marked as such.
func (s *Streams) PrintOutput(text string) {
	for line := range strings.Lines(text) {
		s.Notef("  | %s", words.Sanitize(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")))
	}
}
