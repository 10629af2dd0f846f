package pgo

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile"
)

// When two profiles are of two programs. Processes of one program may have little in common: of Milvus, a datanode
// and an idle indexnode had none of their functions, and a datacoord and a datanode 4 of 100, so that fewer functions
// than fewOwn tell nothing. Programs of other names and other modules, or with next to none of many functions in
// common, are strangers.
const (
	fewOwn         = 30
	strangers      = 0.01
	fewOwnNamed    = 10
	strangersNamed = 0.2
)

// program is what a profile tells of its program.
type program struct {
	name, buildID string
	// functions are those outside of the standard library, modules the modules that they are of.
	functions, modules map[string]bool
}

func programOf(in *Input) *program {
	p := &program{buildID: in.BuildID, functions: map[string]bool{}, modules: map[string]bool{}}
	if len(in.Profile.Mappings) > 0 {
		// The first mapping is the main binary (google/pprof proto/profile.proto: mapping).
		p.name = path.Base(strings.ReplaceAll(in.Profile.Mappings[0].File, `\`, "/"))
		p.buildID = cmp.Or(p.buildID, in.Profile.Mappings[0].BuildID)
		if p.name == "." || p.name == "/" || strings.HasPrefix(p.name, "[") {
			p.name = ""
		}
	}
	for i := range in.Profile.Functions {
		f := &in.Profile.Functions[i]
		if f.StartLine == 0 {
			continue
		}
		if module := moduleOf(f); module != "" {
			// Package main has the same name in all programs, and its files mostly have not.
			p.functions[f.Name+" "+path.Base(f.File)] = true
			if module != mainPackage {
				p.modules[module] = true
			}
		}
	}
	return p
}

const mainPackage = "main"

// moduleOf is where a function of Go comes from, as far as its name tells: the repository, or the first part of its
// path, "" for the standard library.
func moduleOf(f *profile.Function) string {
	name, _, _ := strings.Cut(f.Name, "[")
	name, _, _ = strings.Cut(name, "(")
	parts := strings.Split(name, "/")
	parts[len(parts)-1], _, _ = strings.Cut(parts[len(parts)-1], ".")
	switch {
	case strings.Contains(parts[0], ".") && len(parts) > 1:
		most := 2
		switch parts[0] {
		case "github.com", "gitlab.com", "bitbucket.org":
			most = 3
		}
		return strings.Join(parts[:min(most, len(parts))], "/")
	case isStandard(parts[0]):
		return ""
	}
	return parts[0]
}

// isStandard reports whether a package of the standard library begins with this (`go list std`, go1.26).
func isStandard(first string) bool {
	switch first {
	case "archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug", "embed", "encoding", "errors", "expvar",
		"flag", "fmt", "go", "hash", "html", "image", "index", "internal", "io", "iter", "log", "maps", "math", "mime", "net", "os", "path", "plugin",
		"reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings", "structs", "sync", "syscall", "testing", "text", "time", "type", "unicode",
		"unique", "unsafe", "vendor", "weak", "_cgo_gotypes", "":
		return true
	}
	return strings.HasPrefix(first, "_")
}

// strangeTo reports whether two profiles are of two programs, and the share of functions that they have in common.
func (p *program) strangeTo(q *program) (common float64, strange bool) {
	if p.buildID != "" && p.buildID == q.buildID {
		return 1, false
	}
	fewer, more := p.functions, q.functions
	if len(fewer) > len(more) {
		fewer, more = more, fewer
	}
	if len(fewer) == 0 {
		return 0, false
	}
	n := 0
	for name := range fewer {
		if more[name] {
			n++
		}
	}
	common = float64(n) / float64(len(fewer))
	named := p.name != "" && q.name != "" && p.name != q.name
	switch {
	case n == 0 && (named || p.name == "" || q.name == "") && strangeModules(p.modules, q.modules):
		return common, true
	case named:
		return common, len(fewer) >= fewOwnNamed && common < strangersNamed
	}
	return common, len(fewer) >= fewOwn && common < strangers
}

// strangeModules reports whether both sides are known and have nothing in common.
func strangeModules(a, b map[string]bool) bool {
	for module := range a {
		if b[module] {
			return false
		}
	}
	return len(a) > 0 && len(b) > 0
}

// programs finds profiles of two programs. All are held against the one that tells most of itself.
func (j *judge) programs() {
	list := make([]*program, len(j.profiles))
	most := 0
	for i := range j.profiles {
		list[i] = programOf(&j.inputs[j.of[i]])
		n, m := len(list[i].functions), len(list[most].functions)
		if n > m || n == m && j.name(i) < j.name(most) {
			most = i
		}
	}
	var others []string
	var renamed []string
	common := 0.0
	for i, p := range list {
		share, strange := list[most].strangeTo(p)
		switch {
		case i == most:
		case strange:
			others, common = append(others, j.name(i)), max(common, share)
		case p.name != "" && list[most].name != "" && p.name != list[most].name:
			renamed = append(renamed, fmt.Sprintf("%s (%s)", j.name(i), p.name))
		}
	}
	slices.Sort(others)
	slices.Sort(renamed)
	if len(others) > 0 {
		j.Refusals = append(j.Refusals, Refusal{
			"two-programs", fmt.Sprintf("%s %s of another program than %s%s: of their functions outside the standard library %s are the same",
				words.FirstOf(others, 3, ", "), words.Agree(len(others), "is", "are"), j.name(most), called(list[most].name), percent(common)),
			"judge and pack those of one program",
		})
	}
	if len(renamed) > 0 {
		j.Cautions = append(j.Cautions, Refusal{
			"other-binary", fmt.Sprintf("%s %s of a binary with another name than %s%s", words.FirstOf(renamed, 3, ", "), words.Agree(len(renamed), "is", "are"), j.name(most), called(list[most].name)),
			"is it the same program?",
		})
	}
}

func called(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}
