package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"kitescope/render"
)

// ThemeNames are the words of --theme that need no file.
func ThemeNames() []string {
	names := []string{"auto"}
	for _, t := range render.Themes() {
		names = append(names, t.Name)
	}
	return append(names, "mono")
}

// Theme settles --theme: a built-in name, or a file that adds a theme.
func Theme(word string) (name string, further []render.Theme, err error) {
	if word == "" || slices.Contains(ThemeNames(), word) {
		return word, nil, nil
	}
	f, err := os.Open(word)
	if err != nil {
		return "", nil, Usage(fmt.Errorf("no theme %q, and no such file", word), "available: "+strings.Join(ThemeNames(), ", ")+"; files: kitescope help themes")
	}
	defer f.Close()
	t, err := render.ReadTheme(f)
	if err != nil {
		return "", nil, Usage(fmt.Errorf("%s: %w", word, err), "see: kitescope help themes")
	}
	if slices.Contains(ThemeNames(), t.Name) {
		return "", nil, Usage(fmt.Errorf("%s: a built-in theme is named %q", word, t.Name), "give it another name")
	}
	return t.Name, []render.Theme{t}, nil
}
