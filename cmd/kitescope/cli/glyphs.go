package cli

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"kitescope/render"
)

// setGlyphs sets the characters allowed in output: by --ascii, or else config.yaml, or else the terminal and
// the locale.
func (a *App) setGlyphs(cmd *cobra.Command) error {
	if !slices.Contains([]string{"auto", "always", "never"}, a.Flags.ascii) {
		return Usagef("--ascii must be auto, always or never, not %q", a.Flags.ascii)
	}
	a.forPeople = forPeople(cmd)
	a.glyphs, a.Glyphs = a.terminalGlyphs(), a.terminalGlyphs()
	if !a.OutTTY { // the charset of a pipe or file is unknown, and names must be unchanged
		a.glyphs = render.AllGlyphs
	}
	if !a.ErrTTY {
		a.Glyphs = render.AllGlyphs
	}
	word := a.Flags.ascii
	if word == "auto" {
		word = a.Preferences().ASCII
	}
	switch word {
	case "always":
		a.glyphs, a.Glyphs = render.ASCIIGlyphs, render.ASCIIGlyphs
	case "never":
		a.glyphs, a.Glyphs = render.AllGlyphs, render.AllGlyphs
	}
	return nil
}

// forPeople reports whether a command writes text for people instead of a structured document, by its -o flag.
func forPeople(cmd *cobra.Command) bool {
	if cmd == nil {
		return false
	}
	f := cmd.Flags().Lookup("output")
	return f == nil ||
		f.Value.Type() == "string" && slices.Contains([]string{"", "text", "table", "wide"}, f.Value.String())
}

// terminalGlyphs returns the characters of the terminal, as far as the environment defines them.
func (s *Streams) terminalGlyphs() render.Glyphs {
	term := s.Getenv("TERM")
	switch {
	case !utf8Locale(s.Getenv), term == "ansi", strings.HasPrefix(term, "vt"):
		return render.ASCIIGlyphs
	case term == "linux":
		return render.ConsoleGlyphs
	}
	return render.AllGlyphs
}

// utf8Locale reports whether the locale uses UTF-8. Without a locale, as in most containers, it returns true
// because the terminal is most likely modern.
func utf8Locale(getenv func(string) string) bool {
	for _, locale := range []string{getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")} {
		if locale == "" {
			continue
		}
		locale, _, _ = strings.Cut(locale, "@")
		_, charset, _ := strings.Cut(locale, ".")
		charset = strings.ToLower(strings.ReplaceAll(charset, "-", ""))
		return charset == "utf8" || charset == "" && strings.EqualFold(strings.ReplaceAll(locale, "-", ""), "utf8")
	}
	return true
}

// glyphWriter replaces characters that the terminal lacks.
type glyphWriter struct {
	to      io.Writer
	glyphs  render.Glyphs
	pending []byte // an incomplete character at the end of the last write
}

func (w *glyphWriter) Write(p []byte) (int, error) {
	text := slices.Concat(w.pending, p)
	whole := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ { // find an incomplete character at the end
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-i:]) {
				whole = len(text) - i
			}
			break
		}
	}
	w.pending = slices.Clone(text[whole:])
	if _, err := io.WriteString(w.to, w.glyphs.Text(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end writes the remaining bytes.
func (w *glyphWriter) end() error {
	_, err := io.WriteString(w.to, w.glyphs.Text(string(w.pending)))
	w.pending = nil
	return err
}
