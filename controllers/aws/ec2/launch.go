package ec2

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// launch plans the call that creates the instance, with its settings and tags. EC2 launches one instance per token,
// however often the call is repeated.
func (i *instance) launch(obj *v1alpha1.EC2Instance) external.Action {
	return external.Action{
		Name: "RunInstances", Why: obj.Spec.InstanceType + " instance " + obj.Spec.InstanceName + " in " +
			i.session.Config.Region,
		Changes:    external.InitialChanges(i.Declared(obj)),
		References: references(&obj.Spec),
		Do: func(ctx context.Context) error {
			in, err := i.launchInput(ctx, obj)
			if err != nil {
				return err
			}
			out, err := i.svc.RunInstances(ctx, in)
			switch {
			case cloud.HasCode(err, "IdempotentParameterMismatch"), cloud.HasCode(err, idempotentTerminated):
				return i.findLaunched(ctx, obj, aws.ToString(in.ClientToken), cloud.HasCode(err, idempotentTerminated))
			case isProfile(err):
				return external.NotCreated(i.explainProfile(ctx, obj.Spec.IAMInstanceProfile))
			case err != nil:
				return withoutUserData(explainLaunch(obj, i.session.Config.Region, err), aws.ToString(in.UserData))
			}
			for n := range out.Instances {
				return i.recordLaunch(obj, stateOf(&out.Instances[n]))
			}
			return nil // the next pass finds it
		},
	}
}

// recordLaunch records the ID of the launched instance. EC2 answers a repeated call with the instance of the first one,
// which may have ended.
func (i *instance) recordLaunch(obj *v1alpha1.EC2Instance, seen instanceState) error {
	obj.Status.InstanceID = seen.id()
	if !seen.ended() {
		return nil
	}
	obj.Status.ARN = arn(i.session, seen.id()) // it existed; only an acknowledged re-creation launches another
	if err := failedLaunch(obj, &seen); err != nil {
		return err
	}
	return engine.Wait(v1alpha1.ReasonSettling, time.Second, "the instance %s was terminated right after its launch",
		seen.id())
}

// idempotentTerminated is EC2's error code for a repeated launch whose instance is terminated.
const idempotentTerminated = "IdempotentInstanceTerminated"

// findLaunched looks for the instance of an earlier try. It was launched with another spec, image parameter or user
// data; or it has ended.
func (i *instance) findLaunched(ctx context.Context, obj *v1alpha1.EC2Instance, token string, over bool) error {
	var all []instanceState
	if err := i.svc.pages(ctx, func(seen instanceState) { all = append(all, seen) },
		filter("client-token", token)); err != nil {
		return err
	}
	for _, seen := range all {
		return i.recordLaunch(obj, seen)
	}
	if over {
		return launchTerminated(obj)
	}
	return external.NotCreated(
		engine.Wait(v1alpha1.ReasonLaunchUnclear, 30*time.Second, "EC2 knows of a launch for this object with other "+
			"settings, and shows no instance of it; Portico looks again for some minutes, and then launches one with "+
			"the settings of now"))
}

// launchTerminated requires an acknowledgement before another launch replaces an instance that is terminated, and whose
// ID EC2 no longer returns. The acknowledgement, and with it the next token, is saved before that launch.
func launchTerminated(obj *v1alpha1.EC2Instance) error {
	next := fmt.Sprint(obj.Status.Recreations + 1)
	if obj.Annotations[v1alpha1.AnnotationAcknowledgeRecreate] != next {
		return engine.Blocked(v1alpha1.ReasonLaunchFailed, "the instance that was launched for this object was "+
			"terminated before Portico saw it, and EC2 does not show it any more; nothing was launched. Set the "+
			"annotation %s=%s on this object to launch another one, or delete this object",
			v1alpha1.AnnotationAcknowledgeRecreate, next)
	}
	obj.Status.Recreations++
	return engine.Wait(v1alpha1.ReasonCreating, time.Second, "the instance of the last launch is over; another one "+
		"is launched as acknowledged")
}

// token returns the client token, which makes a repeated launch idempotent. Only an acknowledged re-creation or a
// refused launch changes it: EC2 remembers the settings of a refused launch too, and accepts no others with the same
// token. A token has at most 64 characters.
func token(obj *v1alpha1.EC2Instance) string {
	text := fmt.Sprintf("portico-%s-%d", obj.UID, obj.Status.Recreations)
	if obj.Status.LaunchAttempts > 0 {
		text += fmt.Sprintf("-%d", obj.Status.LaunchAttempts)
	}
	return text
}

