package ec2

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
)

func (f *fakeEC2) StartInstances(_ context.Context, in *ec2.StartInstancesInput, _ ...opt) (
	*ec2.StartInstancesOutput, error,
) {
	return &ec2.StartInstancesOutput{}, f.write("StartInstances", func() error {
		m, err := f.machine(&in.InstanceIds[0])
		if err != nil {
			return err
		}
		if s := m.vm.State.Name; s != ec2types.InstanceStateNameStopped && s != ec2types.InstanceStateNameRunning &&
			s != ec2types.InstanceStateNamePending {
			return code("IncorrectInstanceState")
		}
		f.move(m, ec2types.InstanceStateNamePending, ec2types.InstanceStateNameRunning)
		return nil
	})
}

func (f *fakeEC2) StopInstances(_ context.Context, in *ec2.StopInstancesInput, _ ...opt) (
	*ec2.StopInstancesOutput, error,
) {
	return &ec2.StopInstancesOutput{}, f.write("StopInstances", func() error {
		m, err := f.machine(&in.InstanceIds[0])
		if err != nil {
			return err
		}
		if s := m.vm.State.Name; s == ec2types.InstanceStateNamePending || s == ec2types.InstanceStateNameTerminated {
			return code("IncorrectInstanceState")
		}
		f.move(m, ec2types.InstanceStateNameStopping, ec2types.InstanceStateNameStopped)
		return nil
	})
}

func (f *fakeEC2) TerminateInstances(_ context.Context, in *ec2.TerminateInstancesInput, _ ...opt) (
	*ec2.TerminateInstancesOutput, error,
) {
	return &ec2.TerminateInstancesOutput{}, f.write("TerminateInstances", func() error {
		m, err := f.machine(&in.InstanceIds[0])
		if err != nil {
			return err
		}
		if m.protected {
			return code("OperationNotPermitted")
		}
		f.move(m, ec2types.InstanceStateNameShuttingDown, ec2types.InstanceStateNameTerminated)
		return nil
	})
}

func (f *fakeEC2) GetParameter(_ context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (
	*ssm.GetParameterOutput, error,
) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read("GetParameter"); err != nil {
		return nil, err
	}
	value, ok := f.parameters[*in.Name]
	if !ok {
		return nil, code("ParameterNotFound")
	}
	return &ssm.GetParameterOutput{Parameter: &ssmtypes.Parameter{Value: &value}}, nil
}

// shows reports whether an instance with the token exists and is not terminated.
func (f *fakeEC2) shows(token string) bool {
	return slices.ContainsFunc(f.machines, func(m *machine) bool {
		return m.token == token && m.vm.State.Name != ec2types.InstanceStateNameTerminated
	})
}
