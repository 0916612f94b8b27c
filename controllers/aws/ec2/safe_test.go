package ec2

import (
	"slices"
	"testing"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Session tokens are required again after somebody made them optional, unless the instance was adopted, its service is
// off, or the spec says optional.
func TestSessionTokensAreKeptRequired(t *testing.T) {
	for name, row := range map[string]struct {
		adopted  bool
		declared string
		endpoint ec2types.InstanceMetadataEndpointState
		writes   []string
	}{
		"not declared":       {writes: []string{"ModifyInstanceMetadataOptions"}},
		"adopted":            {adopted: true},
		"declared optional":  {declared: "optional"},
		"declared required":  {adopted: true, declared: "required", writes: []string{"ModifyInstanceMetadataOptions"}},
		"the service is off": {endpoint: ec2types.InstanceMetadataEndpointStateDisabled},
	} {
		f := &fakeEC2{}
		a, obj := settled(t, f, func(s *v1alpha1.EC2InstanceSpec) {
			s.MetadataOptions = &v1alpha1.EC2MetadataOptions{HTTPTokens: row.declared}
		})
		if !row.adopted {
			obj.Status.SafeFields = a.SafePaths(obj, nil)
		}
		f.last().option("optional", row.endpoint, nil)
		if err := settle(t, f, a, obj); err != nil || !slices.Equal(writesOf(f), row.writes) {
			t.Errorf("%s: %v, calls %v", name, err, f.calls)
		}
	}
}

func TestWhatIsSafeOfAMachine(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f)
	if got := a.SafePaths(obj, observe(t, a, obj)); !slices.Equal(got, []string{tokensPath}) {
		t.Errorf("after the launch: %v", got)
	}
	f.last().option("optional", "", nil)
	if got := a.SafePaths(obj, observe(t, a, obj)); len(got) != 0 {
		t.Errorf("without tokens: %v", got)
	}
}
