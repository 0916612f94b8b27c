package catalog

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestListsWithKeysAreMergedByElement: + marks a conflict, for which mine is chosen.
func TestListsWithKeysAreMergedByElement(t *testing.T) {
	for _, c := range []struct {
		name, kind, base, theirs, mine string
		differ                         []string
		want                           string
	}{
		{
			"each adds a variable", "WebApp", `env: [{name: A, value: a}]`,
			`env: [{name: A, value: a}, {name: T, value: t}]`, `env: [{name: A, value: a}, {name: M, value: m}]`,
			[]string{"/spec/env/[M]", "/spec/env/[T]"},
			`env: [{name: A, value: a}, {name: M, value: m}, {name: T, value: t}]`,
		},
		{
			"both change one, otherwise", "WebApp", `env: [{name: A, value: a}, {name: B, value: b}]`,
			`env: [{name: A, value: t}, {name: B, value: b}]`, `env: [{name: A, value: m}, {name: B, value: mine}]`,
			[]string{"+/spec/env/[A]/value", "/spec/env/[B]/value"},
			`env: [{name: A, value: m}, {name: B, value: mine}]`,
		},
		{
			"they remove what I leave", "WebApp", `env: [{name: A, value: a}, {name: B, value: b}]`,
			`env: [{name: B, value: b}]`, `env: [{name: A, value: a}, {name: B, value: mine}]`,
			[]string{"/spec/env/[A]", "/spec/env/[B]/value"},
			`env: [{name: B, value: mine}]`,
		},
		{
			"they remove what I change: the whole element is at stake", "WebApp", `env: [{name: A, value: a}]`, `{}`,
			`env: [{name: A, value: m}]`,
			[]string{"+/spec/env/[A]"},
			`env: [{name: A, value: m}]`,
		},
		{
			"they remove the last one", "WebApp", `{port: 1, env: [{name: A, value: a}]}`, `{port: 1}`,
			`{port: 2, env: [{name: A, value: a}]}`,
			[]string{"/spec/env/[A]", "/spec/port"},
			`{port: 2}`,
		},
		{
			"they empty the list", "WebApp", `env: [{name: A, value: a}]`, `env: []`, `env: [{name: A, value: a}]`,
			[]string{"/spec/env/[A]"},
			`env: []`,
		},
		{
			"a change deep in an element", "WebApp", `env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]`,
			`env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: theirs}}}]`,
			`env: [{name: A, valueFrom: {secretKeyRef: {name: mine, key: k}}}]`,
			[]string{"/spec/env/[A]/valueFrom/secretKeyRef/key", "/spec/env/[A]/valueFrom/secretKeyRef/name"},
			`env: [{name: A, valueFrom: {secretKeyRef: {name: mine, key: theirs}}}]`,
		},
		{
			"keys of two fields", "WebApp", `bindings: [{kind: SQSQueue, name: a}, {kind: S3Bucket, name: a}]`,
			`bindings: [{kind: SQSQueue, name: a, prefix: T_}, {kind: S3Bucket, name: a}]`,
			`bindings: [{kind: SQSQueue, name: a}, {kind: S3Bucket, name: a, prefix: M_}]`,
			[]string{"/spec/bindings/[S3Bucket~1a]/prefix", "/spec/bindings/[SQSQueue~1a]/prefix"},
			`bindings: [{kind: SQSQueue, name: a, prefix: T_}, {kind: S3Bucket, name: a, prefix: M_}]`,
		},
		{
			"their order, if I left mine", "WebApp", `env: [{name: A}, {name: B}]`, `env: [{name: B}, {name: A}]`,
			`env: [{name: A}, {name: M}, {name: B}]`,
			[]string{"/spec/env/[M]"},
			`env: [{name: B}, {name: A}, {name: M}]`,
		},
		{
			"my order, if I changed it", "WebApp", `env: [{name: A}, {name: B}]`,
			`env: [{name: A}, {name: T}, {name: B}]`, `env: [{name: B}, {name: A}]`,
			[]string{"/spec/env/[T]"},
			`env: [{name: B}, {name: A}, {name: T}]`,
		},
		{
			"a key that is there twice: one value", "WebApp", `env: [{name: A, value: a}]`,
			`env: [{name: A, value: t}, {name: A, value: u}]`, `env: [{name: A, value: m}]`,
			[]string{"+/spec/env"},
			`env: [{name: A, value: m}]`,
		},
		{
			"an element without its key: one value", "WebApp", `env: [{value: a}]`, `env: [{value: t}]`,
			`env: [{value: a}]`,
			[]string{"/spec/env"},
			`env: [{value: t}]`,
		},
		{
			"a set", "RDSInstance", `vpcSecurityGroupIDs: [sg-1, sg-2]`, `vpcSecurityGroupIDs: [sg-2, sg-3]`,
			`vpcSecurityGroupIDs: [sg-1, sg-2, sg-4]`,
			[]string{
				"/spec/vpcSecurityGroupIDs/[sg-1]", "/spec/vpcSecurityGroupIDs/[sg-3]",
				"/spec/vpcSecurityGroupIDs/[sg-4]",
			},
			`vpcSecurityGroupIDs: [sg-2, sg-4, sg-3]`,
		},
		{
			"a set in a group", "SQSQueue", `redriveAllowPolicy: {redrivePermission: byQueue, sourceQueueArns: [a]}`,
			`redriveAllowPolicy: {redrivePermission: byQueue, sourceQueueArns: [a, t]}`,
			`redriveAllowPolicy: {redrivePermission: byQueue, sourceQueueArns: [m]}`,
			[]string{
				"/spec/redriveAllowPolicy/sourceQueueArns/[a]", "/spec/redriveAllowPolicy/sourceQueueArns/[m]",
				"/spec/redriveAllowPolicy/sourceQueueArns/[t]",
			},
			`redriveAllowPolicy: {redrivePermission: byQueue, sourceQueueArns: [m, t]}`,
		},
		{
			"null, which is absent", "WebApp", `env: [{name: A}], resources: {limits: {cpu: "1"}}`,
			`env: [{name: A}, {name: T}], resources: {limits: {cpu: "2"}}`, `env: null, resources: null`,
			[]string{"/spec/env/[A]", "/spec/env/[T]", "+/spec/resources/limits/cpu"},
			`env: [{name: T}]`,
		},
		{
			"a list that only has an order: one value", "WebApp", `args: [a]`, `args: [a, t]`, `args: [a, m]`,
			[]string{"+/spec/args"},
			`args: [a, m]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := kindNamed(t, c.kind)
			base, theirs, mine := version(t, "spec: {"+unbraced(c.base)+"}"),
				version(t, "spec: {"+unbraced(c.theirs)+"}"), version(t, "spec: {"+unbraced(c.mine)+"}")
			var differ []string
			for _, d := range k.Differences(base, theirs, mine) {
				mark := ""
				if d.Overlaps() {
					mark = "+"
				}
				differ = append(differ, mark+d.Pointer())
			}
			if !reflect.DeepEqual(differ, c.differ) {
				t.Errorf("they differ at %v, want %v", differ, c.differ)
			}
			got, err := k.Merge(base, theirs, mine, func(d Difference) any { return d.Mine })
			if err != nil {
				t.Fatal(err)
			}
			if want := version(t, "spec: {"+unbraced(c.want)+"}").Object; fmt.Sprint(got.Object["spec"]) != fmt.Sprint(
				want["spec"]) {
				t.Errorf("merged to %v, want %v", got.Object["spec"], want["spec"])
			}
		})
	}
}

// unbraced returns the inside of a YAML flow map.
func unbraced(text string) string {
	if text[0] == '{' {
		return text[1 : len(text)-1]
	}
	return text
}

// TestMergingWithWhatNobodyChanged returns mine if theirs is unchanged, and vice versa: for every kind and any objects.
func TestMergingWithWhatNobodyChanged(t *testing.T) {
	never := func(Difference) any { panic("nobody has to choose") }
	for _, k := range load(t) {
		t.Run(k.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				base, other := storedOf(t, k), storedOf(t, k)
				mine, err := k.Merge(base, base, other, never)
				if err != nil || !reflect.DeepEqual(mine.Object["spec"], other.Object["spec"]) {
					t.Fatalf("%v\ngot  %v\nmine %v", err, mine, other)
				}
				theirs, err := k.Merge(base, other, base, never)
				if err != nil || !reflect.DeepEqual(theirs.Object["spec"], other.Object["spec"]) {
					t.Fatalf("%v\ngot    %v\ntheirs %v\nbase   %v", err, theirs, other, base)
				}
			})
		})
	}
}
