package main

import (
	"slices"

	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// cutFiles are the files that hold something of what is kept, with nothing else in them, those that others import first.
func cutFiles(kept map[protoreflect.FullName]bool) []*descriptorpb.FileDescriptorProto {
	needed := make(map[string]bool)
	protoregistry.GlobalFiles.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		if holds(f, kept) {
			needed[f.Path()] = true
		}
		return true
	})
	var out []*descriptorpb.FileDescriptorProto
	done := make(map[string]bool)
	var add func(path string)
	add = func(path string) {
		if done[path] {
			return
		}
		done[path] = true
		f, err := protoregistry.GlobalFiles.FindFileByPath(path)
		if err != nil {
			return
		}
		for i := range f.Imports().Len() {
			if name := f.Imports().Get(i).Path(); needed[name] {
				add(name)
			}
		}
		out = append(out, cutFile(f, kept, needed))
	}
	for _, path := range sorted(needed) {
		add(path)
	}
	return out
}

func holds(f protoreflect.FileDescriptor, kept map[protoreflect.FullName]bool) bool {
	for i := range f.Messages().Len() {
		if kept[f.Messages().Get(i).FullName()] {
			return true
		}
	}
	for i := range f.Enums().Len() {
		if kept[f.Enums().Get(i).FullName()] {
			return true
		}
	}
	return false
}

func cutFile(f protoreflect.FileDescriptor, kept map[protoreflect.FullName]bool, needed map[string]bool) *descriptorpb.FileDescriptorProto {
	p := protodesc.ToFileDescriptorProto(f)
	in := func(name string) bool { return kept[f.Package().Append(protoreflect.Name(name))] }
	p.MessageType = slices.DeleteFunc(p.MessageType, func(m *descriptorpb.DescriptorProto) bool { return !in(m.GetName()) })
	for _, m := range p.MessageType {
		plain(m)
	}
	p.EnumType = slices.DeleteFunc(p.EnumType, func(e *descriptorpb.EnumDescriptorProto) bool { return !in(e.GetName()) })
	p.Extension, p.Service = nil, nil // nothing here serves, and what is called is in replay/live
	p.PublicDependency, p.WeakDependency = nil, nil
	imported := imports(f, p)
	p.Dependency = slices.DeleteFunc(p.Dependency, func(name string) bool { return !needed[name] || !imported[name] })
	return p
}

// plain drops the options of messages, which are Milvus's own and say who may call what; that an entry is one of a map stays.
func plain(m *descriptorpb.DescriptorProto) {
	if !m.GetOptions().GetMapEntry() {
		m.Options = nil
	}
	for _, inner := range m.GetNestedType() {
		plain(inner)
	}
}

// imports are the paths of the files whose types a cut file names.
func imports(f protoreflect.FileDescriptor, p *descriptorpb.FileDescriptorProto) map[string]bool {
	paths := make(map[string]bool)
	name := func(full string) {
		if full == "" {
			return
		}
		if d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(full[1:])); err == nil {
			paths[d.ParentFile().Path()] = true
		}
	}
	var walk func(m *descriptorpb.DescriptorProto)
	walk = func(m *descriptorpb.DescriptorProto) {
		for _, field := range m.GetField() {
			name(field.GetTypeName())
		}
		for _, inner := range m.GetNestedType() {
			walk(inner)
		}
	}
	for _, m := range p.GetMessageType() {
		walk(m)
	}
	for _, s := range p.GetService() {
		for _, m := range s.GetMethod() {
			name(m.GetInputType())
			name(m.GetOutputType())
		}
	}
	delete(paths, f.Path())
	return paths
}
