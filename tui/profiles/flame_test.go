package profiles

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"kitescope/profile"
	"kitescope/tui"
	"kitescope/tui/pagetest"
	"kitescope/tui/tuitest"
)

// decodedProfiles caches profiles by path.
var decodedProfiles sync.Map

// profileItem returns the item for a profile in testdata/profiles.
func profileItem(name string) Item {
	path := filepath.Join("..", "..", "testdata", "profiles", filepath.FromSlash(name))
	base := filepath.Base(path)
	node, rest, _ := strings.Cut(base, ".")
	kind, _, _ := strings.Cut(rest, ".")
	item := Item{
		Name: name, Words: []string{name}, Kind: kind,
		Load: func(ctx context.Context) (*profile.Profile, error) {
			if p, ok := decodedProfiles.Load(path); ok {
				own := *p.(*profile.Profile) // with its own Origin
				return &own, nil
			}
			f, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			p, err := profile.Decode(ctx, f, profile.Limits{})
			if err == nil {
				own := *p
				decodedProfiles.Store(path, &own)
			}
			return p, err
		},
	}
	if strings.Contains(name, "/") {
		item.Node, item.Role = node, strings.TrimRight(node, "0123456789")
	} else {
		item.Kind = "cpu"
	}
	return item
}

// clusterItems returns the CPU profiles of a state of the cluster, by process.
func clusterItems(state string) []Item {
	var items []Item
	for _, node := range []string{
		"datanode", "proxy", "querynode1", "querynode2", "querynode3", "querynode4", "rootcoord",
	} {
		items = append(items, profileItem(state+"/"+node+".cpu.pb.gz"))
	}
	return items
}

func comparedView() View {
	return View{Base: []Item{profileItem("milvus-cpu-flat.pb.gz")}, Items: []Item{profileItem("milvus-cpu-hnsw.pb.gz")}}
}

func oneView(name string) View { return View{Items: []Item{profileItem(name)}} }

// kindsView returns a view of profiles of several kinds. One profile has no samples.
func kindsView() View {
	var v View
	for _, kind := range []string{"heap", "goroutine", "mutex"} {
		item := profileItem("milvus-" + kind + ".pb.gz")
		item.Kind = kind
		v.Items = append(v.Items, item)
	}
	v.Items = append(v.Items, profileItem("milvus-cpu-hnsw.pb.gz"), profileItem("milvus-cpu-flat.pb.gz"))
	return v
}

func nodesView() View { return View{Items: clusterItems("t3"), Nodes: true} }

// driveProfiles starts a driver on profiles without a cluster.
func driveProfiles(t *testing.T, v View, w, h int, change ...func(*tui.Config)) *ui {
	t.Helper()
	cfg := pagetest.Config()
	cfg.Title, cfg.Command = "profiles", "kitescope"
	cfg = v.config(cfg)
	for _, c := range change {
		c(&cfg)
	}
	return driven(t, cfg, w, h)
}

func (d *ui) flame() *flamePage {
	d.T.Helper()
	p, ok := d.m.Top().(*flamePage)
	if !ok {
		d.T.Fatalf("the page is a %T", d.m.Top())
	}
	return p
}

// frame returns the name of the frame under the cursor.
func (d *ui) frame() string {
	g := d.flame().graph()
	return g.index.tree.Names[g.index.tree.Frames[g.at].Name]
}

var flameScreens = []struct {
	name        string
	view        func() View
	keys, typed string
}{
	{"flame", func() View { return oneView("milvus-cpu-hnsw.pb.gz") }, "", ""},
	{"flame-zoom", func() View { return oneView("milvus-cpu-hnsw.pb.gz") }, "enter down*2", ""},
	{"flame-inverted", func() View { return oneView("milvus-cpu-hnsw.pb.gz") }, "i down*3", ""},
	{"flame-package", func() View { return oneView("milvus-cpu-hnswcos-nq1.pb.gz") }, "b", ""},
	{"flame-search", func() View { return oneView("milvus-cpu-hnsw.pb.gz") }, "/", "grpc.*(stream|conn)"},
	{
		"flame-sandwich", func() View { return oneView("milvus-cpu-hnswcos-nq1.pb.gz") },
		"/ r u n t i m e . m a l l o c g c enter n c", "",
	},
	{"flame-heap", func() View { return oneView("milvus-heap.pb.gz") }, "down", ""},
	{"flame-nodes", nodesView, "", ""},
	{"flame-diff", comparedView, "", ""},
	{"flame-diff-sandwich", comparedView, "down*3 c", ""},
	{"top", func() View { return oneView("milvus-cpu-hnsw.pb.gz") }, "v", ""},
	{"top-class", nodesView, "v b*3", ""},
	{"top-diff", comparedView, "v", ""},
	{"profiles", nodesView, "9", ""},
	{"profiles-kinds", kindsView, "9", ""},
	{"profiles-marked", nodesView, "9 down*4 space down space", ""},
}

func TestProfileScreens(t *testing.T) {
	wide := map[string]bool{"flame": true, "flame-diff": true, "top-diff": true, "profiles": true}
	for _, size := range tuitest.Sizes {
		for _, s := range flameScreens {
			if size.W > 100 && !wide[s.name] {
				continue
			}
			name := fmt.Sprintf("%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driveProfiles(t, s.view(), size.W, size.H)
					d.Keys(s.keys).Typed(s.typed)
					d.Fits()
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}

// TestFlameWithoutColour checks that signs replace colours and that no colour is written.
func TestFlameWithoutColour(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		for _, s := range []struct {
			name string
			view func() View
			keys string
		}{
			{"flame-diff", comparedView, "down"},
			{"flame-search", func() View { return oneView("milvus-cpu-hnsw.pb.gz") }, "/ c g o enter"},
		} {
			name := s.name + "-nocolor"
			if ascii {
				name = s.name + "-ascii"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driveProfiles(t, s.view(), 80, 24, func(c *tui.Config) { c.NoColor, c.ASCII = true, ascii })
					d.Keys(s.keys)
					d.Fits()
					if screen := d.Screen(); strings.Contains(screen, "[3") || strings.Contains(screen, "[4") ||
						strings.Contains(screen, ";38;") {
						t.Errorf("a colour in spite of NO_COLOR: %q", screen)
					}
					tuitest.Golden(t, name, strings.ReplaceAll(d.Screen(), "\x1b[", "«")+"\n")
					if !ascii {
						return
					}
					lines := strings.Split(d.Plain(), "\n")
					for _, line := range lines[3 : len(lines)-3] { // without header and footer
						for _, r := range line {
							if r > 0x7e {
								t.Errorf("%q is not ASCII in %q", r, line)
								break
							}
						}
					}
				})
			})
		}
	}
}

// TestFlameSizes checks the pages while the terminal is resized, starting with the smallest size.
func TestFlameSizes(t *testing.T) {
	for _, s := range flameScreens {
		if s.name != "flame-diff-sandwich" && s.name != "top-diff" && s.name != "profiles" {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			d := driveProfiles(t, s.view(), tui.MinWidth, tui.MinHeight)
			d.Keys(s.keys).Typed(s.typed)
			for w := tui.MinWidth; w < 240; w += 23 {
				for _, h := range []int{tui.MinHeight, 20} {
					d.Send(tea.WindowSizeMsg{Width: w, Height: h})
					d.Fits()
				}
			}
		})
	}
}
