package external

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// limits returns settings, one for each rule. Their values are those of the tags in the spec, and of the observed map.
func limits() []Setting[*v1alpha1.S3Bucket, map[string]string] {
	all := []Setting[*v1alpha1.S3Bucket, map[string]string]{
		{Path: "plain"},
		{Path: "slow", Settles: time.Hour},
		{Path: "pair", Together: "pairs"},
		{Path: "guard", Guard: "on"},
		{Path: "pair2", Together: "pairs"},
		{Path: "case", Normal: strings.ToLower},
		{Path: "refused", Refuse: func(value string) error {
			if value == "bad" {
				return errors.New("no")
			}
			return nil
		}},
	}
	for n := range all {
		path := all[n].Path
		all[n].Want = func(b *v1alpha1.S3Bucket) (string, bool) { v, ok := b.Spec.Tags[path]; return string(v), ok }
		all[n].Have = func(seen *map[string]string) string { return (*seen)[path] }
	}
	return all
}

// Every kind's settings are changed as their descriptions say, by one call where that is possible.
func TestChangesAreMadeAsTheirSettingsAreDescribed(t *testing.T) {
	for name, row := range map[string]struct {
		want    string   // path=value
		actions []string // the paths of each, what they settle in, and the refusal
		parts   []string // of the last one
	}{
		"nothing":                             {"", nil, nil},
		"one call":                            {"plain=a case=b", []string{"plain case 0s"}, []string{"plain 0s", "case 0s"}},
		"the same in another form":            {"case=ON", nil, nil},
		"what guards comes first":             {"plain=a guard=on", []string{"guard plain 0s"}, []string{"guard 0s", "plain 0s"}},
		"only one value of it guards":         {"plain=a guard=off", []string{"plain guard 0s"}, []string{"plain 0s", "guard 0s"}},
		"what is validated together":          {"pair=a plain=b pair2=c", []string{"plain pair pair2 0s"}, []string{"plain 0s", "pair pair2 0s"}},
		"what shows late has a call":          {"slow=a plain=b", []string{"plain 0s", "slow 1h0m0s"}, nil},
		"what is not written has a call":      {"plain=a refused=bad", []string{"refused 0s no", "plain 0s"}, nil},
		"another value of it is one of many":  {"plain=a refused=good", []string{"plain refused 0s"}, []string{"plain 0s", "refused 0s"}},
		"of all these, the refused one first": {"slow=a plain=b refused=bad", []string{"refused 0s no", "plain 0s", "slow 1h0m0s"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b, seen := &v1alpha1.S3Bucket{}, map[string]string{"case": "on"}
			b.Spec.Tags = v1alpha1.Tags{}
			for pair := range strings.FieldsSeq(row.want) {
				path, value, _ := strings.Cut(pair, "=")
				b.Spec.Tags[path] = v1alpha1.TagValue(value)
			}
			actions := PlanCall(Changes(limits(), b, &seen), func(some []Change) Action {
				return Action{Name: "Put", Changes: some, Do: func(context.Context) error { return nil }}
			})
			if got := texts(actions); !slices.Equal(got, row.actions) {
				t.Fatalf("actions %q, want %q", got, row.actions)
			}
			var parts []string
			if last := len(actions) - 1; last >= 0 && actions[last].Parts != nil {
				parts = texts(actions[last].Parts())
			}
			if !slices.Equal(parts, row.parts) {
				t.Errorf("parts %q, want %q", parts, row.parts)
			}
		})
	}
}

func texts(actions []Action) []string {
	var all []string
	for _, a := range actions {
		var words []string
		for _, c := range a.Changes {
			words = append(words, c.Path)
		}
		words = append(words, a.Settles.String())
		if a.Refusal != nil {
			words = append(words, a.Refusal.Error())
		}
		all = append(all, strings.Join(words, " "))
	}
	return all
}
