package tui

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"
	"unicode/utf8"

	"kitescope/inspect/model"
	"kitescope/tui/tuitest"
)

func TestCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5 y")
		if want := "470590760626295000\tdocs_hnsw_cos\t_default\tFlushed\tL1\t1000\t0\t1.2 " +
			"MiB\tFinished\t1h40m\n"; d.Clip != want {
			t.Errorf("y copies %q, want %q", d.Clip, want)
		}
		d.Keys("Y 2")
		if n := strings.Count(d.Clip, "\n"); n != 28 {
			t.Errorf("the table as TSV has %d lines, want a header and the 27 rows that are not dropped", n)
		}
		d.Keys("Y 3")
		if !strings.HasPrefix(d.Clip, "470590760626295000\n470590760626295007\n") {
			t.Errorf("ids: %q", d.Clip)
		}
		d = at(t, ":")
		d.Typed("segments coll=docs_hnsw_cos").Keys("enter / ").Typed("rows>2k !re:x|y it's").
			Keys("enter w S enter Y 1")
		want := `kitescope --from etcd://127.0.0.1:2379/by-dev get segments coll=docs_hnsw_cos 'rows>2k' --sort=id -o wide | grep -ivE 'x|y' | grep -iF its`
		if d.Clip != want {
			t.Errorf("command:\n%s\nwant:\n%s", d.Clip, want)
		}
		d = at(t, "4 d Y 1")
		if want := "kitescope --from etcd://127.0.0.1:2379/by-dev describe collection 470590760626290000 " +
			"--records"; d.Clip != want {
			t.Errorf("command %q, want %q", d.Clip, want)
		}
	})
}

// TestCopyNodeFlags checks that a copied command has the flags for the processes.
func TestCopyNodeFlags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.NodeFlags = "--live --map 10.2.0.7=localhost"
		cfg.StartPage = "nodes"
		d := driven(t, cfg, 120, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys("Y 1")
		if want := "kitescope --from etcd://127.0.0.1:2379/by-dev --live --map " +
			"10.2.0.7=localhost get nodes"; !strings.HasPrefix(d.Clip, want) {
			t.Errorf("command %q, want %q", d.Clip, want)
		}
		d.Keys(":").Typed("explain quiet").Keys("enter Y 1")
		if want := "kitescope --from etcd://127.0.0.1:2379/by-dev explain quiet"; d.Clip != want {
			t.Errorf("command %q, want %q", d.Clip, want)
		}
	})
}

func TestClipboardLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.StartPage = "segments"
		d := driven(t, cfg, 120, 30)
		d.Cluster(tuitest.ManySegments(5000))
		d.Keys("Y 2")
		d.Shows("is too large to copy: save it to a file")
		if d.Clip != "" {
			t.Error("it was copied all the same")
		}
	})
}

// TestRefreshWhileAMenuIsOpen checks that the rows copied and saved are those that the menu counted.
func TestRefreshWhileAMenuIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := tuitest.FixtureParts()
		p.Origin.Revision++
		p.Segments = p.Segments[:3]
		for _, keys := range []string{"Y 2", "Y 3", "s 2 enter"} {
			d := at(t, "5")
			open, choose, _ := strings.Cut(keys, " ")
			d.Keys(open)
			d.Cluster(model.Build(p))
			d.Keys(choose)
			text := d.Clip
			for _, saved := range d.Saved {
				text = saved
			}
			if n := strings.Count(text, "470590760626295"); n != 27 {
				t.Errorf("%s: %d rows, want the 27 of the menu", keys, n)
			}
		}
	})
}

func TestSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5 / ")
		d.Typed("state=growing").Keys("enter s 1 enter")
		d.Shows("saved /saved/kitescope-segments-20261120-093000.json")
		var list struct {
			Kind  string
			Items []struct{ ID, State string }
		}
		if err := json.Unmarshal([]byte(d.Saved["kitescope-segments-20261120-093000.json"]), &list); err != nil {
			t.Fatal(err)
		}
		if list.Kind != "SegmentList" || len(list.Items) != 4 || list.Items[0].State != "Growing" {
			t.Errorf("saved %+v", list)
		}
		d.Keys("s 2 enter")
		rows, err := csv.NewReader(strings.NewReader(d.Saved["kitescope-segments-20261120-093000.csv"])).ReadAll()
		if err != nil || len(rows) != 5 {
			t.Errorf("csv: %d rows, %v", len(rows), err)
		}
	})
}

// TestCopyPlainText checks that hostile names are harmless when pasted into a shell or shown on the
// screen.
func TestCopyPlainText(t *testing.T) {
	hostile := "a\x1b[201~\x1b]52;c;aWQ=\x07\x1b\\\r;id\x00\u009b\u0085\u202e\u2028\xff'$(id)"
	m := &Model{}
	for _, text := range []string{
		hostile, hostile + "\tcell\n=1+1\t" + hostile + "\n", strings.Repeat("\x1b", clipboardLimit/8),
		"Müller 東京 😀\tb\n",
	} {
		c := m.Copy(text, hostile)
		if c == nil {
			t.Fatalf("%.40q is not copied", text)
		}
		copied := fmt.Sprint(c())
		if len(copied) > clipboardLimit || !utf8.ValidString(copied) ||
			strings.Count(copied, "\n") != strings.Count(text, "\n") ||
			strings.Count(copied, "\t") != strings.Count(text, "\t") {
			t.Errorf("%.60q is copied as %d bytes: %.200q", text, len(copied), copied)
		}
		if i := strings.IndexFunc(copied, func(r rune) bool {
			return r != '\n' && r != '\t' && unicode.In(r, unicode.C, unicode.Zl, unicode.Zp)
		}); i >= 0 {
			t.Errorf("%.60q is copied with %q", text, copied[i:])
		}
		if text == "Müller 東京 😀\tb\n" && copied != text {
			t.Errorf("%q became %q", text, copied)
		}
	}
	// A text that becomes too long by escaping is not sent, because terminals would drop it silently.
	if c := m.Copy(strings.Repeat("\x1b", clipboardLimit/2), "much"); c != nil {
		t.Errorf("%d bytes are copied", len(fmt.Sprint(c())))
	}
	if title := New(testConfig()).View().WindowTitle; title != "kitescope" { // without a name from the cluster
		t.Errorf("the title is %q", title)
	}
}