func (i *instance) launchInput(ctx context.Context, obj *v1alpha1.EC2Instance) (*ec2.RunInstancesInput, error) {
	s := &obj.Spec
	image, err := i.image(ctx, obj)
	if err == nil {
		err = i.admitSources(ctx, obj, image)
	}
	if err != nil {
		return nil, err
	}
	data, err := i.userData(ctx, obj)
	if err != nil {
		return nil, err
	}
	tags := tagList(i.session.Tags(obj, ownTags(obj)))
	in := &ec2.RunInstancesInput{
		ClientToken: aws.String(token(obj)), MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		ImageId: &image, InstanceType: ec2types.InstanceType(s.InstanceType), UserData: data,
		KeyName: external.NonEmpty(s.KeyName), SubnetId: external.NonEmpty(s.SubnetID),
		SecurityGroupIds:    s.SecurityGroupIDs,
		BlockDeviceMappings: mappings(s), MetadataOptions: launchMetadata(s.MetadataOptions),
		DisableApiTermination: s.DisableAPITermination, EbsOptimized: s.EBSOptimized,
		CreditSpecification: launchCredits(s),
		TagSpecifications: []ec2types.TagSpecification{
			{ResourceType: ec2types.ResourceTypeInstance, Tags: tags},
			{ResourceType: ec2types.ResourceTypeVolume, Tags: tags},
		},
	}
	if s.Monitoring != nil {
		in.Monitoring = &ec2types.RunInstancesMonitoringEnabled{Enabled: s.Monitoring}
	}
	if s.IAMInstanceProfile != "" {
		in.IamInstanceProfile = profileOf(s.IAMInstanceProfile)
	}
	return in, i.keepGuardrails(ctx, obj, in)
}

// launchMetadata requires session tokens unless the owner says otherwise. A disabled service accepts no other settings.
func launchMetadata(m *v1alpha1.EC2MetadataOptions) *ec2types.InstanceMetadataOptionsRequest {
	if m == nil {
		m = &v1alpha1.EC2MetadataOptions{}
	}
	in := &ec2types.InstanceMetadataOptionsRequest{HttpEndpoint: ec2types.InstanceMetadataEndpointState(m.HTTPEndpoint)}
	if in.HttpEndpoint == ec2types.InstanceMetadataEndpointStateDisabled {
		return in
	}
	in.HttpEndpoint = ec2types.InstanceMetadataEndpointStateEnabled
	in.HttpTokens, in.HttpPutResponseHopLimit = ec2types.HttpTokensStateRequired, m.HTTPPutResponseHopLimit
	if m.HTTPTokens != "" {
		in.HttpTokens = ec2types.HttpTokensState(m.HTTPTokens)
	}
	return in
}

var imageID = regexp.MustCompile(`^ami-[0-9a-f]{8,17}$`)

// image returns the ID of the image to launch. If the parameter does not hold an image ID, the error omits its value,
// which may be secret.
func (i *instance) image(ctx context.Context, obj *v1alpha1.EC2Instance) (string, error) {
	name := obj.Spec.ImageSSMParameter
	if name == "" {
		return obj.Spec.ImageID, nil
	}
	out, err := i.svc.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: &name})
	if cloud.HasCode(err, "ParameterNotFound") || cloud.HasCode(err, "ParameterVersionNotFound") {
		return "", engine.Blocked(v1alpha1.ReasonImageParameterNotFound,
			"there is no SSM parameter %s in %s; nothing was launched. Have it created there, or %simageSSMParameter "+
				"or imageID", name, i.session.Config.Region, another(obj))
	}
	if err != nil {
		return "", cloud.Explain(err)
	}
	if out.Parameter != nil {
		if value := strings.TrimSpace(aws.ToString(out.Parameter.Value)); imageID.MatchString(value) {
			return value, nil
		}
	}
	return "", engine.Blocked(v1alpha1.ReasonImageParameterInvalid, "the SSM parameter %s does not hold the ID of an "+
		"image; nothing was launched. Have it corrected, or %simageSSMParameter or imageID", name, another(obj))
}

// longestUserData is EC2's limit for user data, in bytes before encoding.
const longestUserData = 16 * 1024

func (i *instance) userData(ctx context.Context, obj *v1alpha1.EC2Instance) (*string, error) {
	data, from, err := obj.Spec.UserData, obj.Spec.UserDataFrom, error(nil)
	switch {
	case from != nil && from.SecretKeyRef != nil:
		data, err = i.kube.SecretValue(ctx, obj.Namespace, *from.SecretKeyRef)
	case from != nil && from.ConfigMapKeyRef != nil:
		data, err = i.kube.ConfigMapValue(ctx, obj.Namespace, *from.ConfigMapKeyRef)
	}
	if err != nil || data == "" {
		return nil, err
	}
	if len(data) > longestUserData {
		return nil, engine.Blocked(v1alpha1.ReasonUserDataTooLong, "the user data has %d bytes, and EC2 takes %d; "+
			"nothing was launched. Shorten it, or have it load the rest from elsewhere", len(data), longestUserData)
	}
	return aws.String(base64.StdEncoding.EncodeToString([]byte(data))), nil
}
