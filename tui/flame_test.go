package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"kitescope/profile"
)

// profileItem is a profile of testdata/profiles.
func profileItem(name string) ProfileItem {
	path := filepath.Join("..", "testdata", "profiles", filepath.FromSlash(name))
	base := filepath.Base(path)
	node, rest, _ := strings.Cut(base, ".")
	kind, _, _ := strings.Cut(rest, ".")
	item := ProfileItem{Name: name, Words: []string{name}, Kind: kind, Load: func(ctx context.Context) (*profile.Profile, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return profile.Decode(ctx, f, profile.Limits{})
	}}
	if strings.Contains(name, "/") {
		item.Node, item.Role = node, strings.TrimRight(node, "0123456789")
	} else {
		item.Kind = "cpu"
	}
	return item
}

// clusterItems are the cpu profiles of a state of the cluster, by process.
func clusterItems(state string) []ProfileItem {
	var items []ProfileItem
	for _, node := range []string{"datanode", "proxy", "querynode1", "querynode2", "querynode3", "querynode4", "rootcoord"} {
		items = append(items, profileItem(state+"/"+node+".cpu.pb.gz"))
	}
	return items
}

func comparedView() ProfileView {
	return ProfileView{Base: []ProfileItem{profileItem("milvus-cpu-flat.pb.gz")}, Items: []ProfileItem{profileItem("milvus-cpu-hnsw.pb.gz")}}
}

func oneView(name string) ProfileView { return ProfileView{Items: []ProfileItem{profileItem(name)}} }

// kindsView are profiles of several kinds, one of them without samples.
func kindsView() ProfileView {
	var v ProfileView
	for _, kind := range []string{"heap", "goroutine", "mutex"} {
		item := profileItem("milvus-" + kind + ".pb.gz")
		item.Kind = kind
		v.Items = append(v.Items, item)
	}
	v.Items = append(v.Items, profileItem("milvus-cpu-hnsw.pb.gz"), profileItem("milvus-cpu-flat.pb.gz"))
	return v
}

func nodesView() ProfileView { return ProfileView{Items: clusterItems("t3"), Nodes: true} }

// driveProfiles starts a driver on profiles without a cluster.
func driveProfiles(t *testing.T, v ProfileView, w, h int, change ...func(*Config)) *ui {
	t.Helper()
	cfg := testConfig()
	cfg.Title, cfg.Command = "profiles", "kitescope"
	cfg = v.config(cfg)
	for _, c := range change {
		c(&cfg)
	}
	return driven(t, cfg, w, h)
}

func (d *ui) flame() *flamePage {
	d.t.Helper()
	p, ok := d.m.stack.top().(*flamePage)
	if !ok {
		d.t.Fatalf("the page is a %T", d.m.stack.top())
	}
	return p
}

// frame is the name of the frame under the cursor.
func (d *ui) frame() string {
	g := d.flame().graph()
	return g.index.tree.Names[g.index.tree.Frames[g.at].Name]
}

var flameScreens = []struct {
	name        string
	view        func() ProfileView
	keys, typed string
}{
	{"flame", func() ProfileView { return oneView("milvus-cpu-hnsw.pb.gz") }, "", ""},
	{"flame-zoom", func() ProfileView { return oneView("milvus-cpu-hnsw.pb.gz") }, "enter down*2 F", ""},
	{"flame-inverted", func() ProfileView { return oneView("milvus-cpu-hnsw.pb.gz") }, "i down*3", ""},
	{"flame-package", func() ProfileView { return oneView("milvus-cpu-hnswcos-nq1.pb.gz") }, "b", ""},
	{"flame-search", func() ProfileView { return oneView("milvus-cpu-hnsw.pb.gz") }, "/", "grpc.*(stream|conn)"},
	{"flame-sandwich", func() ProfileView { return oneView("milvus-cpu-hnswcos-nq1.pb.gz") }, "/ r u n t i m e . m a l l o c g c enter n s", ""},
	{"flame-heap", func() ProfileView { return oneView("milvus-heap.pb.gz") }, "down", ""},
	{"flame-nodes", nodesView, "", ""},
	{"flame-diff", comparedView, "", ""},
	{"flame-diff-vanished", comparedView, "d down*3 left", ""},
	{"flame-diff-sandwich", comparedView, "down*3 s", ""},
	{"top", func() ProfileView { return oneView("milvus-cpu-hnsw.pb.gz") }, "t", ""},
	{"top-class", nodesView, "t b*3", ""},
	{"top-diff", comparedView, "t", ""},
	{"peek", func() ProfileView { return oneView("milvus-cpu-hnsw.pb.gz") }, "t down enter", ""},
	{"peek-diff", comparedView, "t down enter", ""},
	{"profiles", nodesView, "p", ""},
	{"profiles-kinds", kindsView, "p", ""},
	{"profiles-marked", nodesView, "p down*4 v down v", ""},
}

func TestProfileScreens(t *testing.T) {
	for _, size := range sizes {
		for _, s := range flameScreens {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driveProfiles(t, s.view(), size.w, size.h)
					d.keys(s.keys).typed(s.typed)
					d.fits()
					golden(t, name, d.plain())
				})
			})
		}
	}
}

// TestFlameWithoutColour holds that signs say what colours say, and that there is no colour.
func TestFlameWithoutColour(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		for _, s := range []struct {
			name string
			view func() ProfileView
			keys string
		}{{"flame-diff", comparedView, "d"}, {"flame-search", func() ProfileView { return oneView("milvus-cpu-hnsw.pb.gz") }, "/ c g o enter"}} {
			name := s.name + "-nocolor"
			if ascii {
				name = s.name + "-ascii"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driveProfiles(t, s.view(), 80, 24, func(c *Config) { c.NoColor, c.ASCII = true, ascii })
					d.keys(s.keys)
					d.fits()
					if screen := d.screen(); strings.Contains(screen, "[3") || strings.Contains(screen, "[4") || strings.Contains(screen, ";38;") {
						t.Errorf("a colour in spite of NO_COLOR: %q", screen)
					}
					golden(t, name, strings.ReplaceAll(d.screen(), "\x1b[", "«")+"\n")
					if !ascii {
						return
					}
					lines := strings.Split(d.plain(), "\n")
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

// TestFlameOnAnySize draws all screens on every size from the smallest on, while the terminal is resized.
func TestFlameOnAnySize(t *testing.T) {
	for _, s := range flameScreens {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := driveProfiles(t, s.view(), minWidth, minHeight)
				d.keys(s.keys).typed(s.typed)
				for w := minWidth; w < 240; w += 13 {
					for _, h := range []int{minHeight, 19, 20, 37} {
						d.send(tea.WindowSizeMsg{Width: w, Height: h})
						d.fits()
					}
				}
			})
		})
	}
}

// TestFlameKeysInAnyOrder presses keys on every screen: no order of them may break anything.
func TestFlameKeysInAnyOrder(t *testing.T) {
	for _, s := range flameScreens {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := driveProfiles(t, s.view(), 80, 24)
				d.keys(s.keys).typed(s.typed)
				for key := range strings.FieldsSeq("enter esc G s up up left right i o d a % b T F n N backspace pgdown pgup end home down enter enter s s t z esc esc r / esc e y Y esc ctrl+d ctrl+u < > S = v v enter p esc esc") {
					d.keys(key)
					d.fits()
				}
			})
		})
	}
}
