package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// usedNames lists the names of Milvus's packages in the Go files below a folder, as "import/path.Name".
func usedNames(root string) (map[string]bool, error) {
	names := make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "third_party" || d.Name() == "milvuspb" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse %s: %w", path, err)
		}
		addNames(file, names)
		return nil
	})
	return names, err
}

func addNames(file *ast.File, names map[string]bool) {
	imported := make(map[string]string)
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || moduleOf(path) == "" {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = path
	}
	if len(imported) == 0 {
		return
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if n, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := n.X.(*ast.Ident); ok && imported[x.Name] != "" {
				names[imported[x.Name]+"."+n.Sel.Name] = true
			}
		}
		return true
	})
}

// needs are the full names of the messages and enums that the used names need.
func needs(names map[string]bool) map[protoreflect.FullName]bool {
	kept := make(map[protoreflect.FullName]bool)
	named := func(t reflect.Type) bool {
		prefix := t.PkgPath() + "." + t.Name()
		if names[prefix] {
			return true
		}
		for name := range names { // a constant of an enum, an arm of a oneof
			if strings.HasPrefix(name, prefix+"_") {
				return true
			}
		}
		return false
	}
	protoregistry.GlobalTypes.RangeMessages(func(m protoreflect.MessageType) bool {
		if t := reflect.TypeOf(m.Zero().Interface()).Elem(); moduleOf(t.PkgPath()) != "" && named(t) {
			keep(m.Descriptor(), kept)
		}
		return true
	})
	protoregistry.GlobalTypes.RangeEnums(func(e protoreflect.EnumType) bool {
		if t := reflect.TypeOf(e.New(0)); moduleOf(t.PkgPath()) != "" && named(t) {
			keepEnum(e.Descriptor(), kept)
		}
		return true
	})
	return kept
}

// keep adds a message with all that its fields hold, and the message around it.
func keep(m protoreflect.MessageDescriptor, kept map[protoreflect.FullName]bool) {
	if kept[m.FullName()] {
		return
	}
	kept[m.FullName()] = true
	if outer, ok := m.Parent().(protoreflect.MessageDescriptor); ok {
		keep(outer, kept)
	}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		if f.Message() != nil {
			keep(f.Message(), kept)
		}
		if f.Enum() != nil {
			keepEnum(f.Enum(), kept)
		}
	}
}

func keepEnum(e protoreflect.EnumDescriptor, kept map[protoreflect.FullName]bool) {
	kept[e.FullName()] = true
	if outer, ok := e.Parent().(protoreflect.MessageDescriptor); ok {
		keep(outer, kept)
	}
}
