package ec2

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Report fills the status and returns the connection details.
func (i *instance) Report(obj *v1alpha1.EC2Instance, seen *instanceState) map[string]string {
	i.Reserve(obj, seen)
	s, vm := &obj.Status, &seen.vm
	s.InstanceState, s.InstanceType, s.ImageID = string(seen.state()), string(vm.InstanceType), aws.ToString(vm.ImageId)
	s.PrivateIP, s.PublicIP = aws.ToString(vm.PrivateIpAddress), aws.ToString(vm.PublicIpAddress)
	s.PrivateDNSName, s.PublicDNSName = aws.ToString(vm.PrivateDnsName), aws.ToString(vm.PublicDnsName)
	s.AvailabilityZone, s.LaunchTime = "", nil
	if vm.Placement != nil {
		s.AvailabilityZone = aws.ToString(vm.Placement.AvailabilityZone)
	}
	if vm.LaunchTime != nil {
		s.LaunchTime = &metav1.Time{Time: vm.LaunchTime.Truncate(time.Second)} // as the API server stores it
	}
	s.Volumes, s.StaysAfterDeletion = volumesOf(seen), staying(seen)
	s.RestartAfterChange = restart(obj, seen)
	return map[string]string{
		"type": "ec2", "provider": "aws", "instance-id": s.InstanceID, "arn": s.ARN, "region": s.Region,
		"availability-zone": s.AvailabilityZone, "host": cmp.Or(s.PrivateDNSName, s.PrivateIP),
		"private-ip": s.PrivateIP, "public-ip": s.PublicIP, "public-host": s.PublicDNSName,
	}
}

func volumesOf(seen *instanceState) []v1alpha1.EC2VolumeStatus {
	ids := seen.volumeIDs()
	var all []v1alpha1.EC2VolumeStatus
	for _, device := range sortedKeys(ids) {
		v := v1alpha1.EC2VolumeStatus{DeviceName: device, VolumeID: ids[device]}
		if read, ok := seen.volumes[device]; ok {
			v.Size = aws.ToInt32(read.Size)
		}
		all = append(all, v)
	}
	return all
}

// staying describes the volumes that EC2 keeps when it terminates the instance.
func staying(seen *instanceState) []string {
	var all []string
	for _, m := range seen.vm.BlockDeviceMappings {
		if m.Ebs == nil || m.Ebs.DeleteOnTermination == nil || *m.Ebs.DeleteOnTermination {
			continue
		}
		device := aws.ToString(m.DeviceName)
		text := "volume " + aws.ToString(m.Ebs.VolumeId) + " at " + device
		if read, ok := seen.volumes[device]; ok {
			text += fmt.Sprintf(" (%d GiB)", aws.ToInt32(read.Size))
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}
