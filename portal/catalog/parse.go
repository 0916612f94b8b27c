package catalog

import (
	"cmp"
	"errors"
	"fmt"

	yamltree "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// maxDepth bounds the nesting of lists and maps: our kinds need ten levels, and functions over values are recursive.
const maxDepth = 64

var errDeep = fmt.Errorf("it is nested more than %d levels deep, which no kind needs: flatten it", maxDepth)

// YAMLToJSON converts YAML to JSON. It refuses duplicate keys, aliases and merge keys, and takes memory in proportion
// to the text. The error is a sentence for the user.
func YAMLToJSON(b []byte) ([]byte, error) {
	var tree yamltree.Node
	if err := yamltree.Unmarshal(b, &tree); err != nil { // a node does not expand aliases
		return nil, cmp.Or(misspaced(b), err)
	}
	if err := refuseExpansion(&tree, 0); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSONStrict(b) // kubectl's parser: yes is true here too
}

// parseValue reads YAML as YAMLToJSON does; integers become int64.
func parseValue(b []byte) (any, error) {
	j, err := YAMLToJSON(b)
	if err != nil {
		return nil, err
	}
	var v any
	if err := utiljson.Unmarshal(j, &v); err != nil {
		return nil, err
	}
	return v, nil
}

// refuseExpansion refuses constructs by which a short text becomes a large value: aliases, each of which is a copy, and
// deep nesting.
func refuseExpansion(n *yamltree.Node, depth int) error {
	switch {
	case n.Kind == yamltree.AliasNode:
		return fmt.Errorf("line %d: the alias *%s is not taken here: write out what it stands for", n.Line, n.Value)
	case n.Anchor != "":
		return fmt.Errorf("line %d: the anchor &%s is not taken here: remove it, and put text that begins with & "+
			"in quotes", n.Line, n.Anchor)
	case n.Kind == yamltree.ScalarNode && n.ShortTag() == "!!merge":
		return fmt.Errorf("line %d: the merge key << is not taken here: write out what it brings in", n.Line)
	case n.Kind == yamltree.MappingNode || n.Kind == yamltree.SequenceNode:
		if depth++; depth > maxDepth {
			return errDeep
		}
	}
	for _, c := range n.Content {
		if err := refuseExpansion(c, depth); err != nil {
			return err
		}
	}
	return nil
}

// ParseJSON reads one object of the kind, as ParseYAML does. The error is a sentence for the caller.
func (k Kind) ParseJSON(b []byte) (*unstructured.Unstructured, error) {
	m, err := parseObject(b)
	if err != nil {
		return nil, err
	}
	return k.check(withoutNull(m))
}

// parseObject reads one JSON object without duplicate keys; integers become int64.
func parseObject(b []byte) (map[string]any, error) {
	if deep(b) {
		return nil, fmt.Errorf("the body is too complicated: %w", errDeep)
	}
	var m map[string]any
	strict, err := sigsjson.UnmarshalStrict(b, &m)
	if err != nil || m == nil {
		return nil, errors.New("the body is not a JSON object")
	}
	if len(strict) > 0 {
		return nil, fmt.Errorf("the body is ambiguous: %w", errors.Join(strict...))
	}
	return m, nil
}

// deep reports whether JSON is nested beyond maxDepth, without loading it into memory. For invalid JSON the result is
// arbitrary.
func deep(b []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
