package cli

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// setInYAML returns a YAML file with the value at a path of keys replaced. A nil value removes the key.
// Comments and order are preserved.
func setInYAML(text []byte, value any, path ...string) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if len(document.Content) > 0 {
		root = document.Content[0]
	} else if len(text) > 0 { // comments only, which the parser would lose
		b.Write(append(bytes.TrimRight(text, "\n"), '\n'))
	}
	if err := putInYAML(root, value, path); err != nil {
		return nil, err
	}
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := errors.Join(e.Encode(root), e.Close())
	return b.Bytes(), err
}

// putInYAML sets the value at a path of keys below a map, or removes the key.
func putInYAML(n *yaml.Node, value any, path []string) error {
	if n.Tag == "!!null" {
		*n = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", LineComment: n.LineComment}
	}
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: no map for %s", n.Line, path[0])
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
		n.Style = 0 // "{}" becomes a block
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: path[0]}, &yaml.Node{
			Kind: yaml.MappingNode, Tag: "!!map",
		})
	case len(path) == 1 && value == nil:
		n.Content = append(n.Content[:at:at], n.Content[at+2:]...)
		return nil
	}
	if len(path) > 1 {
		return putInYAML(n.Content[at+1], value, path[1:])
	}
	old := *n.Content[at+1]
	fresh := n.Content[at+1]
	if err := fresh.Encode(value); err != nil {
		return err
	}
	fresh.HeadComment, fresh.LineComment, fresh.FootComment = old.HeadComment, old.LineComment, old.FootComment
	return nil
}
