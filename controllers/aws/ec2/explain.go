package ec2

import (
	"errors"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// operationNotPermitted is EC2's error code for protection against termination, and against being stopped.
const operationNotPermitted = "OperationNotPermitted"

// explain explains errors that only EC2 has, and all others as cloud.Explain does.
func explain(err error) error {
	if cloud.HasCode(err, "InsufficientInstanceCapacity") || cloud.HasCode(err, "InsufficientHostCapacity") {
		return engine.Blocked(v1alpha1.ReasonInsufficientCapacity, "AWS has no capacity for this instance type in "+
			"this availability zone now; choose another instanceType, or wait: Portico tries again by itself, at "+
			"least every 5 minutes")
	}
	if wait, ok := engine.AsWait(err); ok {
		return wait
	}
	return cloud.Explain(err)
}

// another says how to make another choice: with an edit until an instance has been launched, then with a new object.
func another(obj *v1alpha1.EC2Instance) string {
	if obj.Status.ARN == "" && obj.Status.InstanceID == "" {
		return "choose another "
	}
	return "delete this object and request a new one with another "
}

// explainLaunch says which part of the spec made a launch fail.
func explainLaunch(obj *v1alpha1.EC2Instance, region string, err error) error {
	s, or := &obj.Spec, another(obj)
	renew := "; nothing was launched. " + strings.ToUpper(or[:1]) + or[1:]
	switch {
	case cloud.IsRegionOff(err):
		return cloud.Explain(err)
	case cloud.HasCode(err, "AuthFailure") && strings.Contains(err.Error(), "Not authorized for images"):
		return engine.Blocked(v1alpha1.ReasonInvalidSpec, "the image %s is not shared with this account%simage that "+
			"is, or have this one shared", imageOf(s), renew)
	case cloud.HasCode(err, "OptInRequired"):
		return engine.Blocked(v1alpha1.ReasonInvalidSpec, "the image %s is a product of AWS Marketplace whose terms "+
			"this account has not accepted; nothing was launched. Ask a platform admin to accept them in AWS "+
			"Marketplace, or %simage", imageOf(s), or)
	}
	for _, known := range []struct{ code, text string }{
		{"InvalidAMIID.", "there is no image " + imageOf(s) + " in " + region + " that this account may use" + renew + "image"},
		{"InvalidKeyPair.", "there is no key pair " + s.KeyName + " in " + region + "; nothing was launched. Have it created there, or " + or + "keyName"},
		{"InvalidSubnetID.", "there is no subnet " + s.SubnetID + " in " + region + renew + "subnetID"},
		{"InvalidGroup", "EC2 does not find one of the security groups " + external.JoinSet(s.SecurityGroupIDs) + " in the network of the subnet; nothing was launched. Correct securityGroupIDs"},
		{"InvalidSecurityGroupID", "EC2 does not find one of the security groups " +
			external.JoinSet(s.SecurityGroupIDs) + " in the network of the subnet; nothing was launched. Correct " +
			"securityGroupIDs"},
		{"InvalidSnapshot", "EC2 does not find a snapshot of blockDeviceMappings in " + region + renew + "snapshotID"},
		{"InvalidUserData", "EC2 does not accept the user data" + renew + "userData"},
		{"InsufficientFreeAddressesInSubnet", "the subnet has no free address; nothing was launched. Free one, or " + or + "subnetID"},
		{"VPCIdNotSpecified", "the region " + region + " has no default network" + renew + "network by its subnetID"},
		{"MissingInput", "the region " + region + " has no default subnet" + renew + "one by its subnetID"},
	} {
		if strings.HasPrefix(cloud.Code(err), known.code) {
			return engine.Blocked(v1alpha1.ReasonInvalidSpec, "%s", known.text)
		}
	}
	if cloud.HasCode(err, "InsufficientInstanceCapacity") {
		return engine.Blocked(v1alpha1.ReasonInsufficientCapacity, "AWS has no capacity for instanceType %s in the "+
			"availability zone now; nothing was launched. Choose another instanceType; or %ssubnetID; or wait: "+
			"Portico tries again by itself, at least every 5 minutes", s.InstanceType, or)
	}
	return explain(err)
}

// isProfile reports whether AWS does not find the instance profile. EC2 names the invalid parameter, IAM returns a
// code.
func isProfile(err error) bool {
	return cloud.HasCode(err, "NoSuchEntity") ||
		(cloud.HasCode(err, "InvalidParameterValue") && strings.Contains(err.Error(), "iamInstanceProfile."))
}

func imageOf(s *v1alpha1.EC2InstanceSpec) string {
	if s.ImageID != "" {
		return s.ImageID
	}
	return "as the parameter " + s.ImageSSMParameter + " names it"
}

// withoutUserData hides an error that quotes user data, which may come from a Secret.
func withoutUserData(err error, encoded string) error {
	if err == nil || encoded == "" || !strings.Contains(err.Error(), encoded) {
		return err
	}
	const text = "EC2 RunInstances failed, and its message repeats the user data, which is not shown"
	if wait, ok := engine.AsWait(err); ok {
		hidden := *wait
		hidden.Err = errors.New(text)
		return &hidden
	}
	return errors.New(text)
}
