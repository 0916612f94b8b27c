package ec2

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

const (
	volumePrefix = "blockDeviceMappings["
	keepPath     = "deleteOnTermination"
)

// volumePath returns the path of a volume's setting: blockDeviceMappings[/dev/sdf].volumeSize.
func volumePath(device, name string) string { return volumePrefix + device + "]." + name }

// devices returns the devices whose volumes are declared or still managed.
func devices(obj *v1alpha1.EC2Instance) []string {
	var all []string
	for _, m := range obj.Spec.BlockDeviceMappings {
		all = append(all, m.DeviceName)
	}
	for _, path := range external.ManagedBy(obj).Paths() {
		if rest, ok := strings.CutPrefix(path, volumePrefix); ok {
			device, _, _ := strings.Cut(rest, "]")
			all = append(all, device)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Defaults of gp3, to which its volumes return. Other types have no defaults.
const (
	gp3IOPS       = "3000"
	gp3Throughput = "125"
)

// volumeSettings returns the settings of one volume. AWS's default for its type or size depends on the image.
func volumeSettings(device string) []setting {
	one := func(name string, want func(*v1alpha1.EC2BlockDevice) string, have func(*volumeState) string) setting {
		return setting{
			Path: volumePath(device, name), Sticky: true,
			Want: func(o object) (string, bool) {
				at := slices.IndexFunc(o.Spec.BlockDeviceMappings, func(m v1alpha1.EC2BlockDevice) bool {
					return m.DeviceName == device
				})
				if at < 0 {
					return "", false
				}
				value := want(&o.Spec.BlockDeviceMappings[at])
				return value, value != ""
			},
			Have: func(seen *instanceState) string {
				v := seen.volumes[device]
				return have(&v)
			},
		}
	}
	size := one("volumeSize", func(m *v1alpha1.EC2BlockDevice) string { return external.FormatInt(m.VolumeSize) },
		func(v *volumeState) string { return external.FormatInt(v.Size) })
	size.Same = external.NotLess
	iops := one("iops", func(m *v1alpha1.EC2BlockDevice) string { return external.FormatInt(m.IOPS) },
		func(v *volumeState) string { return external.FormatInt(v.Iops) })
	throughput := one("throughput", func(m *v1alpha1.EC2BlockDevice) string { return external.FormatInt(m.Throughput) },
		func(v *volumeState) string { return external.FormatInt(v.Throughput) })
	keep := one(keepPath, func(m *v1alpha1.EC2BlockDevice) string { return formatBool(m.DeleteOnTermination) },
		func(v *volumeState) string { return strconv.FormatBool(v.deleteOnTermination) })
	keep.Guard = "false"
	iops.Sticky, iops.Default = false, gp3IOPS
	throughput.Sticky, throughput.Default = false, gp3Throughput
	return []setting{
		size,
		one("volumeType", func(m *v1alpha1.EC2BlockDevice) string { return m.VolumeType }, func(v *volumeState) string {
			return string(v.VolumeType)
		}),
		iops, throughput,
		keep,
	}
}

func formatBool(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

// mappings returns the volumes of a launch. They are encrypted and gp3 unless the spec says otherwise.
func mappings(s *v1alpha1.EC2InstanceSpec) []ec2types.BlockDeviceMapping {
	all := make([]ec2types.BlockDeviceMapping, 0, len(s.BlockDeviceMappings))
	for _, m := range s.BlockDeviceMappings {
		ebs := &ec2types.EbsBlockDevice{
			VolumeSize: m.VolumeSize, VolumeType: ec2types.VolumeTypeGp3, Iops: m.IOPS, Throughput: m.Throughput,
			Encrypted: aws.Bool(true), KmsKeyId: external.NonEmpty(m.KMSKeyID),
			DeleteOnTermination: m.DeleteOnTermination, SnapshotId: external.NonEmpty(m.SnapshotID),
		}
		if m.VolumeType != "" {
			ebs.VolumeType = ec2types.VolumeType(m.VolumeType)
		}
		if m.Encrypted != nil {
			ebs.Encrypted = m.Encrypted
		}
		all = append(all, ec2types.BlockDeviceMapping{DeviceName: aws.String(m.DeviceName), Ebs: ebs})
	}
	return all
}
