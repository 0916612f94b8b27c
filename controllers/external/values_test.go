package external

import "testing"

func TestValuesAsText(t *testing.T) {
	for name, ok := range map[string]bool{
		"larger is not less":            NotLess("20", "8") && NotLess("8", "8") && !NotLess("8", "20"),
		"nothing is less":               !NotLess("", "8") && NotLess("", ""),
		"a set has an order of its own": JoinSet([]string{"b", "a", "b"}) == JoinSet(SplitSet("a, b")),
		"an empty set":                  SplitSet(JoinSet(nil)) == nil,
		"the first number there is":     FormatInt(nil, new(int32(3)), new(int32(4))) == "3" && FormatInt(nil) == "",
		"a number or none":              *ParseInt("12") == 12 && ParseInt("x") == nil && ParseInt("") == nil,
		"empty is left out":             NonEmpty("") == nil && *NonEmpty("a") == "a",
	} {
		if !ok {
			t.Error(name)
		}
	}
	for name, want := range map[string]func(int) (string, bool){
		"text":   Text(func(int) string { return "" }),
		"number": Number(func(int) *int32 { return nil }),
		"bool":   Bool(func(int) *bool { return nil }),
		"set":    Set(func(int) []string { return nil }),
	} {
		if _, declared := want(0); declared {
			t.Errorf("a %s that is not there counts as declared", name)
		}
	}
}
