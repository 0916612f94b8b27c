//go:build integration

package integration

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestRequesterCannotBeForgedByAnyDoor tries every way to write an object except create and update, which
// TestRequesterIsRecordedAndCannotBeForged tries. A request with a forged value can be refused, or the value ignored.
func TestRequesterCannotBeForgedByAnyDoor(t *testing.T) {
	const key = "portico.dev/requested-by"
	c, platform := asDeveloper(t), admin(t)
	b := newBucket("payments", unique("doors"))
	remove(t, "payments", b.Name)
	await(t, "the policy to be in force", func() (bool, string) {
		probe := b.DeepCopy()
		err := c.Create(t.Context(), probe, client.DryRunAll)
		return err == nil && probe.Annotations[key] == "oidc:payments-dev", probe.Annotations[key]
	})
	if err := c.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	merge := []byte(`{"metadata":{"annotations":{"` + key + `":"somebody-else"}},"status":{"bucketName":"forged"}}`)
	ops := []byte(`[{"op":"add","path":"/metadata/annotations/portico.dev~1requested-by","value":"somebody-else"}]`)
	apply := []byte(`{"apiVersion":"portico.dev/v1alpha1","kind":"S3Bucket","metadata":{"name":"` + b.Name +
		`","annotations":{"` + key + `":"somebody-else"}}}`)
	force := []client.SubResourcePatchOption{client.ForceOwnership, client.FieldOwner("forger")}
	for _, who := range []struct {
		name string
		as   client.Client
	}{{"the requester", c}, {"the platform", platform}} {
		for reason, do := range map[string]func(client.Client) error{
			"merge patch": func(c client.Client) error {
				return c.Patch(t.Context(), b.DeepCopy(), client.RawPatch(types.MergePatchType, merge))
			},
			"JSON patch": func(c client.Client) error {
				return c.Patch(t.Context(), b.DeepCopy(), client.RawPatch(types.JSONPatchType, ops))
			},
			"apply": func(c client.Client) error {
				return c.Patch(t.Context(), b.DeepCopy(), client.RawPatch(types.ApplyPatchType, apply),
					client.ForceOwnership, client.FieldOwner("forger"))
			},
			"status update": func(c client.Client) error {
				forged := b.DeepCopy()
				if err := platform.Get(t.Context(), keyOf(forged), forged); err != nil {
					return err
				}
				forged.Annotations[key] = "somebody-else"
				return c.Status().Update(t.Context(), forged)
			},
			"status merge patch": func(c client.Client) error {
				return c.Status().Patch(t.Context(), b.DeepCopy(), client.RawPatch(types.MergePatchType, merge))
			},
			"status JSON patch": func(c client.Client) error {
				return c.Status().Patch(t.Context(), b.DeepCopy(), client.RawPatch(types.JSONPatchType, ops))
			},
			"status apply": func(c client.Client) error {
				return c.Status().Patch(t.Context(), b.DeepCopy(), client.RawPatch(types.ApplyPatchType, apply),
					force...)
			},
		} {
			t.Run(who.name+" by "+reason, func(t *testing.T) {
				if err := do(who.as); err != nil && who.as == platform {
					t.Errorf("the platform may write all, and was refused: %v", err)
				}
				live := newBucket("payments", b.Name)
				if err := platform.Get(t.Context(), keyOf(live), live); err != nil {
					t.Fatal(err)
				}
				if got := live.Annotations[key]; got != "oidc:payments-dev" {
					t.Errorf("requested by %q", got)
				}
			})
		}
	}
}
