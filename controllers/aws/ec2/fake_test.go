package ec2

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
)

var errLost = errors.New("EOF")

func code(c string) error { return &smithy.GenericAPIError{Code: c, Message: c} }

// machine is one instance in the fake.
type machine struct {
	vm        ec2types.Instance
	tags      map[string]string
	volumes   map[string]*ec2types.Volume // by device
	protected bool
	credits   string
	token     string
	user      string
	profile   string // the association's ID
}

// fakeEC2 behaves as EC2 does: a token launches one instance, and none once that is terminated; a type changes only
// while the machine is stopped; a volume only grows, one change at a time; a protected instance is not terminated; a
// terminated one shows for a while. Unless it is slow, changes complete at once.
type fakeEC2 struct {
	mu       sync.Mutex
	machines []*machine
	byToken  map[string]*ec2.RunInstancesInput
	changes  map[string]ec2types.VolumeModification // by volume

	writes int
	calls  []string
	fail   error            // of every read
	refuse map[string]error // by call, before it is done
	lose   bool             // the reply of every write

	profileMade time.Time // when IAM made the instance profile worker; zero: never

	hidden bool // responses to a filter omit the machines
	young  bool // EC2 reports to every call that no machine exists
	bare   bool // machines do not show their tags
	lacks  []ec2types.InstanceType
	// starting, stopping and terminating take until finish
	slow   bool
	endAs  string                                                    // the reason for which launches fail
	unpaid ec2types.UnsuccessfulInstanceCreditSpecificationErrorCode // why no credit option is changed

	values   int      // in all filters of the last read
	untagged []string // resources of every DeleteTags

	images     map[string]ec2types.Image
	snapshots  map[string]ec2types.Snapshot
	parameters map[string]string
	types      map[string]ec2types.ArchitectureType // offered here
	optimized  ec2types.EbsOptimizedSupport
}

func (f *fakeEC2) read(call string) error {
	f.calls = append(f.calls, call)
	if err := f.refuse[call]; err != nil {
		return err
	}
	return f.fail
}

func (f *fakeEC2) write(call string, do func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
	if err := f.refuse[call]; err != nil {
		return err
	}
	f.writes++
	if err := do(); err != nil {
		return err
	}
	if f.lose {
		return errLost
	}
	return nil
}

func (f *fakeEC2) machine(id *string) (*machine, error) {
	for _, m := range f.machines {
		if *m.vm.InstanceId == aws.ToString(id) && !f.young {
			return m, nil
		}
	}
	return nil, code("InvalidInstanceID.NotFound")
}

// last returns the youngest machine.
func (f *fakeEC2) last() *machine { return f.machines[len(f.machines)-1] }

func (m *machine) to(now ec2types.InstanceStateName) {
	m.vm.State = &ec2types.InstanceState{Name: now}
}

var after = map[ec2types.InstanceStateName]ec2types.InstanceStateName{
	ec2types.InstanceStateNamePending:      ec2types.InstanceStateNameRunning,
	ec2types.InstanceStateNameStopping:     ec2types.InstanceStateNameStopped,
	ec2types.InstanceStateNameShuttingDown: ec2types.InstanceStateNameTerminated,
}

// finish completes the changes that take time.
func (f *fakeEC2) finish() {
	for _, m := range f.machines {
		if next, ok := after[m.vm.State.Name]; ok {
			m.to(next)
		}
	}
}

func (f *fakeEC2) move(m *machine, by, to ec2types.InstanceStateName) {
	m.to(to)
	if f.slow {
		m.to(by)
	}
}

func (m *machine) passes(filters []ec2types.Filter, bare bool) bool {
	for _, fl := range filters {
		var have string
		switch name := *fl.Name; {
		case name == "instance-id":
			have = *m.vm.InstanceId
		case name == "client-token":
			have = m.token
		case name == "instance-state-name":
			have = string(m.vm.State.Name)
		case strings.HasPrefix(name, "tag:"):
			if have = m.tags[strings.TrimPrefix(name, "tag:")]; bare {
				return false
			}
		default:
			panic(name)
		}
		if !slices.Contains(fl.Values, have) {
			return false
		}
	}
	return true
}

// shown returns a copy that later changes do not affect.
func (m *machine) shown(bare bool) ec2types.Instance {
	vm := m.vm
	if vm.Tags = tagList(m.tags); bare {
		vm.Tags = nil
	}
	vm.BlockDeviceMappings = slices.Clone(vm.BlockDeviceMappings)
	return vm
}

func (f *fakeEC2) DescribeInstances(_ context.Context, in *ec2.DescribeInstancesInput, _ ...opt) (
	*ec2.DescribeInstancesOutput, error,
) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read("DescribeInstances"); err != nil {
		return nil, err
	}
	f.values = 0
	for _, fl := range in.Filters {
		f.values += len(fl.Values)
	}
	out := &ec2.DescribeInstancesOutput{}
	for _, id := range in.InstanceIds {
		m, err := f.machine(&id)
		if err != nil {
			return nil, err
		}
		out.Reservations = append(out.Reservations, ec2types.Reservation{
			Instances: []ec2types.Instance{m.shown(f.bare)},
		})
	}
	for _, m := range f.machines {
		if listed := len(in.InstanceIds) == 0 && !f.hidden && !f.young; listed && m.passes(in.Filters, f.bare) {
			out.Reservations = append(out.Reservations, ec2types.Reservation{
				Instances: []ec2types.Instance{m.shown(f.bare)},
			})
		}
	}
	return out, nil
}

