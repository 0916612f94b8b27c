package ec2

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

type opt = func(*ec2.Options)

// api lists the calls that Portico makes to EC2; docs/iam/ec2instance.json lists the same ones.
type api interface {
	instanceAPI
	attributeAPI
	profileAPI
	volumeAPI
	tagAPI
	typeAPI
	sourceAPI
}

type instanceAPI interface {
	DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...opt) (*ec2.DescribeInstancesOutput, error)
	RunInstances(context.Context, *ec2.RunInstancesInput, ...opt) (*ec2.RunInstancesOutput, error)
	StartInstances(context.Context, *ec2.StartInstancesInput, ...opt) (*ec2.StartInstancesOutput, error)
	StopInstances(context.Context, *ec2.StopInstancesInput, ...opt) (*ec2.StopInstancesOutput, error)
	TerminateInstances(context.Context, *ec2.TerminateInstancesInput, ...opt) (*ec2.TerminateInstancesOutput, error)
}

type attributeAPI interface {
	DescribeInstanceAttribute(context.Context, *ec2.DescribeInstanceAttributeInput, ...opt) (
		*ec2.DescribeInstanceAttributeOutput, error)
	ModifyInstanceAttribute(context.Context, *ec2.ModifyInstanceAttributeInput, ...opt) (
		*ec2.ModifyInstanceAttributeOutput, error)
	ModifyInstanceMetadataOptions(context.Context, *ec2.ModifyInstanceMetadataOptionsInput, ...opt) (
		*ec2.ModifyInstanceMetadataOptionsOutput, error)
	DescribeInstanceCreditSpecifications(context.Context, *ec2.DescribeInstanceCreditSpecificationsInput, ...opt) (
		*ec2.DescribeInstanceCreditSpecificationsOutput, error)
	ModifyInstanceCreditSpecification(context.Context, *ec2.ModifyInstanceCreditSpecificationInput, ...opt) (
		*ec2.ModifyInstanceCreditSpecificationOutput, error)
	MonitorInstances(context.Context, *ec2.MonitorInstancesInput, ...opt) (*ec2.MonitorInstancesOutput, error)
	UnmonitorInstances(context.Context, *ec2.UnmonitorInstancesInput, ...opt) (*ec2.UnmonitorInstancesOutput, error)
}

type profileAPI interface {
	DescribeIamInstanceProfileAssociations(context.Context, *ec2.DescribeIamInstanceProfileAssociationsInput, ...opt) (
		*ec2.DescribeIamInstanceProfileAssociationsOutput, error)
	AssociateIamInstanceProfile(context.Context, *ec2.AssociateIamInstanceProfileInput, ...opt) (
		*ec2.AssociateIamInstanceProfileOutput, error)
	ReplaceIamInstanceProfileAssociation(context.Context, *ec2.ReplaceIamInstanceProfileAssociationInput, ...opt) (
		*ec2.ReplaceIamInstanceProfileAssociationOutput, error)
	DisassociateIamInstanceProfile(context.Context, *ec2.DisassociateIamInstanceProfileInput, ...opt) (
		*ec2.DisassociateIamInstanceProfileOutput, error)
}

type volumeAPI interface {
	DescribeVolumes(context.Context, *ec2.DescribeVolumesInput, ...opt) (*ec2.DescribeVolumesOutput, error)
	DescribeVolumesModifications(context.Context, *ec2.DescribeVolumesModificationsInput, ...opt) (
		*ec2.DescribeVolumesModificationsOutput, error)
	ModifyVolume(context.Context, *ec2.ModifyVolumeInput, ...opt) (*ec2.ModifyVolumeOutput, error)
}

type tagAPI interface {
	CreateTags(context.Context, *ec2.CreateTagsInput, ...opt) (*ec2.CreateTagsOutput, error)
	DeleteTags(context.Context, *ec2.DeleteTagsInput, ...opt) (*ec2.DeleteTagsOutput, error)
}

type typeAPI interface {
	DescribeInstanceTypes(context.Context, *ec2.DescribeInstanceTypesInput, ...opt) (
		*ec2.DescribeInstanceTypesOutput, error)
	DescribeInstanceTypeOfferings(context.Context, *ec2.DescribeInstanceTypeOfferingsInput, ...opt) (
		*ec2.DescribeInstanceTypeOfferingsOutput, error)
}

type sourceAPI interface {
	DescribeImages(context.Context, *ec2.DescribeImagesInput, ...opt) (*ec2.DescribeImagesOutput, error)
	DescribeSnapshots(context.Context, *ec2.DescribeSnapshotsInput, ...opt) (*ec2.DescribeSnapshotsOutput, error)
}

// parameters lists the calls that Portico makes to SSM, for parameters that name images.
type parameters interface {
	GetParameter(context.Context, *ssm.GetParameterInput, ...func(*ssm.Options)) (*ssm.GetParameterOutput, error)
}

var (
	_ api        = (*ec2.Client)(nil)
	_ parameters = (*ssm.Client)(nil)
)
