package repo_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	pageLink    = regexp.MustCompile(`!?\[[^\]]*\]\(([^)\s]+)\)`)
	pageHeading = regexp.MustCompile(`^#+ +(.+)$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	linkText    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// TestLinks checks that every link in a document to a file of this repository, or to a heading, has an existing
// target.
func TestLinks(t *testing.T) {
	pages, links := map[string]map[string]bool{}, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			pages[path] = anchors(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for page := range pages {
		prose(t, page, func(n int, line string) {
			for _, m := range pageLink.FindAllStringSubmatch(line, -1) {
				if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
					continue
				}
				links++
				to, anchor, _ := strings.Cut(m[1], "#")
				target := page
				if to != "" {
					target = filepath.Join(filepath.Dir(page), filepath.FromSlash(to))
				}
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s:%d: %s leads nowhere", page, n, m[1])
				} else if anchor != "" && !pages[target][anchor] {
					t.Errorf("%s:%d: %s: there is no such heading", page, n, m[1])
				}
			}
		})
	}
	if links < 150 {
		t.Errorf("only %d links were found in %d pages", links, len(pages))
	}
}

// anchors returns the anchors of a page's headings. Repeated headings get a numeric suffix.
func anchors(t *testing.T, path string) map[string]bool {
	t.Helper()
	all, again := map[string]bool{}, map[string]int{}
	prose(t, path, func(_ int, line string) {
		m := pageHeading.FindStringSubmatch(line)
		if m == nil {
			return
		}
		text := linkText.ReplaceAllString(strings.TrimSpace(m[1]), "$1")
		name := strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
		if n := again[name]; n > 0 {
			all[name+"-"+strconv.Itoa(n)] = true
		} else {
			all[name] = true
		}
		again[name]++
	})
	return all
}

// prose calls visit with each line of a page that is outside of code blocks.
func prose(t *testing.T, path string, visit func(n int, line string)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	code := false
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		} else if !code && !strings.HasPrefix(line, "    ") {
			visit(i+1, line)
		}
	}
}
