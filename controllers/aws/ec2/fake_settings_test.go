package ec2

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func (m *machine) associate(p *ec2types.IamInstanceProfileSpecification) {
	arn := aws.ToString(p.Arn)
	if arn == "" {
		arn = "arn:aws:iam::" + account + ":instance-profile/path/" + aws.ToString(p.Name)
	}
	m.profile = "iip-assoc-" + *m.vm.InstanceId
	m.vm.IamInstanceProfile = &ec2types.IamInstanceProfile{Arn: &arn}
}

func (f *fakeEC2) DescribeInstanceAttribute(_ context.Context, in *ec2.DescribeInstanceAttributeInput, _ ...opt) (
	*ec2.DescribeInstanceAttributeOutput, error,
) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read("DescribeInstanceAttribute"); err != nil {
		return nil, err
	}
	m, err := f.machine(in.InstanceId)
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeInstanceAttributeOutput{DisableApiTermination: &ec2types.AttributeBooleanValue{
		Value: aws.Bool(m.protected),
	}}, nil
}

func (f *fakeEC2) ModifyInstanceAttribute(_ context.Context, in *ec2.ModifyInstanceAttributeInput, _ ...opt) (
	*ec2.ModifyInstanceAttributeOutput, error,
) {
	return &ec2.ModifyInstanceAttributeOutput{}, f.write("ModifyInstanceAttribute", func() error {
		m, err := f.machine(in.InstanceId)
		if err != nil {
			return err
		}
		if (in.InstanceType != nil || in.EbsOptimized != nil) && m.vm.State.Name != ec2types.InstanceStateNameStopped {
			return code("IncorrectInstanceState")
		}
		switch {
		case in.InstanceType != nil:
			m.vm.InstanceType = ec2types.InstanceType(*in.InstanceType.Value)
		case in.EbsOptimized != nil:
			m.vm.EbsOptimized = in.EbsOptimized.Value
		case in.DisableApiTermination != nil:
			m.protected = *in.DisableApiTermination.Value
		case in.Groups != nil:
			m.group(in.Groups)
		case in.BlockDeviceMappings != nil:
			b := in.BlockDeviceMappings[0]
			m.keep(*b.DeviceName, *b.Ebs.DeleteOnTermination)
		}
		return nil
	})
}

func (m *machine) keep(device string, deleted bool) {
	all := slices.Clone(m.vm.BlockDeviceMappings)
	for n := range all {
		if *all[n].DeviceName == device {
			ebs := *all[n].Ebs
			ebs.DeleteOnTermination = &deleted
			all[n].Ebs = &ebs
		}
	}
	m.vm.BlockDeviceMappings = all
}

func (f *fakeEC2) ModifyInstanceMetadataOptions(_ context.Context, in *ec2.ModifyInstanceMetadataOptionsInput,
	_ ...opt,
) (*ec2.ModifyInstanceMetadataOptionsOutput, error) {
	return &ec2.ModifyInstanceMetadataOptionsOutput{}, f.write("ModifyInstanceMetadataOptions", func() error {
		m, err := f.machine(in.InstanceId)
		if err != nil {
			return err
		}
		if in.HttpEndpoint != ec2types.InstanceMetadataEndpointStateEnabled &&
			(in.HttpTokens != "" || in.HttpPutResponseHopLimit != nil) {
			return code("InvalidParameterCombination")
		}
		m.option(in.HttpTokens, in.HttpEndpoint, in.HttpPutResponseHopLimit)
		return nil
	})
}

func (f *fakeEC2) monitor(call, id string, to ec2types.MonitoringState) error {
	return f.write(call, func() error {
		m, err := f.machine(&id)
		if err == nil {
			m.vm.Monitoring = &ec2types.Monitoring{State: to}
		}
		return err
	})
}

func (f *fakeEC2) MonitorInstances(_ context.Context, in *ec2.MonitorInstancesInput, _ ...opt) (
	*ec2.MonitorInstancesOutput, error,
) {
	return nil, f.monitor("MonitorInstances", in.InstanceIds[0], ec2types.MonitoringStatePending)
}

func (f *fakeEC2) UnmonitorInstances(_ context.Context, in *ec2.UnmonitorInstancesInput, _ ...opt) (
	*ec2.UnmonitorInstancesOutput, error,
) {
	return nil, f.monitor("UnmonitorInstances", in.InstanceIds[0], ec2types.MonitoringStateDisabling)
}

func (f *fakeEC2) DescribeIamInstanceProfileAssociations(
	_ context.Context, in *ec2.DescribeIamInstanceProfileAssociationsInput,
	_ ...opt,
) (*ec2.DescribeIamInstanceProfileAssociationsOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read("DescribeIamInstanceProfileAssociations"); err != nil {
		return nil, err
	}
	out := &ec2.DescribeIamInstanceProfileAssociationsOutput{}
	for _, m := range f.machines {
		if m.profile != "" && slices.Contains(in.Filters[0].Values, *m.vm.InstanceId) {
			out.IamInstanceProfileAssociations = append(out.IamInstanceProfileAssociations,
				ec2types.IamInstanceProfileAssociation{AssociationId: aws.String(m.profile)})
		}
	}
	return out, nil
}

func (f *fakeEC2) AssociateIamInstanceProfile(_ context.Context, in *ec2.AssociateIamInstanceProfileInput, _ ...opt) (
	*ec2.AssociateIamInstanceProfileOutput, error,
) {
	return nil, f.write("AssociateIamInstanceProfile", func() error {
		m, err := f.machine(in.InstanceId)
		if err == nil && m.profile != "" {
			err = code("IncorrectState")
		}
		if err == nil {
			m.associate(in.IamInstanceProfile)
		}
		return err
	})
}

