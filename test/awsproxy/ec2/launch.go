package ec2

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// launch runs one RunInstances as AWS does: the image and the key pair must exist, the image's root device always
// exists, and launch applies the settings that moto drops afterwards.
func (s *Service) launch(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	root, refused, err := s.image(ctx, x)
	if err != nil || refused != nil {
		return refused, err
	}
	if refused, err := s.keyPair(ctx, x); err != nil || refused != nil {
		return refused, err
	}
	form := withRoot(x.Form, root)
	x.SetForm(form)
	r, err := next(ctx)
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	for _, m := range instanceID.FindAllSubmatch(r.Body, -1) {
		if err := s.complete(ctx, x, string(m[1])); err != nil {
			return nil, err
		}
	}
	return r, nil
}

var rootDevice = regexp.MustCompile(`<rootDeviceName>([^<]+)</rootDeviceName>`)

// latestRoot is the root device of Amazon Linux; moto knows its latest images by their SSM parameters only.
const latestRoot = "/dev/xvda"

// image returns the image's root device, or the refusal of the call.
func (s *Service) image(ctx context.Context, x *wire.Exchange) (root string, refused *wire.Reply, err error) {
	id := x.Form.Get("ImageId")
	if id == "" {
		return "", nil, nil // the image is in a launch template
	}
	r, err := s.ask(ctx, x, url.Values{"Action": {"DescribeImages"}, "ImageId.1": {id}})
	if err != nil {
		return "", nil, err
	}
	if m := rootDevice.FindSubmatch(r.Body); m != nil {
		return string(m[1]), nil, nil
	}
	known, err := s.latestImage(ctx, x, id)
	if err != nil || known {
		return latestRoot, nil, err
	}
	return "", x.Fail(http.StatusBadRequest, "InvalidAMIID.NotFound",
		fmt.Sprintf("The image id '[%s]' does not exist", id)), nil
}

var nextToken = regexp.MustCompile(`"NextToken": ?"([^"]+)"`)

// latestImage searches the images that AWS's public parameters name.
func (s *Service) latestImage(ctx context.Context, x *wire.Exchange, id string) (bool, error) {
	const path = "/aws/service/ami-amazon-linux-latest"
	for token := ""; ; {
		body := fmt.Sprintf(`{"Path":%q,"Recursive":true}`, path)
		if token != "" {
			body = fmt.Sprintf(`{"Path":%q,"Recursive":true,"NextToken":%q}`, path, token)
		}
		r, err := s.upstream.Ask(ctx, wire.Question{
			Service: "ssm", Region: x.Call.Region, Account: x.Call.Account, Method: http.MethodPost, Path: "/",
			Body: body,
			Header: map[string]string{
				"X-Amz-Target": "AmazonSSM.GetParametersByPath",
				"Content-Type": "application/x-amz-json-1.1",
			},
		})
		if err != nil || strings.Contains(string(r.Body), `"`+id+`"`) {
			return err == nil, err
		}
		m := nextToken.FindSubmatch(r.Body)
		if m == nil {
			return false, nil
		}
		token = string(m[1])
	}
}

func (s *Service) keyPair(ctx context.Context, x *wire.Exchange) (refused *wire.Reply, err error) {
	name := x.Form.Get("KeyName")
	if name == "" {
		return nil, nil
	}
	r, err := s.ask(ctx, x, url.Values{"Action": {"DescribeKeyPairs"}, "KeyName.1": {name}})
	if err != nil || r.Status == http.StatusOK {
		return nil, err
	}
	return x.Fail(http.StatusBadRequest, "InvalidKeyPair.NotFound",
		fmt.Sprintf("The key pair '%s' does not exist", name)), nil
}

func mapping(n int) string { return "BlockDeviceMapping." + strconv.Itoa(n) + "." }

// withRoot adds the image's root device to the request: settings that the request leaves out are the image's.
func withRoot(form url.Values, root string) url.Values {
	if root == "" {
		return form
	}
	full := url.Values{}
	maps.Copy(full, form)
	n := 1
	for full.Has(mapping(n)+"DeviceName") && full.Get(mapping(n)+"DeviceName") != root {
		n++
	}
	for key, value := range map[string]string{
		"DeviceName": root, "Ebs.VolumeSize": "8", "Ebs.DeleteOnTermination": "true",
	} {
		if !full.Has(mapping(n) + key) {
			full.Set(mapping(n)+key, value)
		}
	}
	return full
}

// complete applies the settings of a launch that moto drops.
func (s *Service) complete(ctx context.Context, x *wire.Exchange, id string) error {
	var todo []url.Values
	if x.Form.Get("DisableApiTermination") == "true" {
		todo = append(todo, url.Values{
			"Action": {"ModifyInstanceAttribute"}, "InstanceId": {id},
			"DisableApiTermination.Value": {"true"},
		})
	}
	for n := 1; x.Form.Has(mapping(n) + "DeviceName"); n++ {
		volume, err := s.volumeAt(ctx, x, id, x.Form.Get(mapping(n)+"DeviceName"))
		if err != nil {
			return err
		}
		if set := provisioned(x.Form, n, volume); len(set) > 0 {
			todo = append(todo, set)
		}
	}
	for _, form := range todo {
		if _, err := s.ask(ctx, x, form); err != nil {
			return err
		}
	}
	return nil
}

// provisioned returns the parameters that set a volume's throughput and IOPS from its mapping, or to the defaults of
// gp3.
func provisioned(form url.Values, n int, volume string) url.Values {
	set := url.Values{}
	for _, p := range []struct{ name, gp3 string }{{"Iops", "3000"}, {"Throughput", "125"}} {
		value := form.Get(mapping(n) + "Ebs." + p.name)
		if value == "" && form.Get(mapping(n)+"Ebs.VolumeType") == "gp3" {
			value = p.gp3
		}
		if value != "" {
			set.Set(p.name, value)
		}
	}
	if len(set) > 0 {
		set.Set("Action", "ModifyVolume")
		set.Set("VolumeId", volume)
	}
	return set
}

var volumeID = regexp.MustCompile(`<volumeId>([^<]+)</volumeId>`)

func (s *Service) volumeAt(ctx context.Context, x *wire.Exchange, instance, device string) (string, error) {
	r, err := s.ask(ctx, x, url.Values{
		"Action": {"DescribeVolumes"}, "Filter.1.Name": {"attachment.instance-id"}, "Filter.1.Value.1": {instance},
		"Filter.2.Name": {"attachment.device"}, "Filter.2.Value.1": {device},
	})
	if err != nil {
		return "", err
	}
	if m := volumeID.FindSubmatch(r.Body); m != nil {
		return string(m[1]), nil
	}
	return "", nil
}

// ask calls the simulator for the proxy's own purposes.
func (s *Service) ask(ctx context.Context, x *wire.Exchange, form url.Values) (*wire.Reply, error) {
	form.Set("Version", x.Form.Get("Version"))
	return s.upstream.AskForm(ctx, x, "ec2", form)
}
