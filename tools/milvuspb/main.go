// Milvuspb writes third_party/milvus and third_party/milvus-proto: the messages of Milvus that kitescope names, and what
// they need, from the descriptors of the real modules. The real ones hold about 2,000 messages, most of them requests of
// services that nobody here calls, and html/template makes the linker keep every method of each.
//
// What enters: the folder of kitescope, whose Go files say which names are used. What leaves: Go files with the import
// paths, message names and field numbers of the real modules. Steps: used names, what those need, each file cut down to
// it, protoc-gen-go.
//
//	go run -C tools/milvuspb . "$PWD"
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	_ "github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	_ "github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	_ "github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	_ "github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	_ "github.com/milvus-io/milvus/pkg/v3/proto/messagespb"
	_ "github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	_ "github.com/milvus-io/milvus/pkg/v3/proto/rootcoordpb"
	_ "github.com/milvus-io/milvus/pkg/v3/proto/streamingpb"
	_ "github.com/milvus-io/milvus/pkg/v3/proto/workerpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// modules are those that are cut down, and where they go.
var modules = map[string]string{
	"github.com/milvus-io/milvus/pkg/v3":          "third_party/milvus",
	"github.com/milvus-io/milvus-proto/go-api/v3": "third_party/milvus-proto",
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: milvuspb FOLDER_OF_KITESCOPE")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "milvuspb:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", name, err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// generate returns the texts of the files by their path in the folder of kitescope.
func generate(root string) (map[string]string, error) {
	names, err := usedNames(root)
	if err != nil {
		return nil, err
	}
	kept := needs(names)
	cut := cutFiles(kept)
	out := make(map[string]string)
	return out, run(cut, out)
}

// run gives protoc-gen-go all files and keeps what it writes for those of Milvus.
func run(cut []*descriptorpb.FileDescriptorProto, out map[string]string) error {
	const plugin = "protoc-gen-go"
	req := &pluginpb.CodeGeneratorRequest{ProtoFile: cut}
	for _, f := range cut {
		if moduleOf(goPackage(f)) != "" {
			req.FileToGenerate = append(req.FileToGenerate, f.GetName())
		}
	}
	in, err := proto.Marshal(req)
	if err != nil {
		return fmt.Errorf("encode the request to %s: %w", plugin, err)
	}
	cmd := exec.Command("go", "tool", plugin)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("run %s: %w", plugin, err)
	}
	res := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal(answer, res); err != nil {
		return fmt.Errorf("decode the answer of %s: %w", plugin, err)
	}
	if res.Error != nil {
		return fmt.Errorf("%s: %s", plugin, res.GetError())
	}
	for _, f := range res.GetFile() {
		module := moduleOf(filepath.Dir(f.GetName()))
		out[modules[module]+strings.TrimPrefix(f.GetName(), module)] = f.GetContent()
	}
	return nil
}

// moduleOf is the module of modules that has a package, "" if none has.
func moduleOf(pkg string) string {
	for module := range modules {
		if strings.HasPrefix(pkg, module+"/") {
			return module
		}
	}
	return ""
}

func goPackage(f *descriptorpb.FileDescriptorProto) string {
	pkg, _, _ := strings.Cut(f.GetOptions().GetGoPackage(), ";")
	return pkg
}

func sorted(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for name := range set {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}