// root is the device of the fake's only image.
const root = "/dev/xvda"

func (f *fakeEC2) make(in *ec2.RunInstancesInput) *machine {
	n := len(f.machines) + 1
	m := &machine{
		token: *in.ClientToken, user: aws.ToString(in.UserData), protected: aws.ToBool(in.DisableApiTermination),
		tags: map[string]string{}, volumes: map[string]*ec2types.Volume{},
		vm: ec2types.Instance{
			InstanceId: aws.String(fmt.Sprintf("i-%017x", n)), InstanceType: in.InstanceType, ImageId: in.ImageId,
			KeyName:  in.KeyName,
			SubnetId: in.SubnetId, EbsOptimized: in.EbsOptimized, Architecture: ec2types.ArchitectureValuesX8664,
			PrivateIpAddress: aws.String(fmt.Sprintf("10.0.0.%d", n)),
			PrivateDnsName:   aws.String("ip-10-0-0-1.internal"),
			Placement:        &ec2types.Placement{AvailabilityZone: aws.String(region + "a")},
			LaunchTime:       aws.Time(time.Unix(1_700_000_000, 5000)),
			Monitoring:       &ec2types.Monitoring{State: ec2types.MonitoringStateDisabled},
			MetadataOptions: &ec2types.InstanceMetadataOptionsResponse{
				HttpTokens:   ec2types.HttpTokensStateOptional,
				HttpEndpoint: ec2types.InstanceMetadataEndpointStateEnabled, HttpPutResponseHopLimit: aws.Int32(1),
			},
		},
	}
	for _, t := range in.TagSpecifications[0].Tags {
		m.tags[*t.Key] = *t.Value
	}
	f.move(m, ec2types.InstanceStateNamePending, ec2types.InstanceStateNameRunning)
	if f.endAs != "" {
		m.to(ec2types.InstanceStateNameTerminated)
		m.vm.StateReason = &ec2types.StateReason{Code: aws.String(strings.Split(f.endAs, ":")[0]), Message: aws.String(
			f.endAs)}
	}
	if p := in.IamInstanceProfile; p != nil {
		m.associate(p)
	}
	if in.Monitoring != nil && *in.Monitoring.Enabled {
		m.vm.Monitoring.State = ec2types.MonitoringStateEnabled
	}
	m.group(in.SecurityGroupIds)
	o := in.MetadataOptions
	m.option(o.HttpTokens, o.HttpEndpoint, o.HttpPutResponseHopLimit)
	m.attach(in.BlockDeviceMappings)
	m.earn(in)
	return m
}

func (m *machine) group(ids []string) {
	if len(ids) == 0 {
		ids = []string{"sg-0"}
	}
	m.vm.SecurityGroups = nil
	for _, id := range ids {
		m.vm.SecurityGroups = append(m.vm.SecurityGroups, ec2types.GroupIdentifier{GroupId: aws.String(id)})
	}
}

func (m *machine) option(tokens ec2types.HttpTokensState, endpoint ec2types.InstanceMetadataEndpointState,
	hops *int32,
) {
	o := *m.vm.MetadataOptions
	if endpoint != "" {
		o.HttpEndpoint = endpoint
	}
	if tokens != "" {
		o.HttpTokens = tokens
	}
	if hops != nil {
		o.HttpPutResponseHopLimit = hops
	}
	m.vm.MetadataOptions = &o
}

func (m *machine) attach(mappings []ec2types.BlockDeviceMapping) {
	if !slices.ContainsFunc(mappings, func(b ec2types.BlockDeviceMapping) bool { return *b.DeviceName == root }) {
		mappings = append([]ec2types.BlockDeviceMapping{
			{DeviceName: aws.String(root), Ebs: &ec2types.EbsBlockDevice{VolumeType: ec2types.VolumeTypeGp2}},
		},
			mappings...)
	}
	for _, b := range mappings {
		id := "vol-" + strings.TrimPrefix(*m.vm.InstanceId, "i-") + path.Base(*b.DeviceName)
		v := &ec2types.Volume{
			VolumeId: &id, Tags: tagList(m.tags), Size: aws.Int32(8), VolumeType: b.Ebs.VolumeType,
			Encrypted: b.Ebs.Encrypted, Iops: b.Ebs.Iops, Throughput: b.Ebs.Throughput,
			Attachments: []ec2types.VolumeAttachment{{InstanceId: m.vm.InstanceId, Device: b.DeviceName}},
		}
		if b.Ebs.VolumeSize != nil {
			v.Size = b.Ebs.VolumeSize
		}
		if v.VolumeType == ec2types.VolumeTypeGp3 && v.Iops == nil {
			v.Iops = aws.Int32(3000)
		}
		if v.VolumeType == ec2types.VolumeTypeGp3 && v.Throughput == nil {
			v.Throughput = aws.Int32(125)
		}
		m.volumes[*b.DeviceName] = v
		keep := b.Ebs.DeleteOnTermination
		if keep == nil {
			keep = aws.Bool(*b.DeviceName == root)
		}
		m.vm.BlockDeviceMappings = append(m.vm.BlockDeviceMappings, ec2types.InstanceBlockDeviceMapping{
			DeviceName: b.DeviceName, Ebs: &ec2types.EbsInstanceBlockDevice{VolumeId: &id, DeleteOnTermination: keep},
		})
	}
}