func (f *fakeEC2) associated(id *string) (*machine, error) {
	for _, m := range f.machines {
		if m.profile == aws.ToString(id) {
			return m, nil
		}
	}
	return nil, code("InvalidAssociationID.NotFound")
}

func (f *fakeEC2) ReplaceIamInstanceProfileAssociation(
	_ context.Context, in *ec2.ReplaceIamInstanceProfileAssociationInput,
	_ ...opt,
) (*ec2.ReplaceIamInstanceProfileAssociationOutput, error) {
	return nil, f.write("ReplaceIamInstanceProfileAssociation", func() error {
		m, err := f.associated(in.AssociationId)
		if err == nil {
			m.associate(in.IamInstanceProfile)
		}
		return err
	})
}

func (f *fakeEC2) DisassociateIamInstanceProfile(_ context.Context, in *ec2.DisassociateIamInstanceProfileInput,
	_ ...opt,
) (*ec2.DisassociateIamInstanceProfileOutput, error) {
	return nil, f.write("DisassociateIamInstanceProfile", func() error {
		m, err := f.associated(in.AssociationId)
		if err == nil {
			m.profile, m.vm.IamInstanceProfile = "", nil
		}
		return err
	})
}

func (f *fakeEC2) DescribeVolumes(_ context.Context, in *ec2.DescribeVolumesInput, _ ...opt) (
	*ec2.DescribeVolumesOutput, error,
) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read("DescribeVolumes"); err != nil {
		return nil, err
	}
	out := &ec2.DescribeVolumesOutput{}
	for _, m := range f.machines {
		for _, v := range m.volumes {
			byFilter := len(in.VolumeIds) == 0 && !f.hidden && slices.Contains(in.Filters[0].Values, *m.vm.InstanceId)
			if byFilter || slices.Contains(in.VolumeIds, *v.VolumeId) {
				out.Volumes = append(out.Volumes, *v)
			}
		}
	}
	return out, nil
}

func (f *fakeEC2) DescribeVolumesModifications(_ context.Context, in *ec2.DescribeVolumesModificationsInput, _ ...opt) (
	*ec2.DescribeVolumesModificationsOutput, error,
) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read("DescribeVolumesModifications"); err != nil {
		return nil, err
	}
	out := &ec2.DescribeVolumesModificationsOutput{}
	for _, id := range in.Filters[0].Values {
		if m, ok := f.changes[id]; ok {
			out.VolumesModifications = append(out.VolumesModifications, m)
		}
	}
	return out, nil
}

func (f *fakeEC2) ModifyVolume(_ context.Context, in *ec2.ModifyVolumeInput, _ ...opt) (
	*ec2.ModifyVolumeOutput, error,
) {
	return nil, f.write("ModifyVolume", func() error {
		for _, m := range f.machines {
			for _, v := range m.volumes {
				if *v.VolumeId == *in.VolumeId {
					return f.modify(v, in)
				}
			}
		}
		return code("InvalidVolume.NotFound")
	})
}

func (f *fakeEC2) modify(v *ec2types.Volume, in *ec2.ModifyVolumeInput) error {
	if m, ok := f.changes[*v.VolumeId]; ok && m.ModificationState != ec2types.VolumeModificationStateCompleted {
		return code("IncorrectModificationState")
	}
	if in.Size != nil && *in.Size < *v.Size {
		return code("InvalidParameterValue")
	}
	if f.changes == nil {
		f.changes = map[string]ec2types.VolumeModification{}
	}
	m := ec2types.VolumeModification{VolumeId: v.VolumeId, ModificationState: ec2types.VolumeModificationStateCompleted}
	if f.slow {
		m.ModificationState = ec2types.VolumeModificationStateModifying
		f.changes[*v.VolumeId] = m
		return nil
	}
	f.changes[*v.VolumeId] = m
	if in.Size != nil {
		v.Size = in.Size
	}
	if in.VolumeType != "" {
		v.VolumeType, v.Iops, v.Throughput = in.VolumeType, aws.Int32(3000), aws.Int32(125) // its defaults
	}
	if in.Iops != nil {
		v.Iops = in.Iops
	}
	if in.Throughput != nil {
		v.Throughput = in.Throughput
	}
	return nil
}

func (f *fakeEC2) DescribeInstanceTypes(_ context.Context, in *ec2.DescribeInstanceTypesInput, _ ...opt) (
	*ec2.DescribeInstanceTypesOutput, error,
) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read("DescribeInstanceTypes"); err != nil {
		return nil, err
	}
	architecture, ok := f.types[string(in.InstanceTypes[0])]
	if !ok {
		architecture = ec2types.ArchitectureTypeX8664
	}
	return &ec2.DescribeInstanceTypesOutput{InstanceTypes: []ec2types.InstanceTypeInfo{{
		EbsInfo:       &ec2types.EbsInfo{EbsOptimizedSupport: f.optimized},
		ProcessorInfo: &ec2types.ProcessorInfo{SupportedArchitectures: []ec2types.ArchitectureType{architecture}},
	}}}, nil
}

func (f *fakeEC2) DescribeInstanceTypeOfferings(_ context.Context, in *ec2.DescribeInstanceTypeOfferingsInput,
	_ ...opt,
) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read("DescribeInstanceTypeOfferings"); err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstanceTypeOfferingsOutput{}
	if _, ok := f.types[in.Filters[0].Values[0]]; ok {
		out.InstanceTypeOfferings = []ec2types.InstanceTypeOffering{{}}
	}
	return out, nil
}
