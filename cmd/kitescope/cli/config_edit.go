package cli

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// setInYAML is the text of a file with a value at a path of keys, nil: without what stands there. Comments and order stay as they are.
func setInYAML(text []byte, value any, path ...string) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if len(document.Content) == 0 {
		// Comments alone are no document for the parser, which would lose them.
		return onlyComments(text, value, path)
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: the file is a map of keys and values", root.Line)
	}
	if err := putInYAML(root, value, path); err != nil {
		return nil, err
	}
	return encodeYAML(&document)
}

func onlyComments(text []byte, value any, path []string) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if err := putInYAML(root, value, path); err != nil {
		return nil, err
	}
	added, err := encodeYAML(root)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text)) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	return append(bytes.Clone(text), added...), nil
}

func encodeYAML(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(n), e.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// putInYAML sets or removes what is at a path below a map.
func putInYAML(n *yaml.Node, value any, path []string) error {
	if n.Kind == yaml.AliasNode {
		return fmt.Errorf("line %d: %s is an alias, which stands for another part of the file: change that by hand", n.Line, path[0])
	}
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: there is no map for %s", n.Line, path[0])
	}
	at := -1
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == path[0] {
			at = i
		}
	}
	switch {
	case at < 0 && value == nil:
		return nil
	case at < 0:
		at = len(n.Content)
		empty := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: path[0]}, empty)
		if n.Style&yaml.FlowStyle != 0 && len(n.Content) == 2 { // "{}" stood for nothing yet
			n.Style &^= yaml.FlowStyle
		}
	case len(path) == 1 && value == nil:
		n.Content = append(n.Content[:at:at], n.Content[at+2:]...)
		return nil
	case len(path) > 1 && n.Content[at+1].Tag == "!!null":
		*n.Content[at+1] = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", LineComment: n.Content[at+1].LineComment}
	}
	if len(path) > 1 {
		return putInYAML(n.Content[at+1], value, path[1:])
	}
	var fresh yaml.Node
	if err := fresh.Encode(value); err != nil {
		return err
	}
	old := n.Content[at+1]
	fresh.HeadComment, fresh.LineComment, fresh.FootComment = old.HeadComment, old.LineComment, old.FootComment
	oneLine(&fresh)
	*old = fresh
	return nil
}

// oneLine has lists stand on one line, as people write those of columns and keys.
func oneLine(n *yaml.Node) {
	if n.Kind == yaml.SequenceNode {
		n.Style |= yaml.FlowStyle
	}
	for _, below := range n.Content {
		oneLine(below)
	}
}
