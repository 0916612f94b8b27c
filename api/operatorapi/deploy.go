package operatorapi

import (
	"net/url"
	"time"
)

// ExchangePath is where the token of a CI job is exchanged for one of a deployer. The CI's token is in HeaderPerson:
// the portal only forwards it, and the operator verifies it.
const ExchangePath = "/deploy/exchange"

// deployerOf is the parameter that names the deployer, as team/name, where the token fits several.
const deployerOf = "deployer"

// ExchangeFor returns the path with the deployer's name, which can be "".
func ExchangeFor(deployer string) string {
	if deployer == "" {
		return ExchangePath
	}
	return ExchangePath + "?" + url.Values{deployerOf: {deployer}}.Encode()
}

// DeployerOf returns the deployer that the parameters name.
func DeployerOf(values url.Values) string { return values.Get(deployerOf) }

// Exchanged is a token of a deployer. It must not be logged.
type Exchanged struct {
	Token    string    `json:"token"`
	Expires  time.Time `json:"expires"`
	Deployer string    `json:"deployer"` // as team/name
	Run      string    `json:"run"`      // in one line
}

// FeatureDeployers is the part that exchanges tokens of CI jobs.
const FeatureDeployers = "deployers"
