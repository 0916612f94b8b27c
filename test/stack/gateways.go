package stack

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/controllers/hostname/albconfig"
	"github.com/portico-platform/portico/test/stack/albsim"
)

// GatewayClass is the class of the Gateways that the simulator of the AWS Load Balancer Controller manages.
const GatewayClass = "alb"

const gatewayModule = "sigs.k8s.io/gateway-api"

// gatewayKinds are the kinds of Gateway API's standard channel that Portico uses.
var gatewayKinds = []string{"gatewayclasses", "gateways", "httproutes", "grpcroutes", "listenersets", "referencegrants"}

// controllerCRDs are generated from the few fields of the AWS Load Balancer Controller's kinds that Portico uses.
//
//go:embed crds/*.yaml
var controllerCRDs embed.FS

// GatewayCRDs returns the CRDs of Gateway API, from its Go module, and the AWS Load Balancer Controller's
// LoadBalancerConfiguration. It downloads the module if necessary.
func GatewayCRDs(ctx context.Context, root string) ([]*unstructured.Unstructured, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", gatewayModule)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("find the module %s with go mod download: %w: %s", gatewayModule, err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, fmt.Errorf("find the module %s: %w", gatewayModule, err)
	}
	files := make([]string, len(gatewayKinds))
	for i, kind := range gatewayKinds {
		files[i] = path.Join("config", "crd", "standard", "gateway.networking.k8s.io_"+kind+".yaml")
	}
	theirs, err := ReadObjects(os.DirFS(module.Dir), files...)
	if err != nil {
		return nil, fmt.Errorf("read the CRDs of %s: %w", gatewayModule, err)
	}
	ours, err := ReadObjects(controllerCRDs, "crds")
	return append(theirs, ours...), err
}

// StartGateways starts the part Gateways later: for tests of a cluster that gets Gateway API afterwards. The stack
// needs ControlPlane and AWS.
func (s *Stack) StartGateways(ctx context.Context) error {
	if err := s.makeGateways(ctx); err != nil {
		return err
	}
	if err := ApplyObjects(ctx, s.Admin, s.grants()...); err != nil {
		return err
	}
	return s.awaitRoutes(ctx)
}

// makeGateways does everything except waiting for the policy on routes.
func (s *Stack) makeGateways(ctx context.Context) error {
	began := time.Now()
	crds, err := GatewayCRDs(ctx, s.opts.Root)
	if err != nil {
		return err
	}
	class := &unstructured.Unstructured{Object: object{
		"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass",
		"metadata": object{"name": GatewayClass, "annotations": s.publicPort()},
		"spec":     object{"controllerName": albconfig.ControllerName},
	}}
	if err := ApplyObjects(ctx, s.Admin, append(crds, class)...); err != nil {
		return err
	}
	if err := s.makeZones(ctx); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(s.Dir, "load-balancers.log"))
	if err != nil {
		return err
	}
	if s.LoadBalancers, err = albsim.New(ctx, s.Admin, s.OutsideAWS(), log); err != nil {
		return errors.Join(fmt.Errorf("start the simulator of the AWS Load Balancer Controller: %w", err), log.Close())
	}
	s.background(ctx, func(ctx context.Context) error { return errors.Join(s.LoadBalancers.Run(ctx), log.Close()) })
	s.say("%-24s ready after %.1f s", "load balancer simulator", time.Since(began).Seconds())
	return s.startTraffic(ctx)
}

// OutsideAWS configures clients of the sample account that act behind the operator's back.
func (s *Stack) OutsideAWS() aws.Config {
	return aws.Config{
		Region: Region, BaseEndpoint: aws.String(s.OutsideAWSEndpoint), HTTPClient: s.outside,
		Credentials: credentials.NewStaticCredentialsProvider(
			s.opts.AWSCredentials.AccessKeyID, s.opts.AWSCredentials.SecretAccessKey, ""),
	}
}
