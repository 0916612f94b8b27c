//go:build browser

package browser

import (
	"context"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// choices focuses an input and waits until it offers the value, with a label that contains this text.
func (x *tab) choices(input, value, label string) {
	x.t.Helper()
	x.click(input)
	x.awaitTrue(
		fmt.Sprintf(`[...document.querySelector(%q).list.options].some((o) => o.value === %q && o.label.includes(%q))`,
			input, value, label))
}

// The form offers what the AWS account has and the team can use, and a chosen value is added to a list.
func TestFormsOfferWhatTheAccountHas(t *testing.T) {
	client := ec2.NewFromConfig(world.OutsideAWS())
	group, err := client.CreateSecurityGroup(t.Context(), &ec2.CreateSecurityGroupInput{
		GroupName: aws.String("web-servers"), Description: aws.String("of payments"),
		TagSpecifications: []ec2types.TagSpecification{{
			ResourceType: ec2types.ResourceTypeSecurityGroup, Tags: []ec2types.Tag{
				{Key: aws.String("portico.dev/namespace"), Value: aws.String("payments")},
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := client.DeleteSecurityGroup(context.Background(), &ec2.DeleteSecurityGroupInput{
			GroupId: group.GroupId,
		}); err != nil {
			t.Log(err)
		}
	})
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo("/teams/payments/new/rdsinstances")
	x.choices(`[name="spec.dbInstanceClass"]`, "db.t4g.micro", "")
	x.choices(`[name="spec.engineVersion"]`, "16", "any 16.x, which RDS chooses")
	x.awaitTrue(`document.getElementById("f-spec-engineVersion-list-note").textContent === ""`)

	x.goTo("/teams/payments/new/ec2instances")
	x.choices(`[name="spec.instanceType"]`, "t3.micro", "2 vCPU, 1 GiB")
	x.click(`details.more > summary`)
	find := `[data-adds="f-spec-securityGroupIDs"]`
	x.choices(find, *group.GroupId, "web-servers")
	x.fill(find, *group.GroupId)
	x.awaitValue("spec.securityGroupIDs", *group.GroupId)
	if left := eval[string](x, `document.querySelector('`+find+`').value`); left != "" {
		t.Errorf("%q is still to be found", left)
	}
	x.await(`#preview`, *group.GroupId)
	x.every("form-offers")
}
