package lab

import (
	"errors"
	"os"
	"strings"
)

// WriteReport replaces the text between the markers of a name in a document.
func WriteReport(file, name, text string) error {
	begin, end := "<!-- generated "+name+": begin (written by make e2e-"+name+") -->",
		"<!-- generated "+name+": end -->"
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(old), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return errors.New(file + " has no markers of generated " + name)
	}
	return os.WriteFile(file, []byte(head+begin+"\n"+text+end+tail), 0o644)
}

// Clean returns a text that fits into a row of a Markdown table, cut to 260 bytes.
func Clean(text string) string {
	const most = 260
	text = strings.Join(strings.Fields(strings.NewReplacer("<", "(", ">", ")", "|", "/").Replace(text)), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
