package flame

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile/flame"
)

// flamePage holds the page, its style and its script. HTML combines them into one file.
//
//go:embed page.html page.css page.js
var flamePage embed.FS

// maxPage limits the size of a page in bytes. HTML omits the smallest frames of larger pages.
const maxPage = 1_900_000

// HTML writes a self-contained page that can be opened from a disk, searched and zoomed. Its content security
// policy forbids everything that the page does not contain, so that it cannot fetch or send data.
func HTML(w io.Writer, t *flame.Tree, o Options) error {
	trees := append([]*flame.Tree{t}, o.More...)
	assets := make([]string, 0, 3)
	room := maxPage
	for _, name := range []string{"page.html", "page.css", "page.js"} {
		b, err := flamePage.ReadFile(name)
		if err != nil {
			return err
		}
		assets = append(assets, strings.TrimSpace(string(b)))
		room -= len(b)
	}
	var data []byte
	for {
		var err error
		if data, err = json.Marshal(newFlameData(trees)); err != nil {
			return err
		}
		if len(data) <= room || !shrink(trees, float64(room)/float64(len(data))) {
			break
		}
	}
	title := cutName(o.Title)
	if title == "" {
		title = "flame graph"
	}
	page := strings.NewReplacer(
		"{{.Policy}}",
		"default-src 'none'; base-uri 'none'; form-action 'none'; style-src '"+digest(assets[1])+"'; script-src '"+
			digest(assets[2])+"'",
		"{{.Version}}", html.EscapeString(words.Sanitize(o.Version)), "{{.Title}}", html.EscapeString(title),
		"{{.Subtitle}}", html.EscapeString(cutName(o.Subtitle)), "{{.Style}}", assets[1], "{{.Data}}", string(data),
		"{{.Script}}", assets[2],
	)
	_, err := page.WriteString(w, assets[0])
	return err
}

// digest returns the hash that allows a script or style in a content security policy.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// shrink removes the smallest frames of trees in place and keeps about the given part of all frames. It returns
// false if it cannot remove any frame.
func shrink(trees []*flame.Tree, part float64) bool {
	done := false
	for i, t := range trees {
		keep := int(float64(len(t.Frames)) * min(0.95, part*0.98))
		if keep < 1 || len(t.Frames) == 1 {
			continue
		}
		trees[i], done = t.Prune(keep, 0), true
	}
	return done
}
