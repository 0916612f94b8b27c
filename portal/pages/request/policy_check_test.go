package request

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAPolicyIsJudgedBeforeItIsSent(t *testing.T) {
	for policy, want := range map[string]string{
		"":                      "",
		`{"Statement":[]}`:      "",
		`{"Statement":`:         "no policy in JSON",
		`{"Statement":"Allow"}`: "no policy in JSON",
		`[]`:                    "no policy in JSON",
		`{"Statement":{"Sid":"PorticoTopics","Effect":"Allow","Principal":"*"}}`: "choose other Sids",
	} {
		obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"policy": policy}}}
		var got string
		for _, e := range wrongPolicy(obj) {
			got = e.Field + ": " + e.Message
		}
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", policy, got, want)
		}
	}
}
