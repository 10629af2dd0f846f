package cli

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"kitescope/render"
)

// settleGlyphs finds out which characters the output may have: by --ascii, config.yaml, else by the terminal and the locale.
func (a *App) settleGlyphs(cmd *cobra.Command) error {
	if !slices.Contains([]string{"auto", "always", "never"}, a.Flags.ascii) {
		return Usagef("--ascii is auto, always or never, not %q", a.Flags.ascii)
	}
	a.forPeople = forPeople(cmd)
	a.glyphs, a.Glyphs = a.terminalGlyphs(), a.terminalGlyphs()
	if !a.OutTTY { // bytes go where nobody says what they may be; a name must arrive as it is
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

// forPeople reports whether a command writes text for people and no document: by its -o.
func forPeople(cmd *cobra.Command) bool {
	if cmd == nil {
		return false
	}
	f := cmd.Flags().Lookup("output")
	return f == nil || f.Value.Type() == "string" && slices.Contains([]string{"", "text", "table", "wide"}, f.Value.String())
}

// terminalGlyphs are the characters of the terminal, as far as the environment says.
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

// utf8Locale reports whether the locale's characters are UTF-8. Where there is no locale at all, as in most containers, the
// terminal is most probably one of today.
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

// glyphWriter puts text into the characters of the terminal.
type glyphWriter struct {
	to     io.Writer
	glyphs render.Glyphs
	rest   []byte // the beginning of a character
}

func (w *glyphWriter) Write(p []byte) (int, error) {
	text := slices.Concat(w.rest, p)
	whole := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ { // is the last character there to its end?
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-i:]) {
				whole = len(text) - i
			}
			break
		}
	}
	w.rest = slices.Clone(text[whole:])
	if _, err := io.WriteString(w.to, w.glyphs.Text(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end writes what is left.
func (w *glyphWriter) end() error {
	_, err := io.WriteString(w.to, w.glyphs.Text(string(w.rest)))
	w.rest = nil
	return err
}
