package replays

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"kitescope/render/rendertest"
	"kitescope/replay"
	"kitescope/replay/whatif"
)

func TestGoldenReplayHTML(t *testing.T) {
	hostile := fixtureTrouble()
	evil := fixtureWhatIf()
	evil.Others[0].Change.Name, evil.Notes = "<script>alert(1)</script>"+rendertest.HostileName, []string{"<img src=x>"}
	base, now := fixturePair()
	for name, x := range map[string]struct {
		results []Series
		report  *whatif.Report
	}{
		"run":     {[]Series{{"run", fixtureRun()}}, fixtureWhatIf()},
		"sweep":   {[]Series{{"before", base}, {"all indexed", now}}, nil},
		"whatif":  {nil, fixtureWhatIf()},
		"servers": {fixtureServers(), nil},
		"hostile": {
			[]Series{{"</text><script>alert(1)</script>" + rendertest.HostileName, hostile}, {"b", fixtureLive()}},
			evil,
		},
		"nothing": {[]Series{{"", &replay.Result{}}}, nil},
	} {
		var b bytes.Buffer
		if err := WriteHTML(&b, x.results, x.report, "0.7.0"); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if strings.ContainsAny(text, "\x1b\x07\u202e") {
			t.Errorf("%s: a control character", name)
		}
		// Remove the page's own script and its links to headings, because render/webpage tests their policy.
		text = regexp.MustCompile(`(?s)<script>.*?</script>|href="#[a-z0-9-]*"`).ReplaceAllString(text, "")
		// Check for everything that fetches, runs or navigates. In SVG, only the namespace is a URL.
		for _, bad := range []string{
			"<script", "<img", "<iframe", "<link", "url(", "href=", "src=", "@import", "onload", "onclick", ">NaN",
			">+Inf", "NaN,",
		} {
			if i := strings.Index(strings.ReplaceAll(text, "&lt;img src=x", ""), bad); i >= 0 {
				t.Errorf("%s has %s: %s", name, bad, text[max(0, i-80):min(len(text), i+80)])
			}
		}
		rendertest.ElementsClose(t, name, text)
		if len(text) > 1_500_000 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
		// Plots have their own goldens.
		text = regexp.MustCompile(`(?s)<svg .*?</svg>`).ReplaceAllString(text, "<svg/>")
		if name == "sweep" {
			rendertest.Golden(t, "replay/report-"+name+".html", []byte(text))
		}
	}
	if err := WriteHTML(io.Discard, nil, nil, ""); err == nil {
		t.Error("a report of nothing")
	}
}
